/* watch_core CORE: measures when a core is available. It reads a count, wakes up that many times on that core, 0.5 ms
 * apart, and prints when it should have woken up and when it did [ns, CLOCK_MONOTONIC]. */
#define _GNU_SOURCE

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define PERIOD 500000

int main(int argc, char **argv) {
    cpu_set_t own;
    int n, k;
    if (argc != 2) return 2;
    CPU_ZERO(&own);
    CPU_SET(atoi(argv[1]), &own);
    if (sched_setaffinity(0, sizeof own, &own)) return 1;
    while (scanf("%d", &n) == 1) {
        double (*times)[2] = malloc((size_t)n * sizeof *times);
        struct timespec due;
        if (!times) return 1;
        clock_gettime(CLOCK_MONOTONIC, &due);
        for (k = 0; k < n; k++) {
            bench_add(&due, PERIOD);
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
            times[k][0] = bench_ns(&due), times[k][1] = bench_now(CLOCK_MONOTONIC);
        }
        for (k = 0; k < n; k++) printf("%.0f %.0f\n", times[k][0], times[k][1]);
        fflush(stdout);
        free(times);
    }
    return 0;
}
