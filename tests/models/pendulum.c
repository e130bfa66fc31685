/* A pendulum with a torque at its pivot: the third model of the tests, which another package adds.
 * m l^2 a'' + c a' + m g l sin a = T.  x: angle, rate.
 */
#include <math.h>
#include <stddef.h>

#include "jn_model.h"
#include "pendulum_table.h"

enum { D_STIFFNESS, D_INVERSE_INERTIA, N_D };

static int derive(const double *p, double *d, jn_fault *f) {
    (void)f;
    d[D_STIFFNESS] = p[JN_P_mass] * p[JN_P_gravity] * p[JN_P_length];
    d[D_INVERSE_INERTIA] = 1.0 / (p[JN_P_mass] * p[JN_P_length] * p[JN_P_length]);
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    (void)d; (void)u; (void)f;
    x[0] = p[JN_P_angle_start];
    x[1] = 0.0;
    return 0;
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f) {
    (void)tau; (void)f;
    dx[0] = x[1];
    dx[1] = (u[JN_U_torque] - p[JN_P_damping] * x[1] - d[D_STIFFNESS] * sin(x[0])) * d[D_INVERSE_INERTIA];
    return 0;
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    (void)u; (void)p; (void)d; (void)ticks; (void)dx; (void)f;
    y[JN_Y_angle] = x[0];
    y[JN_Y_rate] = x[1];
    return 0;
}

static int directional(const double *x, const double *u, const double *p, const double *d, const double *d_x,
                       const double *d_u, double *d_rate, double *d_y, jn_fault *f) {
    (void)u; (void)f;
    if (d_rate) {
        d_rate[0] = d_x[1];
        d_rate[1] = (d_u[JN_U_torque] - p[JN_P_damping] * d_x[1] - d[D_STIFFNESS] * cos(x[0]) * d_x[0]) *
                    d[D_INVERSE_INERTIA];
    }
    if (d_y) {
        d_y[JN_Y_angle] = d_x[0];
        d_y[JN_Y_rate] = d_x[1];
    }
    return 0;
}

static const jn_model pendulum = {
    .name = "pendulum", .build_hash = jn_build_hash_text, .n_x = 2, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = N_D, .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS,
    .by_reference = jn_by_reference, .derive = derive, .start = start, .rhs = rhs, .outputs = outputs,
    .nominals = jn_nominals, .state_references = jn_state_references, .directional = directional,
};
const jn_model *const jn_models[] = {&pendulum, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
