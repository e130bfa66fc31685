/* A vehicle from an architecture in minimal coordinates: an ODE for RK4, ROSENBROCK and importers.
 *
 * A floating root has position, attitude, velocity and angular velocity as states; branches behind it have coordinates on
 * which their bodies depend through the joints (Jain 2016; jounce.models.ce.functions). Wheels are rotors of their
 * carriers. Parameters, numbers, springs, roads and tires are those of the impulse engine. ce_model.h is emitted per
 * vehicle (jounce.models.ce.emit), ce_functions.inc has the functions of its branches.
 */
#include <math.h>
#include <string.h>

#include "impulse.h"
#include "impulse_table.h"
#include "jn_model.h"
#include "impulse_model.h"
#include "ce_model.h"
#include "impulse_tables.inc"
#include "impulse_rows.inc"
#include "impulse_road.inc"
#include "impulse_derive.inc"
#include "impulse_outputs.inc"
#include "impulse_limits.inc"

/* Numbers of the branches, or what the trim works with. */
enum { N_SCRATCH = (int)CE_N_NUMBERS > (int)IMP_N_DENSE ? (int)CE_N_NUMBERS : (int)IMP_N_DENSE };

#define JN_LANES 1
#define JN_STRIDE 1
#include "jn_lanes.h"
#include "ce_functions.inc"

#include "ce_motion.inc"
#if IMP_POWERED
#include "impulse_powertrain.inc"
#include "ce_powertrain.inc"
#else
enum { N_X = CE_N_X };
#define PERIOD NULL
#define DECIDE NULL
#endif
#include "ce_wheels.inc"

/* Numbers of the branches behind those of the impulse engine, in place of what its trim has worked with. */
static int derive_all(const double *p, double *d, jn_fault *f) {
    int k;
    if (derive(p, d, f)) return 1;
    for (k = 0; k < CE_N_NUMBERS; k++) {
        const int *at = CE_NUMBER + 3 * k;
        d[IMP_N_NUMBERS + k] = at[0] < 0 ? 1.0 : d[at[0]] + (at[1] < 0 ? 0.0 : d[at[1]]) - (at[2] < 0 ? 0.0 : d[at[2]]);
    }
    return 0;
}

/* Puts before a fault of the motion the spring or tire to which it is due, if one is beyond what the tick allows. */
static int ce_blame(const double *p, const ce_motion *m, jn_fault *f) {
    /* where RK4 is stable: h w < 2.83, h / T < 2.79 (Hairer and Wanner, Solving ODE II, IV.2) */
    const char *stiff = p[JN_P_integrator] == 1.0 ? imp_unstable(&m->t, &m->n, p[JN_P_tick], 8.0, 2.79) : NULL;
    char text[sizeof f->text];
    if (!stiff) return 1;
    memcpy(text, f->text, sizeof text);
    return jn_refuse(f, -1, 0.0, "%s is too stiff or damped for RK4 and this tick: %.140s", stiff, text);
}

static int ce_diverged(const char *what, const double *p, const ce_motion *m, jn_fault *f) {
    jn_refuse(f, -1, 0.0, "the motion of %s has diverged; a shorter tick may help", what);
    return ce_blame(p, m, f);
}

static int ce_bounded(const double *v, int n) {
    int k;
    for (k = 0; k < n; k++) if (!(fabs(v[k]) < MOST)) return 0;
    return 1;
}

/* Whether all velocities are such as a vehicle can have. */
static int ce_check(const double *x, const double *p, const ce_motion *m, jn_fault *f) {
    int k;
    for (k = 0; k < CE_N_ROOTS; k++)
        if (!ce_bounded(x + 13 * k, 13)) return ce_diverged(IMP_BODY_NAME[CE_ROOT[k]], p, m, f);
    for (k = 0; k < CE_N_BRANCHES; k++) {
        const ce_branch b = ce_branch_of(k);
        if (!ce_bounded(x + b.x, 2 * b.n + b.m)) return ce_diverged(IMP_BODY_NAME[CE_BODY[b.body]], p, m, f);
    }
    for (k = 0; k < IMP_N_SPINS; k++)
        if (!ce_bounded(x + CE_X_SPIN + 2 * k + 1, 1) || !ce_bounded(x + CE_X_BRAKE + k, 1))
            return ce_diverged(IMP_WHEEL_NAME[IMP_SPIN_WHEEL[k]], p, m, f);
    if (IMP_POWERED && !ce_bounded(x + CE_X_ENGINE, 1)) return ce_diverged("the engine's shaft", p, m, f);
    for (k = 0; k < IMP_N_CONTACTS; k++)
        if (!ce_bounded(x + CE_X_TIRE + 2 * k, 2)) return ce_diverged(IMP_WHEEL_NAME[IMP_WHEEL_OF[k]], p, m, f);
    return 0;
}

/* All forces and accelerations at a state. */
static int evaluate(const double *x, const double *u, const double *p, const double *d, ce_motion *m, jn_fault *f) {
    ce_open(d, m);
    if (ce_check(x, p, m, f)) return 1;
    ce_steer(x, u, p, m->steer);
    if (ce_move(x, m, f)) return ce_blame(p, m, f);
    ce_springs(m);
    if (ce_wheels(x, u, p, m, f)) return ce_blame(p, m, f);
    ce_accelerate(m);
    return 0;
}

