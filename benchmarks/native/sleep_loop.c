/* sleep_loop: reads a count, sleeps to so many deadlines 1 ms apart, prints each deadline and when it woke [ns]. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 1000000

static double ns(const struct timespec *t) { return (double)t->tv_sec * 1e9 + (double)t->tv_nsec; }

int main(void) {
    int n, k;
    while (scanf("%d", &n) == 1) {
        double *times = malloc(2 * (size_t)n * sizeof *times);
        struct timespec deadline, woke;
        if (!times) return 1;
        clock_gettime(CLOCK_MONOTONIC, &deadline);
        for (k = 0; k < n; k++) {
            deadline.tv_nsec += PERIOD;
            if (deadline.tv_nsec >= 1000000000) deadline.tv_sec++, deadline.tv_nsec -= 1000000000;
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
            clock_gettime(CLOCK_MONOTONIC, &woke);
            times[2 * k] = ns(&deadline), times[2 * k + 1] = ns(&woke);
        }
        for (k = 0; k < n; k++) printf("%.0f %.0f\n", times[2 * k], times[2 * k + 1]);
        fflush(stdout);
        free(times);
    }
    return 0;
}
