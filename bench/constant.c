/* The floor under every figure: a FastCGI program that sends N constant bytes as image/jpeg.
 * Usage: constant HOST:PORT|/path BYTES WORKERS */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/records.h"
#include "serve/socket.h"

#define MAX_BYTES (64 << 20)

_Noreturn static void serve(const tg_listener *listener, tg_str head, tg_str body)
{
    tg_received request = {0};
    struct pollfd wait = {.fd = listener->fd, .events = POLLIN};
    for (;;) {
        poll(&wait, 1, -1);
        int fd = tg_accept(listener);
        while (fd >= 0 && tg_records_receive(fd, &request) &&
               tg_records_send(fd, request.request_id, head, body) && request.keep)
            ;
        if (fd >= 0)
            close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    size_t n = strtoul(argv[2], NULL, 10);
    unsigned long workers = strtoul(argv[3], NULL, 10);
    char *bytes = n > 0 && n <= MAX_BYTES ? malloc(n) : NULL, head[128];
    tg_listener listener;
    tg_err err = {0};
    if (!bytes)
        return 2;
    memset(bytes, 'x', n);
    int head_n = snprintf(head, sizeof head,
                          "Status: 200 OK\r\nContent-Type: image/jpeg\r\n"
                          "Content-Length: %zu\r\n\r\n",
                          n);
    if (!tg_listen(argv[1], 1024, 0666, &listener, &err))
        return 1;
    for (unsigned long i = 0; i < workers; i++)
        if (fork() == 0)
            serve(&listener, (tg_str){head, (size_t)head_n}, (tg_str){bytes, n});
    while (wait(NULL) > 0)
        ;
    return 0;
}
