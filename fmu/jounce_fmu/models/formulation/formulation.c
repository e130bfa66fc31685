/* A vehicle on four double wishbones in an augmented formulation: the loops stay as rows with multipliers, and drift.
 * The corners' equations are emitted with the vehicle's numbers built in (jounce.models.formulation). Steering, tires,
 * brakes and outputs are those of the constraint-embedded vehicle. Here are the order of the calls, the start, and what
 * keeps the loops closed.
 *
 * States: chassis; of each wheel q, q', spin, spin rate, inner states of tire and brake; memory of the steering.
 */
#include <math.h>
#include <string.h>

#include "formulation_layout.h"
#include "formulation_table.h"
#include "jn_model.h"

#define JN_LANES 1
#define JN_STRIDE 1
#include "jn_lanes.h"
#include "formulation_functions.inc"

#define SINGULAR 1e-12 /* least discriminant of the steering's four-bar [m4] */
#define OPEN 0.01      /* gap of a loop beyond which the motion means nothing [m] */
#define CLOSED 1e-12   /* gap that is rounding [m] */
#define STABLE 2.7     /* largest rate of decay times tick: RK4 holds 2.78 */
#define UNFELT 1e-12   /* jump of the Pitman arm that is rounding [rad] */
#define TURN 0.02      /* turn of the Pitman arm in one step of closing [rad] */
#define NEWTON 20

enum {
    X_WHEELS = JN_X_N,
    X_RATES = N_PLACES,
    X_SPIN = X_RATES + N_RATES,
    X_SPIN_RATE = X_SPIN + 1,
    X_INNER = X_SPIN_RATE + 1,
    X_WHEEL = X_INNER + N_INNER,
    N_STATES = X_WHEELS + N_WHEELS * X_WHEEL,
    X_ARM_RATE = N_STATES, /* memory */
    X_ARM_ACCELERATION,
    X_ARM_ANGLE,
    N_X,
    N_MEMORY = N_X - N_STATES,
    N_D = 1
};

/* The emitted functions of one corner (jounce.models.formulation.equations). */
typedef struct {
    void (*hub)(const double *q, const double *v, const double *inner, double *hub);
    void (*gather)(const double *q, const double *v, const double *spin_rate, const double *inner, const double *omega,
                   const double *loads, const double *alpha, double *gathered);
    void (*place)(const double *q, const double *v, double *rate);
    void (*close)(const double *q, const double *v, const double *inner, double *change, double *change_v);
    void (*gap)(const double *q, const double *inner, double *gap);
    void (*report)(const double *q, const double *v, const double *spin_rate, const double *inner, const double *omega,
                   double *corner, double *arm);
} corner_functions;

#include "formulation_numbers.inc"

static const char *const wheel_names[N_WHEELS] = {JN_WHEEL_NAMES};

/* One evaluation at a state. */
typedef struct {
    double inner[N_WHEELS][JN_INNER_N], inputs[N_WHEELS][JN_WHEEL_INPUT_N], wheel[N_WHEELS][JN_WHEEL_N];
    double hub[N_WHEELS][12], gathered[N_WHEELS][JN_GATHERED_N], rates[N_WHEELS][N_RATES], spin[N_WHEELS];
    double acceleration[6];
} evaluation;

static const double *of_wheel(const double *x, int w) { return x + X_WHEELS + w * X_WHEEL; }

/* Motion of the inner tierod ends for a Pitman arm's angle, rate and acceleration. */
static int steer(const double *arm, double inner[N_WHEELS][JN_INNER_N], jn_fault *f) {
    double link[JN_LINK_N];
    int w;
    steering_1(arm, linkage, link);
    if (!(link[JN_LINK_discriminant] > SINGULAR))
        return jn_refuse(f, JN_ROW_U + JN_U_steering_wheel_angle, arm[0] * steering_ratio,
                         "linkage out of range: the steering four-bar cannot close");
    for (w = 0; w < N_WHEELS; w++) inner_1(link, inner_numbers[w], inner[w]);
    return 0;
}

/* Inputs of wheel w on the level ground. */
static void fill_inputs(const double *u, const double *p, int w, double *to) {
    memset(to, 0, JN_WHEEL_INPUT_N * sizeof *to);
    copy_wheel_inputs(u, w, to);
    to[JN_WHEEL_INPUT_brake] = fmax(to[JN_WHEEL_INPUT_brake], 0.0);
    to[JN_WHEEL_INPUT_ground + 2] = p[JN_P_terrain_height];
    to[JN_WHEEL_INPUT_normal + 2] = 1.0;
    to[JN_WHEEL_INPUT_friction] = p[JN_P_terrain_mu];
    to[JN_WHEEL_INPUT_external] = p[JN_P_tire_source] == 2.0;
}

