/* The engine for any tables, as a library of its own: for tests, benchmarks and the modes of the tick. No part of an
 * FMU. See engine.py. */
#include <math.h>
#include <string.h>

#include "impulse.h"
#include "impulse_tables.inc"
#include "impulse_rows.inc"
#include "impulse_road.inc"
#include "impulse_factor.inc"
#include "impulse_tick.inc"
#include "impulse_pgs.inc"
#include "impulse_step.inc"

#if defined(_WIN32)
#define DOOR __declspec(dllexport)
#else
#define DOOR __attribute__((visibility("default")))
#endif

/* Sizes of work, states and numbers, for the tables. */
DOOR void imp_door_sizes(const int *table, int *sizes) {
    imp_topology t;
    imp_work w;
    imp_open(table, &t);
    sizes[0] = imp_lay_out(&t, NULL, &w);
    sizes[1] = imp_lay_state(&t, NULL, &w.x);
    sizes[2] = imp_lay_numbers(&t, NULL, &w.d);
}

static int imp_door_fault(const imp_fault *f, int *kind, double *value) {
    kind[0] = f->kind, kind[1] = f->index, *value = f->value;
    return -1;
}

DOOR int imp_door_start(const int *table, const double *d, const double *motor, const double *friction, double h,
                        int sweeps, double *warm, double *x, double *work, int *kind, double *value) {
    const imp_input in = {motor, friction, NULL, 0.0, 0.0, sweeps, warm, NULL};
    imp_topology t;
    imp_fault f = {0, -1, 0.0};
    imp_open(table, &t);
    return imp_start(&t, d, &in, h, x, work, &f) ? imp_door_fault(&f, kind, value) : 0;
}

/* n ticks, each with its own [contacts][2] of `ground` unless that is NULL; after each, the states `watch` are written.
 * Returns how many were done. */
DOOR int imp_door_ticks(const int *table, const double *d, const double *motor, const double *friction, double h,
                        int sweeps, double *warm, double *x, double *work, int n, const int *watch, int watched, double *seen, int *kind,
                        double *value, const double *ground) {
    imp_input in = {motor, friction, NULL, 0.0, 0.0, sweeps, warm, NULL};
    imp_topology t;
    imp_fault f = {0, -1, 0.0};
    int i, k;
    imp_open(table, &t);
    for (i = 0; i < n; i++) {
        if (ground) in.ground = ground + 2 * t.contacts * i;
        if (imp_tick(&t, d, &in, h, x, work, &f)) {
            imp_door_fault(&f, kind, value);
            return i;
        }
        for (k = 0; k < watched; k++) *seen++ = x[watch[k]];
    }
    return n;
}
