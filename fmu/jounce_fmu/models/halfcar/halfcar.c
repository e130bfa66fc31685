/* The planar half car of Ikoki 2022: rolling wheels with relaxed constraints, or traction within friction.
 * jounce.models.halfcar has the equations; here are the order of their calls, the start, and the SATURATED law.
 */
#include <math.h>
#include <string.h>

#include "halfcar_layout.h"
#include "halfcar_table.h"
#include "jn_model.h"

#define JN_LANES 1
#define JN_STRIDE 1
#include "jn_lanes.h"
#include "halfcar_functions.inc"
#include "halfcar_forward.inc"

#define STABLE 2.7       /* largest rate of decay times tick: RK4 holds 2.78 */
#define LET_GO 0.005     /* time constant of forgetting that it did [s] */
#define WIDE 1.5         /* gyration radius over half a wheelbase that no car has */

enum { RELAXED = 1, CONTINUOUS, SATURATED, ROLLING };
enum { N_D = 1 };
static const char *const AXLE[2] = {"front", "rear"};

/* One evaluation at a state. */
typedef struct {
    double inputs[JN_INPUT_N], rows[JN_ROWS_N], reduced[JN_REDUCED_N], ground[JN_GROUND_N], acceleration[7];
    double by_hat[2], by_limit[2]; /* SATURATED: derivatives of the traction by its demand and its limit */
} evaluation;

/* sat(u) = u / (1 + |u|^p)^(1/p) and its slope; p is a power of two, or 0 for the clipped law. */
static double saturation(double u, int p, double *slope) {
    const double a = fabs(u), sign = u < 0.0 ? -1.0 : 1.0;
    double w = a > 1.0 ? 1.0 / a : a, root;
    int k;
    if (!p) {
        *slope = a < 1.0;
        return a < 1.0 ? u : sign;
    }
    for (k = 1; k < p; k *= 2) w *= w;
    for (root = 1.0 + w, k = 1; k < p; k *= 2) root = sqrt(root);
    *slope = (a > 1.0 ? w / a : 1.0) / (root * (1.0 + w));
    return (a > 1.0 ? sign : u) / root;
}

/* Solution of a 2 x 2 system, rows first. */
static void solve2(const double a[4], const double b[2], double y[2]) {
    const double det = a[0] * a[3] - a[1] * a[2];
    y[0] = (b[0] * a[3] - a[1] * b[1]) / det;
    y[1] = (a[0] * b[1] - b[0] * a[2]) / det;
}

static double affine(const double *at0, const double *by, int k, const double y[2]) {
    return at0[k] + by[2 * k] * y[0] + by[2 * k + 1] * y[1];
}

/* Coulomb's law: each wheel sticks, slides forward or back, or has no load; the case that holds is tried out. */
static void clipped(const double *reduced, const double mu[2], double y[2]) {
    const double *load0 = reduced + JN_REDUCED_load0, *load_by = reduced + JN_REDUCED_load_by;
    const double *hat0 = reduced + JN_REDUCED_hat0, *hat_by = reduced + JN_REDUCED_hat_by;
    double best = HUGE_VAL;
    int n, k, j;
    for (n = 0; n < 16; n++) {
        const int state[2] = {n % 4, n / 4}; /* 0 sticks, 1 and 2 slide forward and back, 3 has no load */
        double a[4], b[2], at[2], worst = -HUGE_VAL;
        for (k = 0; k < 2; k++) {
            const double side = state[k] == 1 ? mu[k] : state[k] == 2 ? -mu[k] : 0.0;
            b[k] = state[k] ? side * load0[k] : hat0[k];
            for (j = 0; j < 2; j++)
                a[2 * k + j] = (j == k) - (state[k] ? side * load_by[2 * k + j] : hat_by[2 * k + j]);
        }
        solve2(a, b, at);
        for (k = 0; k < 2; k++) {
            const double load = affine(load0, load_by, k, at), hat = affine(hat0, hat_by, k, at);
            const double limit = mu[k] * (load > 0.0 ? load : 0.0);
            const double off = state[k] == 0 ? fabs(hat) - limit : state[k] == 3 ? load
                             : fmax(limit - (state[k] == 1 ? hat : -hat), -load);
            if (!(off <= worst)) worst = off;
        }
        if (worst < best) {
            best = worst;
            memcpy(y, at, sizeof at);
        }
        if (best <= 1e-9) return;
    }
}