/* All of e; `alpha`: Baumgarte's. */
static int evaluate(const double *arm, double alpha, const double *x, const double *u, const double *p, evaluation *e,
                    jn_fault *f) {
    double body[27] = {0.0}, loads[6];
    int w, j, k;
    if (steer(arm, e->inner, f)) return 1;
    for (w = 0; w < N_WHEELS; w++) {
        const double *own = of_wheel(x, w);
        fill_inputs(u, p, w, e->inputs[w]);
        corners[w].hub(own, own + X_RATES, e->inner[w], e->hub[w]);
        wheel_1(e->hub[w], x, own + X_SPIN_RATE, e->inputs[w], wheel_numbers[w], e->wheel[w]);
        corners[w].gather(own, own + X_RATES, own + X_SPIN_RATE, e->inner[w], x + JN_X_angular,
                          e->wheel[w] + JN_WHEEL_loads, &alpha, e->gathered[w]);
        for (k = 0; k < 27; k++) body[k] += e->gathered[w][JN_GATHERED_body + k];
    }
    external_1(x + JN_X_quaternion, u + JN_U_chassis_ext_force_x, loads);
    chassis_1(chassis_numbers, x + JN_X_angular, body, loads, e->acceleration);
    for (w = 0; w < N_WHEELS; w++) {
        const double *g = e->gathered[w];
        double turn = g[JN_GATHERED_axis_bias];
        for (j = 0; j < N_RATES; j++) {
            double *rate = e->rates[w] + j;
            *rate = g[JN_GATHERED_rest + j];
            for (k = 0; k < 6; k++) *rate += g[JN_GATHERED_push + k * N_RATES + j] * e->acceleration[k];
            turn += g[JN_GATHERED_turn + j] * *rate;
        }
        for (k = 0; k < 3; k++) turn += e->hub[w][3 + k] * e->acceleration[k];
        e->spin[w] = (g[JN_GATHERED_torque] - axial[w][0] * turn) / (axial[w][0] + axial[w][1]);
    }
    return 0;
}

static int refuse_deflection(const evaluation *e, jn_fault *f) {
    int w;
    for (w = 0; w < N_WHEELS; w++) {
        const double most = wheel_numbers[w][JN_WHEEL_NUMBER_tire_unloaded_radius];
        if (!(e->wheel[w][JN_WHEEL_deflection] > most)) continue;
        return jn_refuse(f, JN_ROW_Y + JN_Y_WHEEL_deflection + w * Y_WHEEL, e->wheel[w][JN_WHEEL_deflection],
                         "tire %s is pressed in beyond what its data can mean; expected at most %.0f mm, where its "
                         "centre is on the ground", wheel_names[w], 1e3 * most);
    }
    return 0;
}

/* Largest gap of the loops with the arm at an angle, and its wheel. */
static int widest_gap(double angle, const double *x, double *gap, int *where, jn_fault *f) {
    double inner[N_WHEELS][JN_INNER_N], arm[3] = {angle, 0.0, 0.0}, own;
    int w;
    if (steer(arm, inner, f)) return 1;
    *gap = 0.0;
    *where = 0;
    for (w = 0; w < N_WHEELS; w++) {
        corners[w].gap(of_wheel(x, w), inner[w], &own);
        if (!(own <= *gap)) { *gap = own; *where = w; }
    }
    return 0;
}

static int refuse_gap(int wheel, double gap, const char *expected, jn_fault *f) {
    return jn_refuse(f, JN_ROW_Y + JN_Y_closure_residual, gap,
                     "the loops of wheel %s are open by this (m); %s", wheel_names[wheel], expected);
}

/* Unit quaternions of the bodies of wheel w, where they have poses. */
static void unit_poses(double *q) {
    int b, k;
    for (b = 0; POSES && b + 7 <= N_PLACES; b += 7) {
        double *e = q + b + 3;
        const double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (k = 0; k < 4; k++) e[k] /= length;
    }
}

