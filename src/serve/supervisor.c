#include "serve/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve/worker.h"
#include "tegula/clock.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define MS               ((uint64_t)1000) /* in microseconds */
#define FIRST_PAUSE_US   (100 * MS)
#define LONGEST_PAUSE_US (10000 * MS)
#define YOUNG_US         (10000 * MS) /* a worker that lived longer starts the pauses afresh */
#define GRACE_US         (30000 * MS)

typedef struct child {
    pid_t pid; /* 0 = none */
    uint64_t started_us, due_us, pause_us;
} child;

typedef struct supervisor {
    const tg_common *common;
    sigset_t signals;
    child *children;
    unsigned n;
    bool stopping;
    uint64_t kill_at_us; /* while stopping */
} supervisor;

static void die_early(child *c, uint64_t now_us)
{
    bool young = c->pause_us && now_us - c->started_us < YOUNG_US;
    c->pause_us = young ? TG_MIN(c->pause_us * 2, LONGEST_PAUSE_US) : FIRST_PAUSE_US;
    c->due_us = now_us + c->pause_us;
}

/* The worker stops when its supervisor is gone, even killed; the check closes the gap between fork
 * and prctl. */
static int child_main(const supervisor *s, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return 0;
    return tg_worker_run(s->common);
}

static void start_child(supervisor *s, child *c)
{
    pid_t parent = getpid();
    c->started_us = tg_clock_us();
    pid_t pid = fork();
    if (pid == 0) {
        free(s->children);
        exit(child_main(s, parent));
    }
    if (pid > 0) {
        c->pid = pid;
        return;
    }
    tg_log(TG_LOG_ERROR, "cannot start a worker: %s", strerror(errno));
    die_early(c, c->started_us);
}

static void start_due(supervisor *s)
{
    uint64_t now = tg_clock_us();
    for (unsigned i = 0; i < s->n; i++)
        if (!s->children[i].pid && s->children[i].due_us <= now)
            start_child(s, &s->children[i]);
}

static void signal_all(const supervisor *s, int signal_number)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->children[i].pid)
            kill(s->children[i].pid, signal_number);
}

static unsigned alive(const supervisor *s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->n; i++)
        count += s->children[i].pid != 0;
    return count;
}

static void log_death(const supervisor *s, const child *c, int status)
{
    if (s->stopping && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    tg_log(TG_LOG_ERROR, "worker %d ended %s %d%s", (int)c->pid,
           WIFSIGNALED(status) ? "by signal" : "with status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           s->stopping ? "" : ", it will be replaced");
}

static void reap(supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (unsigned i = 0; i < s->n; i++) {
            child *c = &s->children[i];
            if (c->pid != pid)
                continue;
            log_death(s, c, status);
            die_early(c, tg_clock_us());
            c->pid = 0;
        }
    }
}

/* Until when nothing has to be done without a signal. */
static uint64_t next_due_us(const supervisor *s)
{
    uint64_t due = s->stopping ? s->kill_at_us : UINT64_MAX;
    for (unsigned i = 0; i < s->n && !s->stopping; i++)
        if (!s->children[i].pid)
            due = TG_MIN(due, s->children[i].due_us);
    return due;
}

/* A signal that has come, 0 when it is time for something else. */
static int wait_signal(const supervisor *s)
{
    uint64_t due = next_due_us(s), now = tg_clock_us();
    uint64_t left = due > now ? due - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(left / 1000000),
                               .tv_nsec = (long)(left % 1000000) * 1000};
    int signal_number = sigtimedwait(&s->signals, NULL, due == UINT64_MAX ? NULL : &timeout);
    return signal_number > 0 ? signal_number : 0;
}

static void stop(supervisor *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    s->kill_at_us = tg_clock_us() + GRACE_US;
    signal_all(s, SIGTERM);
}

static void act_on(supervisor *s, int signal_number)
{
    switch (signal_number) {
    case SIGHUP:
        tg_log_reopen();
        signal_all(s, SIGHUP);
        break;
    case SIGTERM:
    case SIGINT:
    case SIGUSR1:
        stop(s);
        break;
    default: /* SIGCHLD and the clock: the loop looks at both anyway */
        break;
    }
}

int tg_supervise(const tg_common *common, unsigned n)
{
    supervisor s = {.common = common, .n = n};
    s.children = tg_new(n * sizeof *s.children);
    tg_signals_block(&s.signals);
    while (!s.stopping || alive(&s)) {
        if (!s.stopping)
            start_due(&s);
        act_on(&s, wait_signal(&s));
        reap(&s);
        if (s.stopping && tg_clock_us() >= s.kill_at_us) {
            tg_log(TG_LOG_ERROR, "%u workers did not stop in time and are killed", alive(&s));
            signal_all(&s, SIGKILL);
            s.kill_at_us = UINT64_MAX;
        }
    }
    free(s.children);
    return 0;
}