/* lambda_i = mu N_i sat(hat_i / (mu N_i)) for both wheels; from the clipped answer by Newton's method. */
static int saturated(int order, evaluation *e, jn_fault *f) {
    const double *load0 = e->reduced + JN_REDUCED_load0, *load_by = e->reduced + JN_REDUCED_load_by;
    const double *hat0 = e->reduced + JN_REDUCED_hat0, *hat_by = e->reduced + JN_REDUCED_hat_by;
    const double *mu = e->rows + JN_ROWS_mu;
    double *out = e->ground, y[2] = {0.0, 0.0}, y_old[2] = {0.0, 0.0}, size_old = HUGE_VAL;
    int i, k, j;
    clipped(e->reduced, mu, y);
    for (i = 0; i < 60; i++) {
        double a[4], r[2], step[2], size, scale = 1.0;
        for (k = 0; k < 2; k++) {
            const double load = affine(load0, load_by, k, y), hat = affine(hat0, hat_by, k, y);
            const double limit = mu[k] * (load > 0.0 ? load : 0.0);
            double slope = 0.0, sat = 0.0;
            if (limit > 0.0) sat = saturation(hat / limit, order, &slope);
            e->by_hat[k] = slope;
            e->by_limit[k] = limit > 0.0 ? sat - hat / limit * slope : 0.0;
            out[JN_GROUND_ground + 2 * k] = limit * sat;
            out[JN_GROUND_ground + 2 * k + 1] = load;
            out[JN_GROUND_weight + k] = hat == 0.0 ? 1.0 : limit * sat / hat;
            r[k] = limit * sat - y[k];
            scale += limit;
            for (j = 0; j < 2; j++)
                a[2 * k + j] = (j == k) - slope * hat_by[2 * k + j] - e->by_limit[k] * mu[k] * load_by[2 * k + j];
        }
        size = fabs(r[0]) + fabs(r[1]);
        if (!order || size <= 1e-13 * scale) break;
        if (!(size < size_old)) { /* half way back */
            for (k = 0; k < 2; k++) y[k] = 0.5 * (y[k] + y_old[k]);
            if (y[0] == y_old[0] && y[1] == y_old[1]) break; /* rounding */
            continue;
        }
        size_old = size;
        memcpy(y_old, y, sizeof y);
        solve2(a, r, step);
        for (k = 0; k < 2; k++) y[k] += step[k];
    }
    for (k = 0; k < 4; k++) out[JN_GROUND_ideal + k] = out[JN_GROUND_ground + k];
    if (i < 60) return 0;
    return jn_refuse(f, JN_ROW_P + JN_P_saturation_order, order, "no traction of the wheels was found; 0 always has one");
}