/* One step that puts positions and velocities on the loops by the least change. */
static int close_once(const double *arm, double *x, jn_fault *f) {
    double inner[N_WHEELS][JN_INNER_N], change[N_RATES], change_v[N_RATES], moved[N_PLACES];
    int w, k;
    if (steer(arm, inner, f)) return 1;
    for (w = 0; w < N_WHEELS; w++) {
        double *q = x + X_WHEELS + w * X_WHEEL, *v = q + X_RATES;
        corners[w].close(q, v, inner[w], change, change_v);
        corners[w].place(q, change, moved);
        for (k = 0; k < N_PLACES; k++) q[k] += moved[k];
        unit_poses(q);
        corners[w].close(q, v, inner[w], change, change_v);
        for (k = 0; k < N_RATES; k++) v[k] += change_v[k];
    }
    return 0;
}

/* Closes the loops after the arm has gone from one angle to another within no time; `rate`: the arm's so far. */
static int follow(double from, double to, double rate, double *x, jn_fault *f) {
    const int steps = 1 + (int)(fabs(to - from) / TURN);
    double arm[3] = {0.0, 0.0, 0.0}, gap = 0.0;
    int s, i, w = 0;
    arm[1] = rate;
    for (s = 1; s <= steps; s++) {
        arm[0] = from + (to - from) * s / steps;
        for (i = 0; i < NEWTON; i++) {
            if (close_once(arm, x, f) || widest_gap(arm[0], x, &gap, &w, f)) return 1;
            if (gap < CLOSED) break;
        }
    }
    return gap < OPEN ? 0 : refuse_gap(w, gap, "they cannot close at this steering-wheel angle", f);
}

static int derive(const double *p, double *d, jn_fault *f) {
    const double slowest = STABLE / p[JN_P_tick];
    d[0] = p[JN_P_tick];
    if (p[JN_P_baumgarte] > slowest)
        return jn_refuse(f, JN_ROW_P + JN_P_baumgarte, p[JN_P_baumgarte], "expected at most 2.7 / tick, what RK4 holds");
    return 0;
}

/* Forward speed with wheels that roll without slip. */
static int roll(const double *p, const double *u, double *x, jn_fault *f) {
    static const double ahead[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0}; /* a vector in the place of a force */
    const double speed = p[JN_P_init_speed], *q = x + JN_X_quaternion, still[3] = {0.0, 0.0, 0.0};
    const double on_road = p[JN_P_init_equilibrium] != 0.0;
    double along[6] = {0.0}, world[6], axis[3], length;
    evaluation e;
    int w, k;
    /* the chassis's x axis, laid on the ground where the vehicle stands on it */
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    external_1(back, ahead, world);
    memcpy(axis, world + 3, sizeof axis);
    if (on_road) axis[2] = 0.0;
    length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (k = 0; k < 3; k++) along[k] = speed * axis[k] / length;
    external_1(q, along, world);
    memcpy(x + JN_X_linear, world + 3, 3 * sizeof *x);
    for (w = 0; w < N_WHEELS; w++)
        x[X_WHEELS + w * X_WHEEL + X_SPIN_RATE] = speed / wheel_numbers[w][JN_WHEEL_NUMBER_tire_unloaded_radius];
    if (evaluate(still, 0.0, x, u, p, &e, f)) return 1;
    for (w = 0; w < N_WHEELS; w++) {
        const double *wheel = e.wheel[w], radius = wheel_numbers[w][JN_WHEEL_NUMBER_tire_unloaded_radius];
        double *own = x + X_WHEELS + w * X_WHEEL, v = 0.0, rolled, grip, rest[N_INNER], starting[JN_STARTING_N] = {0.0};
        for (k = 0; k < 3; k++) v += wheel[JN_WHEEL_velocity + k] * wheel[JN_WHEEL_heading + k];
        /* slip = (rolled - v) / |v| tells how far the trial spin rolls; in the air it is 0 */
        rolled = wheel[JN_WHEEL_force + 2] > 0.0 ? v + wheel[JN_WHEEL_slip] * fabs(v) : speed;
        own[X_SPIN_RATE] = speed / radius * v / rolled;
        starting[JN_STARTING_load] = wheel[JN_WHEEL_force + 2];
        starting[JN_STARTING_friction] = p[JN_P_terrain_mu];
        starting[JN_STARTING_deflection] = wheel[JN_WHEEL_deflection];
        starting[JN_STARTING_way] = v < 0.0 ? -1.0 : 1.0;
        wheel_start_1(starting, wheel_numbers[w], &grip, rest, own + X_INNER);
    }
    return 0;
}

