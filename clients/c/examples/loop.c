/* A lockstep loop: loop ADDRESS SESSION TOKEN INPUT STEPS. Prints every output, to the last bit, at every due tick.
 * The program that created the session deletes it after this one has left. */
#include <stdio.h>
#include <stdlib.h>

#include "../jounce_client.h"

int main(int argc, char **argv) {
    const char *owns[1], *wants[] = {"*"};
    double values[64] = {0};
    jounce_terms terms = JOUNCE_TERMS;
    jounce_error error;
    jounce *pilot;
    int code = JOUNCE_OK;
    if (argc != 6) return fprintf(stderr, "usage: loop ADDRESS SESSION TOKEN INPUT STEPS\n"), 2;
    owns[0] = argv[4];
    terms.session_id = argv[2], terms.token = argv[3], terms.name = "pilot";
    terms.owns = owns, terms.n_owns = 1, terms.wants = wants, terms.n_wants = 1;
    pilot = jounce_join(argv[1], &terms, &error);
    if (!pilot) return fprintf(stderr, "join: %s %s: %s\n", error.reason, error.field, error.message), 1;
    for (int k = 0; k < atoi(argv[5]); k++) {
        size_t n = jounce_n_inputs(pilot) < 64 ? jounce_n_inputs(pilot) : 64;
        for (size_t i = 0; i < n; i++) values[i] = 0.01 * k + 0.1 * (double)i;
        if ((code = jounce_step(pilot, values, n)) != JOUNCE_OK) break;
        printf("%lld", (long long)jounce_now(pilot)->tick);
        for (size_t i = 0; i < jounce_n_outputs(pilot); i++) printf(" %a", jounce_now(pilot)->outputs[i]);
        printf("\n");
    }
    if (!code) code = jounce_leave(pilot);
    if (code) fprintf(stderr, "%s: %s\n", jounce_why(pilot)->reason, jounce_why(pilot)->message);
    return jounce_free(pilot), code;
}
