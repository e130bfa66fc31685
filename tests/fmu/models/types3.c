/* An FMI 3 co-simulation FMU with a signal of each kind of type: what is set comes out again, at the reference plus
 * 100, after the next step. `i8` 95 discards a step, 97 refuses it, 98 returns early, 96 early by a rounding only, 99
 * ends the simulation. See test_host3.py.
 */
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"

typedef struct {
    float f32;
    double matrix[4];
    int8_t i8;
    uint64_t u64;
    bool truth[2];
    int64_t mode;
} values;

typedef struct {
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    values in, out;
    double k[3], sum;
} instance;

static size_t at(instance *s, fmi3ValueReference r, void **p) {
    values *v = r < 100 ? &s->in : &s->out;
    switch (r % 100) {
    case 1: *p = &v->f32; return 1;
    case 2: *p = v->matrix; return 4;
    case 3: *p = &v->i8; return 1;
    case 4: *p = &v->u64; return 1;
    case 5: *p = v->truth; return 2;
    case 6: *p = &v->mode; return 1;
    case 7: *p = s->k; return 3;
    default: *p = &s->sum; return 1;
    }
}

#define ACCESS(name, type)                                                                                          \
    fmi3Status fmi3Get##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, type v[], size_t m) {           \
        for (size_t i = 0; i < n; i++) {                                                                             \
            void *p;                                                                                                 \
            size_t k = at(c, r[i], &p);                                                                              \
            if (k > m) return fmi3Error;                                                                             \
            memcpy(v, p, k * sizeof *v);                                                                             \
            v += k, m -= k;                                                                                          \
        }                                                                                                            \
        return m ? fmi3Error : fmi3OK;                                                                               \
    }                                                                                                                \
    fmi3Status fmi3Set##name(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type v[], size_t m) {      \
        for (size_t i = 0; i < n; i++) {                                                                             \
            void *p;                                                                                                 \
            size_t k = at(c, r[i], &p);                                                                              \
            if (k > m) return fmi3Error;                                                                             \
            memcpy(p, v, k * sizeof *v);                                                                             \
            v += k, m -= k;                                                                                          \
        }                                                                                                            \
        return m ? fmi3Error : fmi3OK;                                                                               \
    }
ACCESS(Float32, fmi3Float32)
ACCESS(Float64, fmi3Float64)
ACCESS(Int8, fmi3Int8)
ACCESS(UInt64, fmi3UInt64)
ACCESS(Boolean, fmi3Boolean)
ACCESS(Int64, fmi3Int64)

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference intermediate[], size_t n,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
    instance *s;
    (void)name; (void)visible; (void)logging; (void)events; (void)early; (void)intermediate; (void)n; (void)update;
    /* A path that ends in a separator, as the standard says. */
    if (strcmp(token, "{types3}") || !resources || resources[strlen(resources) - 1] != '/') {
        log(environment, fmi3Error, "error", "wrong token or resources");
        return NULL;
    }
    s = calloc(1, sizeof *s);
    s->environment = environment;
    s->log = log;
    s->k[0] = 1.0, s->k[1] = 2.0, s->k[2] = 3.0;
    return s;
}
void fmi3FreeInstance(fmi3Instance c) { free(c); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean a, fmi3Float64 b, fmi3Float64 d, fmi3Boolean e,
                                       fmi3Float64 f) {
    instance *s = c;
    (void)a; (void)b; (void)d; (void)e; (void)f;
    s->sum = s->k[0] + 10.0 * s->k[1] + 100.0 * s->k[2];
    return fmi3OK;
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { (void)c; return fmi3OK; }

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state, fmi3Boolean *event,
                      fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *last) {
    instance *s = c;
    (void)no_set_state;
    if (s->in.i8 == 95) return fmi3Discard;
    if (s->in.i8 == 97) {
        s->log(s->environment, fmi3Error, "error", "100 % refused");
        return fmi3Error;
    }
    s->out = s->in;
    *event = false;
    *early = s->in.i8 == 98 || s->in.i8 == 96;
    *end = s->in.i8 == 99;
    *last = t + (s->in.i8 == 98 ? 0.5 * h : s->in.i8 == 96 ? h * (1.0 - 1e-12) : h);
    return fmi3OK;
}