/* How its solution moves with the rows. */
static void saturated_forward(const evaluation *e, const double *d_rows, double *d_ground) {
    const double *load_by = e->reduced + JN_REDUCED_load_by, *hat_by = e->reduced + JN_REDUCED_hat_by;
    const double *mu = e->rows + JN_ROWS_mu, *d_mu = d_rows + JN_ROWS_mu, *ground = e->ground + JN_GROUND_ground;
    const double y[2] = {ground[0], ground[2]};
    double reduced[JN_REDUCED_N], moved[JN_REDUCED_N], a[4], b[2], d_load[2], d_hat[2], d_y[2], hat;
    int k, j;
    memset(d_ground, 0, JN_GROUND_N * sizeof *d_ground);
    reduced_forward_1(e->rows, d_rows, reduced, moved);
    for (k = 0; k < 2; k++) {
        d_hat[k] = affine(moved + JN_REDUCED_hat0, moved + JN_REDUCED_hat_by, k, y);
        d_load[k] = affine(moved + JN_REDUCED_load0, moved + JN_REDUCED_load_by, k, y);
        b[k] = e->by_hat[k] * d_hat[k] + e->by_limit[k] * (d_mu[k] * fmax(ground[2 * k + 1], 0.0) + mu[k] * d_load[k]);
        for (j = 0; j < 2; j++)
            a[2 * k + j] = (j == k) - e->by_hat[k] * hat_by[2 * k + j] - e->by_limit[k] * mu[k] * load_by[2 * k + j];
    }
    solve2(a, b, d_y);
    for (k = 0; k < 2; k++) {
        d_ground[JN_GROUND_ground + 2 * k] = d_y[k];
        d_ground[JN_GROUND_ground + 2 * k + 1] = d_load[k] + load_by[2 * k] * d_y[0] + load_by[2 * k + 1] * d_y[1];
        d_hat[k] += hat_by[2 * k] * d_y[0] + hat_by[2 * k + 1] * d_y[1];
        hat = affine(e->reduced + JN_REDUCED_hat0, hat_by, k, y);
        if (hat != 0.0) /* weight = traction / demand */
            d_ground[JN_GROUND_weight + k] = (d_y[k] - e->ground[JN_GROUND_weight + k] * d_hat[k]) / hat;
    }
    memcpy(d_ground + JN_GROUND_ideal, d_ground + JN_GROUND_ground, 4 * sizeof *d_ground);
}

static int evaluate(int law, const double *x, const double *u, const double *p, evaluation *e, jn_fault *f) {
    const double *numbers = p + JN_P_gravity;
    int k;
    for (k = 0; k < JN_INPUT_N; k++) e->inputs[k] = k && u[k] < 0.0 ? 0.0 : u[k];
    rows_1(x, p + JN_P_profile, e->inputs, numbers, e->rows);
    switch (law) {
    case RELAXED: relaxed_1(e->rows, x + JN_X_load, numbers, e->ground); break;
    case CONTINUOUS: continuous_1(e->rows, x + JN_X_load, numbers, e->ground); break;
    case ROLLING: rolling_1(e->rows, e->ground); break;
    default:
        reduced_1(e->rows, e->reduced);
        if (saturated((int)p[JN_P_saturation_order], e, f)) return 1;
    }
    accelerations_1(e->rows, e->ground + JN_GROUND_ground, e->acceleration);
    return 0;
}

static int derive(const double *p, double *d, jn_fault *f) {
    const int order = (int)p[JN_P_saturation_order];
    const double slowest = STABLE / p[JN_P_tick];
    d[0] = 0.0;
    if (order != p[JN_P_saturation_order] || (order & (order - 1)) != 0)
        return jn_refuse(f, JN_ROW_P + JN_P_saturation_order, p[JN_P_saturation_order], "expected 0, 1, 2, 4, 8 or 16");
    if (p[JN_P_gamma] > slowest)
        return jn_refuse(f, JN_ROW_P + JN_P_gamma, p[JN_P_gamma], "expected at most 2.7 / tick, what RK4 holds");
    if (p[JN_P_traction_tau_N] * slowest < 1.0)
        return jn_refuse(f, JN_ROW_P + JN_P_traction_tau_N, p[JN_P_traction_tau_N],
                         "expected at least tick / 2.7, what RK4 holds");
    if (!(p[JN_P_mu_lower] <= p[JN_P_mu_upper]))
        return jn_refuse(f, JN_ROW_P + JN_P_mu_lower, p[JN_P_mu_lower], "expected at most mu.upper");
    return 0;
}

