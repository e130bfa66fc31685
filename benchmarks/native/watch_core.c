/* watch_core CORE: is the core there when it is wanted? Reads a count, wakes so often, 0.5 ms apart, on that core, and
 * prints when it should have woken and when it did [ns, CLOCK_MONOTONIC]. */
#define _GNU_SOURCE

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 500000

static double ns(const struct timespec *t) { return (double)t->tv_sec * 1e9 + (double)t->tv_nsec; }

int main(int argc, char **argv) {
    cpu_set_t own;
    int n, k;
    if (argc != 2) return 2;
    CPU_ZERO(&own);
    CPU_SET(atoi(argv[1]), &own);
    if (sched_setaffinity(0, sizeof own, &own)) return 1;
    while (scanf("%d", &n) == 1) {
        double (*times)[2] = malloc((size_t)n * sizeof *times);
        struct timespec due, woken;
        if (!times) return 1;
        clock_gettime(CLOCK_MONOTONIC, &due);
        for (k = 0; k < n; k++) {
            due.tv_nsec += PERIOD;
            if (due.tv_nsec >= 1000000000) due.tv_sec++, due.tv_nsec -= 1000000000;
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
            clock_gettime(CLOCK_MONOTONIC, &woken);
            times[k][0] = ns(&due), times[k][1] = ns(&woken);
        }
        for (k = 0; k < n; k++) printf("%.0f %.0f\n", times[k][0], times[k][1]);
        fflush(stdout);
        free(times);
    }
    return 0;
}