/* The rates of the states, from an evaluation. */
static void rates_of(const double *x, const ce_motion *m, double *dx) {
    int k, i;
    for (k = 0; k < CE_N_ROOTS; k++) {
        const double *own = x + 13 * k, *q = own + 3, *w = own + 10;
        double *to = dx + 13 * k;
        memcpy(to, own + 7, 3 * sizeof *to);
        to[3] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
        to[4] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
        to[5] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
        to[6] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
        imp_turned(m->pose[CE_ROOT[k]].r, m->root[k].acceleration + 3, to + 7);
        for (i = 0; i < 3; i++) to[7 + i] += m->n.gravity[i];
        memcpy(to + 10, m->root[k].acceleration, 3 * sizeof *to);
    }
    for (k = 0; k < CE_N_BRANCHES; k++) {
        const ce_branch b = ce_branch_of(k);
        const ce_result r = ce_result_of(&b, m->out);
        memcpy(dx + b.x, x + b.x + b.n + b.m, (size_t)b.n * sizeof *dx);
        memcpy(dx + b.x + b.n, r.u_rate, (size_t)b.m * sizeof *dx);
        memcpy(dx + b.x + b.n + b.m, m->branch[k], (size_t)b.n * sizeof *dx);
    }
    memcpy(dx + CE_X_SPIN, m->rates, sizeof m->rates);
    dx[CE_X_STEER] = m->steer[1];
#if IMP_POWERED
    dx[CE_X_ENGINE] = m->train[1];
    memset(dx + CE_N_X, 0, (N_X - CE_N_X) * sizeof *dx);
#endif
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx, jn_fault *f) {
    ce_motion m;
    (void)tau;
    if (evaluate(x, u, p, d, &m, f)) return 1;
    rates_of(x, &m, dx);
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    ce_motion m;
    int k;
    (void)u; (void)f;
    ce_open(d, &m);
    memset(x, 0, N_X * sizeof *x);
#if IMP_POWERED
    x[CE_X_ENGINE] = p[IMP_P_TRAIN + TRAIN_IDLE];
#endif
    for (k = 0; k < CE_N_ROOTS; k++) {
        double *own = x + 13 * k;
        memcpy(own, m.n.body + IMP_D_BODY * CE_ROOT[k], 3 * sizeof *own);
        own[0] += p[JN_P_init_x];
        own[3] = 1.0;
        own[7] = p[JN_P_init_speed];
    }
    for (k = 0; k < IMP_N_WHEELS; k++) x[CE_X_SPIN + 2 * IMP_WHEEL[k][2] + 1] = p[JN_P_init_speed] / loaded(&m.n, k);
    return 0;
}

/* Closes the loops, of which the integrator has followed the rates. */
static int begin(const double *u, const double *p, const double *d, double *x, jn_fault *f) {
    int k;
    (void)u; (void)p;
    for (k = 0; k < CE_N_BRANCHES; k++) {
        const ce_branch b = ce_branch_of(k);
        const double steer[3] = {x[CE_X_STEER], 0.0, 0.0};
        double told[12 * CE_N_TOLD + 1], closed[CE_N_LOOP + 1], gap;
        if (!b.m) continue;
        ce_tell(&b, d, steer, told);
        ce_close[k](x + b.x, x + b.x + b.n, told, d + IMP_N_NUMBERS + b.numbers, closed, &gap);
        if (!(gap < OPEN)) return open_loop(&b, gap, f);
        memcpy(x + b.x + b.n, closed, (size_t)b.m * sizeof *x);
    }
    return 0;
}

static void finish(double *x, const double *u, const double *p) {
    int k, i;
    (void)u; (void)p;
    for (k = 0; k < CE_N_ROOTS; k++) {
        double *q = x + 13 * k + 3;
        const double by = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (i = 0; i < 4; i++) q[i] *= by;
    }
}

#include "ce_joints.inc"
#include "ce_outputs.inc"
#include "ce_slopes.inc"

static const jn_model ce = {
    .name = "ce", .build_hash = jn_build_hash_text, .n_x = N_X, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = IMP_N_NUMBERS + N_SCRATCH, .p_tick = JN_P_tick,
    .p_integrator = JN_P_integrator, .signals = jn_table, .n_signals = JN_N_SIGNALS, .by_reference = jn_by_reference,
    .derive = derive_all, .start = start, .rhs = rhs, .outputs = outputs, .step = NULL, .n_work = 0, .begin = begin,
    .finish = finish, .n_memory = N_X - CE_N_X, .nominals = jn_nominals, .state_references = jn_state_references,
    .directional = directional, .finish_forward = finish_forward, .jacobian = jacobian, .parameter_warning = NULL,
    .readable = NULL, .period = PERIOD, .decide = DECIDE, .open = NULL, .close = NULL, .d_resource = 0, .stores = NULL,
    .remember = NULL, .n_store = 0, .d_store = 0,
};
const jn_model *const jn_models[] = {&ce, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
