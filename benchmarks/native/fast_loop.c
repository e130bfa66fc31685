/* fast_loop ADDRESS SESSION TOKEN NAME INPUT...: reads a count, steps so often, prints when each step began and ended
 * [ns, CLOCK_MONOTONIC]. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>

#include "../../clients/c/jounce_client.h"
#include "bench.h"

int main(int argc, char **argv) {
    const char *wants[] = {"*"};
    jounce_terms terms = JOUNCE_TERMS;
    jounce_error error;
    jounce *bench;
    double *inputs;
    int n, k;
    if (argc < 6) return 2;
    terms.session_id = argv[2], terms.token = argv[3], terms.name = argv[4];
    terms.owns = (const char *const *)(argv + 5), terms.n_owns = (size_t)(argc - 5);
    terms.wants = wants, terms.n_wants = 1;
    bench = jounce_join(argv[1], &terms, &error);
    if (!bench) return fprintf(stderr, "%s %s: %s\n", error.reason, error.field, error.message), 1;
    inputs = calloc(jounce_n_inputs(bench), sizeof *inputs);
    while (inputs && scanf("%d", &n) == 1) {
        double *times = malloc(2 * (size_t)n * sizeof *times);
        for (k = 0; times && k < n; k++) {
            times[2 * k] = bench_now(CLOCK_MONOTONIC);
            if (jounce_step(bench, inputs, jounce_n_inputs(bench)) != JOUNCE_OK)
                return fprintf(stderr, "%s: %s\n", jounce_why(bench)->reason, jounce_why(bench)->message), 1;
            times[2 * k + 1] = bench_now(CLOCK_MONOTONIC);
        }
        for (k = 0; times && k < n; k++) printf("%.0f %.0f\n", times[2 * k], times[2 * k + 1]);
        fflush(stdout);
        free(times);
    }
    free(inputs);
    return jounce_leave(bench), jounce_free(bench), 0;
}
