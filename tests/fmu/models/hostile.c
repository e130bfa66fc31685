/* An FMI 2 co-simulation FMU that does what `act` says in its next step: see hostile.py. No state can be saved.
 * References: 0 x, 1 y, 2 gain (Real); 0 act, 1 steps (Integer); 0 flip, 1 flipped (Boolean).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fmi2Functions.h"

static char *volatile kept; /* or a compiler may leave the memory out */

enum { GOOD, SEGFAULT, LOOP, MEMORY, EXIT, REFUSE, PRINT, SLOW };

typedef struct {
    fmi2CallbackFunctions call;
    double real[3];
    int integer[2];
    int boolean[2];
} instance;

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type kind, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
    instance *s;
    (void)name; (void)kind; (void)resources; (void)visible; (void)logging;
    if (strcmp(guid, "{hostile}")) return NULL;
    s = calloc(1, sizeof *s);
    s->call = *functions;
    s->real[2] = 1.0;
    return s;
}

void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean a, fmi2Real b, fmi2Real d, fmi2Boolean e, fmi2Real f) {
    (void)c; (void)a; (void)b; (void)d; (void)e; (void)f;
    return fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    /* A start value may make trouble, too. */
    if (((instance *)c)->integer[0] == SEGFAULT) *(volatile int *)0 = 1;
    return fmi2OK;
}
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { (void)c; return fmi2OK; }

#define ACCESS(name, type, field)                                                                              \
    fmi2Status fmi2Get##name(fmi2Component c, const fmi2ValueReference r[], size_t n, type v[]) {               \
        for (size_t i = 0; i < n; i++) v[i] = ((instance *)c)->field[r[i]];                                     \
        return fmi2OK;                                                                                          \
    }                                                                                                           \
    fmi2Status fmi2Set##name(fmi2Component c, const fmi2ValueReference r[], size_t n, const type v[]) {         \
        for (size_t i = 0; i < n; i++) ((instance *)c)->field[r[i]] = v[i];                                     \
        return fmi2OK;                                                                                          \
    }
ACCESS(Real, fmi2Real, real)
ACCESS(Integer, fmi2Integer, integer)
ACCESS(Boolean, fmi2Boolean, boolean)

/* y' = gain x, taken in one Euler step whatever its length, plus a part that makes two short ones unlike a long. */
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state) {
    instance *s = c;
    volatile int forever = 1;
    (void)t; (void)no_set_state;
    switch (s->integer[0]) {
    case SEGFAULT: *(volatile int *)0 = 1; break;
    case LOOP: while (forever) {} break;
    case MEMORY:
        for (;;) {
            char *more = malloc(16 << 20);
            if (!more) abort();
            memset(more, 1, 16 << 20);
            kept = more;
        }
    case EXIT: exit(7);
    case REFUSE:
        s->call.logger(s->call.componentEnvironment, "hostile", fmi2Error, "error", "act = 5: no step");
        return fmi2Error;
    case PRINT: printf("noise on standard output\n"); fflush(stdout); break;
    case SLOW: for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;) {} break;
    default: break;
    }
    s->real[1] += h * (s->real[2] * s->real[0] - 30.0 * s->real[1]);
    s->integer[1]++;
    s->boolean[1] = !s->boolean[0];
    return fmi2OK;
}