/* The arms' angles with which both wheels stand on the road, at a height and pitch of the chassis. */
static int arms(const double *p, double *q, jn_fault *f) {
    const double length = p[JN_P_arm_length], c = jn_cos_1(q[2]), s = jn_sin_1(q[2]);
    const double rise = p[JN_P_front_pivot_z] * c - p[JN_P_front_pivot_x] * s;
    const double front = (q[1] + rise - p[JN_P_wheel_radius]) / length, rear = (q[1] - p[JN_P_wheel_radius]) / length;
    if (!(fabs(front) < 1.0 && fabs(rear) < 1.0))
        return jn_refuse(f, JN_ROW_P + JN_P_wheel_radius, p[JN_P_wheel_radius], "the arms do not reach down to the road");
    q[3] = jn_asin_1(front) - p[JN_P_arm_angle] - q[2];
    q[6] = p[JN_P_arm_angle] - jn_asin_1(rear) - q[2];
    return 0;
}

/* Heave and pitch acceleration of a car that stands there, and the loads of its wheels. */
static int unrest(const double *p, double *x, evaluation *e, double r[2], jn_fault *f) {
    const double none[JN_N_U] = {0.0};
    double still[JN_N_P];
    memcpy(still, p, sizeof still);
    still[JN_P_profile] = 3.0;
    memset(e, 0, sizeof *e);
    if (arms(p, x, f) || evaluate(ROLLING, x, none, still, e, f)) return 1;
    r[0] = e->acceleration[1];
    r[1] = e->acceleration[2];
    return 0;
}

/* At rest on the road: Newton's method over height and pitch. */
static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    evaluation e;
    double r[2];
    int i, k, j;
    (void)d; (void)u;
    memset(x, 0, JN_X_N * sizeof *x);
    x[1] = p[JN_P_wheel_radius] + p[JN_P_arm_length] * jn_sin_1(p[JN_P_arm_angle]);
    for (i = 0;; i++) {
        double a[4], step[2], minus[2];
        if (unrest(p, x, &e, r, f)) return 1;
        if (fabs(r[0]) + fabs(r[1]) < 1e-10 * (1.0 + p[JN_P_gravity])) break;
        if (i == 50)
            return jn_refuse(f, JN_ROW_P + JN_P_front_spring_free_length, p[JN_P_front_spring_free_length],
                             "the car finds no rest on its springs");
        for (j = 0; j < 2; j++) {
            double at[JN_X_N], moved[2];
            evaluation other;
            memcpy(at, x, sizeof at);
            at[1 + j] += 1e-7;
            if (unrest(p, at, &other, moved, f)) return 1;
            for (k = 0; k < 2; k++) a[2 * k + j] = (moved[k] - r[k]) / 1e-7;
        }
        for (k = 0; k < 2; k++) minus[k] = -r[k];
        solve2(a, minus, step);
        for (k = 0; k < 2; k++) x[1 + k] += fmax(fmin(step[k], 0.05), -0.05);
    }
    x[0] = p[JN_P_init_x];
    x[JN_X_v] = p[JN_P_init_speed];
    x[JN_X_v + 4] = x[JN_X_v + 5] = p[JN_P_init_speed] / p[JN_P_wheel_radius];
    for (k = 0; k < 2; k++) {
        x[JN_X_load + k] = e.ground[JN_GROUND_ground + 2 * k + 1];
        if (!(x[JN_X_load + k] > 0.0))
            return jn_refuse(f, JN_ROW_P + JN_P_chassis_com_x, p[JN_P_chassis_com_x], "the %s wheel has no load at rest", AXLE[k]);
    }
    return 0;
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f) {
    evaluation e;
    int k;
    (void)tau; (void)d;
    for (k = 0; k < 2; k++)
        if (x[JN_X_lifted + k] > p[JN_P_lift_time_max])
            return jn_refuse(f, JN_ROW_P + JN_P_lift_time_max, p[JN_P_lift_time_max],
                             k ? "the load of the rear wheel is below 0 for longer; the model glues it to the road"
                            : "the load of the front wheel is below 0 for longer; the model glues it to the road");
    if (evaluate((int)p[JN_P_traction], x, u, p, &e, f)) return 1;
    memcpy(dx, x + JN_X_v, 7 * sizeof *dx);
    memcpy(dx + JN_X_v, e.acceleration, sizeof e.acceleration);
    dx[JN_X_time] = 1.0;
    for (k = 0; k < 2; k++) {
        const double load = e.ground[JN_GROUND_ground + 2 * k + 1];
        dx[JN_X_load + k] = (load - x[JN_X_load + k]) / p[JN_P_traction_tau_N];
        dx[JN_X_lifted + k] = load < 0.0 ? 1.0 : -x[JN_X_lifted + k] / LET_GO;
    }
    return 0;
}