/* In the position that was found when the model was made: at rest, or as designed. */
static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    const int resting = p[JN_P_init_equilibrium] != 0.0, rolling = p[JN_P_init_speed] != 0.0;
    const double (*places)[N_PLACES] = resting ? rest_places : design_places;
    const double angle = u[JN_U_steering_wheel_angle] / steering_ratio;
    const double c = jn_cos_1(p[JN_P_init_yaw] / 2), s = jn_sin_1(p[JN_P_init_yaw] / 2);
    double *q = x + JN_X_quaternion, arm[3] = {0.0, 0.0, 0.0};
    evaluation e;
    int w;
    (void)d;
    memset(x, 0, N_X * sizeof *x);
    x[JN_X_position] = p[JN_P_init_x];
    x[JN_X_position + 1] = p[JN_P_init_y];
    x[JN_X_position + 2] = resting ? p[JN_P_terrain_height] + rest_pose[0] : p[JN_P_init_z];
    q[0] = c;
    q[3] = s;
    if (resting) { /* turned about z */
        const double *o = rest_pose + 1;
        q[0] = c * o[0] - s * o[3];
        q[1] = c * o[1] - s * o[2];
        q[2] = c * o[2] + s * o[1];
        q[3] = c * o[3] + s * o[0];
    }
    for (w = 0; w < N_WHEELS; w++) {
        double *own = x + X_WHEELS + w * X_WHEEL;
        memcpy(own, places[w], sizeof places[w]);
        memcpy(own + X_INNER, inner_start, sizeof inner_start);
    }
    if (rolling && roll(p, u, x, f)) return 1;
    if (fabs(angle) > UNFELT && follow(0.0, angle, 0.0, x, f)) return 1;
    x[X_ARM_RATE] = u[JN_U_steering_wheel_rate] / steering_ratio;
    x[X_ARM_ANGLE] = angle;
    arm[0] = angle;
    return evaluate(arm, 0.0, x, u, p, &e, f) || refuse_deflection(&e, f);
}

/* The Pitman arm may have jumped from where the last tick left it: the loops are closed there. Projection does the same
 * before every tick, with the arm as fast as it was. */
static int begin(const double *u, const double *p, const double *d, double *x, jn_fault *f) {
    const double now = u[JN_U_steering_wheel_angle] / steering_ratio, last = x[X_ARM_ANGLE];
    const double arm[3] = {now, x[X_ARM_RATE], 0.0};
    x[X_ARM_ANGLE] = now + u[JN_U_steering_wheel_rate] / steering_ratio * d[0];
    if (fabs(now - last) > UNFELT) return follow(last, now, x[X_ARM_RATE], x, f);
    return p[JN_P_projection] != 0.0 && close_once(arm, x, f);
}

