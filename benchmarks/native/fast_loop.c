/* fast_loop ADDRESS SESSION TOKEN INPUT...: reads a count, steps so often, prints the time of each step [ns]. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../clients/c/jounce_client.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    const char *wants[] = {"*"};
    jounce_terms terms = JOUNCE_TERMS;
    jounce_error error;
    jounce *bench;
    double *inputs;
    int n, k;
    if (argc < 5) return 2;
    terms.session_id = argv[2], terms.token = argv[3], terms.name = "bench";
    terms.owns = (const char *const *)(argv + 4), terms.n_owns = (size_t)(argc - 4);
    terms.wants = wants, terms.n_wants = 1;
    bench = jounce_join(argv[1], &terms, &error);
    if (!bench) return fprintf(stderr, "%s %s: %s\n", error.reason, error.field, error.message), 1;
    inputs = calloc(jounce_n_inputs(bench), sizeof *inputs);
    while (inputs && scanf("%d", &n) == 1) {
        double *times = malloc((size_t)n * sizeof *times);
        for (k = 0; times && k < n; k++) {
            double start = now();
            if (jounce_step(bench, inputs, jounce_n_inputs(bench)) != JOUNCE_OK)
                return fprintf(stderr, "%s: %s\n", jounce_why(bench)->reason, jounce_why(bench)->message), 1;
            times[k] = now() - start;
        }
        for (k = 0; times && k < n; k++) printf("%.0f\n", times[k]);
        fflush(stdout);
        free(times);
    }
    free(inputs);
    return jounce_leave(bench), jounce_free(bench), 0;
}