/* Outputs from the ground's force, the rows and the report, or their tangents from theirs; `limit` apart. */
static void spread(const double *rows, const double *ground, const double *report, double *y) {
    const int step = JN_Y_rear_omega - JN_Y_front_omega;
    int k;
    y[JN_Y_pos_x] = report[JN_REPORT_pos];
    y[JN_Y_pos_z] = report[JN_REPORT_pos + 1];
    y[JN_Y_pitch] = report[JN_REPORT_pitch];
    y[JN_Y_speed] = report[JN_REPORT_speed];
    y[JN_Y_loop_residual] = report[JN_REPORT_loop_residual];
    y[JN_Y_closure_residual] = report[JN_REPORT_closure_residual];
    y[JN_Y_energy_kinetic] = report[JN_REPORT_kinetic];
    y[JN_Y_energy_potential] = report[JN_REPORT_potential];
    for (k = 0; k < 2; k++) {
        double *w = y + k * step;
        w[JN_Y_front_omega] = report[JN_REPORT_omega + k];
        w[JN_Y_front_slip] = report[JN_REPORT_slip + k];
        w[JN_Y_front_strut_force] = report[JN_REPORT_strut + k];
        w[JN_Y_front_normal_force] = ground[JN_GROUND_ground + 2 * k + 1];
        w[JN_Y_front_traction] = ground[JN_GROUND_ground + 2 * k];
        w[JN_Y_front_traction_ideal] = ground[JN_GROUND_ideal + 2 * k];
        w[JN_Y_front_traction_non_ideal] = ground[JN_GROUND_ground + 2 * k] - ground[JN_GROUND_ideal + 2 * k];
        w[JN_Y_front_weight] = ground[JN_GROUND_weight + k];
        w[JN_Y_front_torque] = rows[JN_ROWS_torque + k];
        w[JN_Y_front_mu] = rows[JN_ROWS_mu + k];
    }
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    const int step = JN_Y_rear_omega - JN_Y_front_omega;
    double report[JN_REPORT_N];
    evaluation e;
    int k;
    (void)d; (void)ticks; (void)dx;
    if (evaluate((int)p[JN_P_traction], x, u, p, &e, f)) return 1;
    report_1(x, p + JN_P_gravity, report);
    spread(e.rows, e.ground, report, y);
    for (k = 0; k < 2; k++) y[JN_Y_front_limit + k * step] = e.rows[JN_ROWS_mu + k] * y[JN_Y_front_normal_force + k * step];
    return 0;
}

