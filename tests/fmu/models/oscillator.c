/* Damped mass on a spring with an input force: shows that the runtime knows no vehicle.
 * m x'' + c x' + k x = F + push.x, plus -k3 x^3 when `cubic`; `direction` LEFT turns the forces round.
 * p: tick, mass, stiffness, damping, x0, gain (tunable), cubic, direction.  x: position, velocity.
 */
#include <math.h>
#include <stddef.h>

#include "jn_model.h"
#include "oscillator_table.h"

enum { D_INVERSE_MASS, D_GAIN, N_D };

static int derive(const double *p, double *d, jn_fault *f) {
    if (!(p[JN_P_mass] > 0.0)) return jn_refuse(f, JN_ROW_P + JN_P_mass, p[JN_P_mass], "expected masses > 0");
    d[D_INVERSE_MASS] = 1.0 / p[JN_P_mass];
    d[D_GAIN] = p[JN_P_gain] * (p[JN_P_direction] == 2.0 ? -1.0 : 1.0);
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    (void)d; (void)u; (void)f;
    x[0] = p[JN_P_x0];
    x[1] = 0.0;
    return 0;
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f) {
    double cubic = p[JN_P_cubic] != 0.0 ? p[JN_P_stiffness] * x[0] * x[0] * x[0] : 0.0;
    (void)tau;
    if (fabs(x[0]) > 1e3) /* a text as long as it can be: no message may lose its end */
        return jn_refuse(f, JN_ROW_Y + JN_Y_position, x[0], "beyond 1000 m%*s", (int)sizeof f->text - 14, "!");
    dx[0] = x[1];
    dx[1] = (d[D_GAIN] * (u[JN_U_force] + u[JN_U_push_x]) - p[JN_P_damping] * x[1] -
             p[JN_P_stiffness] * x[0] - cubic) * d[D_INVERSE_MASS];
    return 0;
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks,
                   double *y, double *dx, jn_fault *f) {
    double rates[2];
    if (!dx) dx = rates;
    if (rhs(0.0, x, u, p, d, dx, f)) return 1;
    y[JN_Y_position] = x[0];
    y[JN_Y_velocity] = x[1];
    y[JN_Y_acceleration] = dx[1];
    y[JN_Y_tick_count] = (double)ticks;
    y[JN_Y_load_x] = u[JN_U_force] + u[JN_U_push_x];
    y[JN_Y_load_y] = u[JN_U_push_y];
    y[JN_Y_load_z] = u[JN_U_push_z];
    return 0;
}

static int directional(const double *x, const double *u, const double *p, const double *d, const double *d_x,
                       const double *d_u, double *d_rate, double *d_y, jn_fault *f) {
    const double cubic = p[JN_P_cubic] != 0.0 ? 3.0 * p[JN_P_stiffness] * x[0] * x[0] : 0.0;
    const double acceleration = (d[D_GAIN] * (d_u[JN_U_force] + d_u[JN_U_push_x]) - p[JN_P_damping] * d_x[1] -
                                 (p[JN_P_stiffness] + cubic) * d_x[0]) * d[D_INVERSE_MASS];
    (void)u; (void)f;
    if (d_rate) {
        d_rate[0] = d_x[1];
        d_rate[1] = acceleration;
    }
    if (d_y) {
        d_y[JN_Y_position] = d_x[0];
        d_y[JN_Y_velocity] = d_x[1];
        d_y[JN_Y_acceleration] = acceleration;
        d_y[JN_Y_tick_count] = 0.0;
        d_y[JN_Y_load_x] = d_u[JN_U_force] + d_u[JN_U_push_x];
        d_y[JN_Y_load_y] = d_u[JN_U_push_y];
        d_y[JN_Y_load_z] = d_u[JN_U_push_z];
    }
    return 0;
}

static const jn_model oscillator = {
    .name = "oscillator", .build_hash = jn_build_hash_text, .n_x = 2, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = N_D, .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS,
    .by_reference = jn_by_reference, .derive = derive, .start = start, .rhs = rhs, .outputs = outputs,
    .step = NULL, .n_work = 0, .begin = NULL, .finish = NULL, .n_memory = 0, .nominals = jn_nominals,
    .state_references = jn_state_references, .directional = directional, .finish_forward = NULL, .jacobian = NULL,
    .parameter_warning = NULL, .readable = NULL, .period = NULL, .decide = NULL, .open = NULL, .close = NULL,
    .d_resource = 0,
    .stores = NULL,
    .remember = NULL,
    .n_store = 0,
    .d_store = 0,
};
const jn_model *const jn_models[] = {&oscillator, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
