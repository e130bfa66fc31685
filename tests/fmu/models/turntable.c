/* A table that turns about z, its attitude a quaternion and its last speed remembered: what the runtime does with
 * `finish` and the memory. x: q0..q3, memory of the input `speed`. q' = q (0, 0, 0, speed) / 2.
 */
#include <math.h>
#include <stddef.h>

#include "jn_model.h"
#include "turntable_table.h"

static int derive(const double *p, double *d, jn_fault *f) {
    (void)p; (void)d; (void)f;
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    (void)d; (void)f;
    x[0] = cos(0.5 * p[JN_P_heading_start]);
    x[1] = x[2] = 0.0;
    x[3] = sin(0.5 * p[JN_P_heading_start]);
    x[4] = u[JN_U_speed];
    return 0;
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f) {
    const double half = 0.5 * u[JN_U_speed];
    (void)tau; (void)p; (void)d; (void)f;
    dx[0] = -half * x[3];
    dx[1] = half * x[2];
    dx[2] = -half * x[1];
    dx[3] = half * x[0];
    dx[4] = 0.0;
    return 0;
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    (void)p; (void)d; (void)ticks; (void)dx; (void)f;
    y[JN_Y_heading] = 2.0 * atan2(x[3], x[0]);
    y[JN_Y_length] = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    y[JN_Y_jump] = u[JN_U_speed] - x[4];
    return 0;
}

static void finish(double *x, const double *u, const double *p) {
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    int k;
    (void)p;
    for (k = 0; k < 4; k++) x[k] /= length;
    x[4] = u[JN_U_speed];
}

static const jn_model turntable = {
    .name = "turntable", .build_hash = jn_build_hash_text, .n_x = 5, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .p_tick = -1, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS, .by_reference = jn_by_reference,
    .derive = derive, .start = start, .rhs = rhs, .outputs = outputs, .finish = finish, .n_memory = 1,
    .nominals = jn_nominals, .state_references = jn_state_references,
};
const jn_model *const jn_models[] = {&turntable, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
