/* The floor under every figure: a FastCGI program that sends N constant bytes as image/jpeg.
 * Usage: constant HOST:PORT|/path BYTES WORKERS */
#include <fcgiapp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BYTES (64 << 20)

static int serve(int fd, const char *bytes, int n)
{
    FCGX_Request request;
    FCGX_InitRequest(&request, fd, 0);
    while (FCGX_Accept_r(&request) == 0) {
        FCGX_FPrintF(request.out, "Status: 200 OK\r\nContent-Type: image/jpeg\r\n");
        FCGX_FPrintF(request.out, "Content-Length: %d\r\n\r\n", n);
        FCGX_PutStr(bytes, n, request.out);
        FCGX_Finish_r(&request);
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int n = (int)strtoul(argv[2], NULL, 10), workers = (int)strtoul(argv[3], NULL, 10);
    char *bytes = n > 0 && n <= MAX_BYTES ? malloc((size_t)n) : NULL;
    if (!bytes || FCGX_Init() != 0)
        return 2;
    memset(bytes, 'x', (size_t)n);
    int fd = FCGX_OpenSocket(argv[1], 1024);
    if (fd < 0)
        return 1;
    for (int i = 0; i < workers; i++)
        if (fork() == 0)
            return serve(fd, bytes, n);
    while (wait(NULL) > 0)
        ;
    return 0;
}