static int rhs(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f) {
    const double rate = u[JN_U_steering_wheel_rate] / steering_ratio;
    const double arm[3] = {u[JN_U_steering_wheel_angle] / steering_ratio + rate * tau, rate,
                           (rate - x[X_ARM_RATE]) / d[0]};
    evaluation e;
    int w;
    if (evaluate(arm, p[JN_P_baumgarte], x, u, p, &e, f) || refuse_deflection(&e, f)) return 1;
    motion_1(x, e.acceleration + 3, chassis_numbers + JN_CHASSIS_NUMBER_gravity, dx + JN_X_position,
             dx + JN_X_quaternion, dx + JN_X_linear);
    memcpy(dx + JN_X_angular, e.acceleration, 3 * sizeof *dx);
    for (w = 0; w < N_WHEELS; w++) {
        const double *own = of_wheel(x, w);
        double *to = dx + X_WHEELS + w * X_WHEEL;
        corners[w].place(own, own + X_RATES, to);
        memcpy(to + X_RATES, e.rates[w], sizeof e.rates[w]);
        to[X_SPIN] = own[X_SPIN_RATE];
        to[X_SPIN_RATE] = e.spin[w];
        memcpy(to + X_INNER, e.wheel[w] + JN_WHEEL_rates, N_INNER * sizeof *to);
    }
    memset(dx + N_STATES, 0, N_MEMORY * sizeof *dx);
    return 0;
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    static const int angle_places[4] = {JN_Y_ref_frame_yaw, JN_Y_ref_frame_pitch, JN_Y_ref_frame_roll, JN_Y_sideslip};
    const double asked = u[JN_U_steering_wheel_angle] / steering_ratio, rate = u[JN_U_steering_wheel_rate] / steering_ratio;
    /* With the inputs of the tick that has just ended, the arm is where that tick has left it. */
    const int ended = fabs(asked + rate * d[0] - x[X_ARM_ANGLE]) <= UNFELT;
    const double arm[3] = {ended ? x[X_ARM_ANGLE] : asked, rate, x[X_ARM_ACCELERATION]};
    const double none[JN_GATHERED_N] = {0.0}; /* for the torque of the linkage, which is no output here */
    double body[2], adjacent[4], corner[JN_CORNER_N], share[JN_SHARE_N], own_states[4], sums[3] = {0.0}, gap = 0.0;
    evaluation e;
    int w, k;
    (void)dx;
    if (evaluate(arm, p[JN_P_baumgarte], x, u, p, &e, f)) return 1;
    chassis_report_1(x, e.acceleration, chassis_numbers, y, body, adjacent);
    for (k = 0; k < 4; k++) {
        double turned;
        angle_1(y + angle_places[k], adjacent + k, &turned);
        y[angle_places[k]] = turned;
    }
    for (w = 0; w < N_WHEELS; w++) {
        const double *own = of_wheel(x, w);
        own_states[0] = own[X_SPIN];
        own_states[2] = 1.0; /* the travel's partial velocity is its rate */
        own_states[3] = own[X_SPIN_RATE];
        corners[w].report(own, own + X_RATES, own + X_SPIN_RATE, e.inner[w], x + JN_X_angular, corner, own_states + 1);
        report_1(corner, e.wheel[w], none, x, own_states, e.acceleration, axial[w],
                 y + JN_Y_WHEEL_pos_x + w * Y_WHEEL, share);
        sums[0] += share[JN_SHARE_kinetic];
        sums[1] += share[JN_SHARE_height];
        sums[2] += share[JN_SHARE_springs];
        if (!(share[JN_SHARE_closure] <= gap)) gap = share[JN_SHARE_closure];
    }
    y[JN_Y_steering_pitman_angle] = asked;
    y[JN_Y_energy_kinetic] = body[0] + sums[0];
    y[JN_Y_energy_potential] = chassis_numbers[JN_CHASSIS_NUMBER_gravity] * (body[1] + sums[1]) + sums[2];
    y[JN_Y_closure_residual] = gap;
    y[JN_Y_tick_count] = (double)ticks;
    return 0;
}

static void finish(double *x, const double *u, const double *p) {
    const double rate = u[JN_U_steering_wheel_rate] / steering_ratio;
    double *q = x + JN_X_quaternion;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    int w, k;
    for (k = 0; k < 4; k++) q[k] /= length;
    for (w = 0; w < N_WHEELS; w++) unit_poses(x + X_WHEELS + w * X_WHEEL);
    x[X_ARM_ACCELERATION] = (rate - x[X_ARM_RATE]) / p[JN_P_tick];
    x[X_ARM_RATE] = rate;
}

/* Whether the loops are still closed where the tick ends. */
static int readable(const double *x, const double *u, const double *p, const double *d, jn_fault *f) {
    const double end = (u[JN_U_steering_wheel_angle] + u[JN_U_steering_wheel_rate] * d[0]) / steering_ratio;
    double gap;
    int w;
    (void)p;
    if (widest_gap(end, x, &gap, &w, f)) return 1;
    return gap < OPEN ? 0 : refuse_gap(w, gap, "expected at most 10 mm: a shorter tick, baumgarte or projection", f);
}

static const jn_model formulation = {
    .name = "formulation", .build_hash = jn_build_hash_text, .n_x = N_X, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = N_D, .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS,
    .by_reference = jn_by_reference, .derive = derive, .start = start, .rhs = rhs, .outputs = outputs,
    .step = NULL, .n_work = 0, .begin = begin, .finish = finish, .n_memory = N_MEMORY, .nominals = jn_nominals,
    .state_references = jn_state_references, .directional = NULL, .finish_forward = NULL, .jacobian = NULL,
    .parameter_warning = NULL, .readable = readable, .period = NULL, .decide = NULL, .open = NULL, .close = NULL, .d_resource = 0,
    .stores = NULL, .remember = NULL, .n_store = 0, .d_store = 0,
};
const jn_model *const jn_models[] = {&formulation, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
