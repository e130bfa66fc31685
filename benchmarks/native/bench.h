/* What the harnesses share: the clock as doubles, a grid of times, and a call that is repeated between two clocks. */
#ifndef BENCH_H
#define BENCH_H

#include <time.h>

#if defined(__GNUC__)
#define BENCH_EXPORT __attribute__((visibility("default")))
#else
#define BENCH_EXPORT
#endif

typedef int (*bench_call)(void *self); /* 0 when ok */

static inline double bench_ns(const struct timespec *t) { return (double)t->tv_sec * 1e9 + (double)t->tv_nsec; }

static inline double bench_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return bench_ns(&t);
}

/* Moves a time on by less than a second. */
static inline void bench_add(struct timespec *t, long ns) {
    t->tv_nsec += ns;
    if (t->tv_nsec >= 1000000000) t->tv_sec++, t->tv_nsec -= 1000000000;
}

/* Each block of `calls` calls gives its wall time and, unless cpu is NULL, its CPU time, in ns per call. The
 * first block only warms up. Ends at the first call that fails, with that call's number. */
static inline int bench_run(bench_call call, void *self, int blocks, int calls, double *wall, double *cpu) {
    int block, i, status;
    for (block = -1; block < blocks; block++) {
        double c = cpu ? bench_now(CLOCK_THREAD_CPUTIME_ID) : 0.0, w = bench_now(CLOCK_MONOTONIC);
        for (i = 0; i < calls; i++)
            if ((status = call(self)) != 0) return status;
        w = bench_now(CLOCK_MONOTONIC) - w;
        if (cpu) c = bench_now(CLOCK_THREAD_CPUTIME_ID) - c;
        if (block < 0) continue;
        wall[block] = w / calls;
        if (cpu) cpu[block] = c / calls;
    }
    return 0;
}

#endif