static int directional(const double *x, const double *u, const double *p, const double *d, const double *d_x,
                       const double *d_u, double *d_rate, double *d_y, jn_fault *f) {
    const int step = JN_Y_rear_omega - JN_Y_front_omega, law = (int)p[JN_P_traction];
    const double *numbers = p + JN_P_gravity;
    double rows[JN_ROWS_N], ground[JN_GROUND_N], acceleration[7], report[JN_REPORT_N], d_inputs[JN_INPUT_N];
    double d_rows[JN_ROWS_N], d_ground[JN_GROUND_N], d_acceleration[7], d_report[JN_REPORT_N];
    evaluation e;
    int k;
    (void)d;
    if (evaluate(law, x, u, p, &e, f)) return 1;
    for (k = 0; k < JN_INPUT_N; k++) d_inputs[k] = k && u[k] < 0.0 ? 0.0 : d_u[k];
    rows_forward_1(x, p + JN_P_profile, e.inputs, numbers, d_x, d_inputs, rows, d_rows);
    switch (law) {
    case RELAXED: relaxed_forward_1(rows, x + JN_X_load, numbers, d_rows, d_x + JN_X_load, ground, d_ground); break;
    case CONTINUOUS:
        continuous_forward_1(rows, x + JN_X_load, numbers, d_rows, d_x + JN_X_load, ground, d_ground);
        break;
    case ROLLING: rolling_forward_1(rows, d_rows, ground, d_ground); break;
    default: saturated_forward(&e, d_rows, d_ground);
    }
    if (d_rate) {
        accelerations_forward_1(rows, e.ground + JN_GROUND_ground, d_rows, d_ground + JN_GROUND_ground, acceleration,
                                d_acceleration);
        memcpy(d_rate, d_x + JN_X_v, 7 * sizeof *d_rate);
        memcpy(d_rate + JN_X_v, d_acceleration, sizeof d_acceleration);
        d_rate[JN_X_time] = 0.0;
        for (k = 0; k < 2; k++) {
            d_rate[JN_X_load + k] =
                (d_ground[JN_GROUND_ground + 2 * k + 1] - d_x[JN_X_load + k]) / p[JN_P_traction_tau_N];
            d_rate[JN_X_lifted + k] =
                e.ground[JN_GROUND_ground + 2 * k + 1] < 0.0 ? 0.0 : -d_x[JN_X_lifted + k] / LET_GO;
        }
    }
    if (d_y) {
        report_forward_1(x, numbers, d_x, report, d_report);
        spread(d_rows, d_ground, d_report, d_y);
        for (k = 0; k < 2; k++)
            d_y[JN_Y_front_limit + k * step] = d_rows[JN_ROWS_mu + k] * e.ground[JN_GROUND_ground + 2 * k + 1] +
                                               rows[JN_ROWS_mu + k] * d_ground[JN_GROUND_ground + 2 * k + 1];
    }
    return 0;
}

static int parameter_warning(const double *p, const double *d, int k, jn_fault *f) {
    const double half = 0.5 * p[JN_P_front_pivot_x] + p[JN_P_arm_length] * jn_cos_1(p[JN_P_arm_angle]);
    const double radius = sqrt(p[JN_P_chassis_inertia] / p[JN_P_chassis_mass]);
    (void)d;
    if (k || radius <= WIDE * half) return 0;
    return jn_refuse(f, JN_ROW_P + JN_P_chassis_inertia, p[JN_P_chassis_inertia],
                     "its gyration radius is more than 1.5 times half the wheelbase");
}

static const jn_model halfcar = {
    .name = "halfcar", .build_hash = jn_build_hash_text, .n_x = JN_X_N, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = N_D, .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS,
    .by_reference = jn_by_reference, .derive = derive, .start = start, .rhs = rhs, .outputs = outputs,
    .step = NULL, .n_work = 0, .begin = NULL, .finish = NULL, .n_memory = 0, .nominals = jn_nominals,
    .state_references = jn_state_references, .directional = directional, .finish_forward = NULL, .jacobian = NULL,
    .parameter_warning = parameter_warning, .readable = NULL, .period = NULL, .decide = NULL, .open = NULL, .close = NULL, .d_resource = 0,
    .stores = NULL, .remember = NULL, .n_store = 0, .d_store = 0,
};
const jn_model *const jn_models[] = {&halfcar, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
