/* pair_loop: a paced session without a model. It reads a count and sends that many states, 1 ms apart, to a process
 * that answers each at once. For each it prints its deadline, the time of the previous answer, and its arrival [ns]. */
#define _DEFAULT_SOURCE

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PERIOD 1000000
/* Doubles of a State and a Step of the vehicle, with what surrounds them. */
enum { STATE = 190, STEP = 30 };

static int get(int end, double *message, size_t n) {
    return recv(end, message, n * sizeof *message, MSG_WAITALL) == (ssize_t)(n * sizeof *message);
}

static int put(int end, const double *message, size_t n) {
    return send(end, message, n * sizeof *message, 0) == (ssize_t)(n * sizeof *message);
}

/* The client: a real-time priority of 10 less than the server's. */
static void answer(int end) {
    double state[STATE] = {0.0}, step[STEP] = {0.0};
    struct sched_param own;
    if (sched_getparam(0, &own) == 0 && own.sched_priority > 10) own.sched_priority -= 10, sched_setparam(0, &own);
    while (get(end, state, STATE)) {
        step[0] = bench_now(CLOCK_MONOTONIC);
        if (!put(end, step, STEP)) return;
    }
}

int main(void) {
    double state[STATE] = {0.0}, step[STEP];
    int ends[2], n, k;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    if (fork() == 0) return close(ends[0]), answer(ends[1]), 0;
    close(ends[1]);
    while (scanf("%d", &n) == 1) {
        double (*times)[3] = malloc((size_t)n * sizeof *times);
        struct timespec deadline;
        if (!times) return 1;
        clock_gettime(CLOCK_MONOTONIC, &deadline);
        for (k = 0; k < n; k++) {
            bench_add(&deadline, PERIOD);
            times[k][0] = bench_ns(&deadline), times[k][1] = bench_now(CLOCK_MONOTONIC);
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
            if (!put(ends[0], state, STATE) || !get(ends[0], step, STEP)) return 1;
            times[k][2] = step[0];
        }
        for (k = 0; k < n; k++) printf("%.0f %.0f %.0f\n", times[k][0], times[k][1], times[k][2]);
        fflush(stdout);
        free(times);
    }
    return 0;
}
