/* A vehicle on four double wishbones as a jn_model: derived numbers, range checks, and the choice between one
 * corner after the other and four corners on four lanes. The dynamics stand in double_wishbone_dynamics.inc.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double_wishbone.h"

#ifdef JN_LOOPED
#include "jn_chebyshev.h"
#endif

#define SINGULAR 1e-12  /* least discriminant of a closed linkage [m4] */
#define FARTHEST 1.2    /* arm angle that no range check may miss [rad] */
#define ROLLED_OVER 0.17364817766693036 /* of 80 deg */
#define UNFELT 1e-12    /* jump of the Pitman arm that is rounding [rad] */
#define WALKING 3.0     /* speed up to which treads feel a jump of the arm [m/s] */

enum { LOAD_DRIVE = 6, LOAD_BRAKE = 7 }; /* of jounce.dynamics.articulated.LOADS */
enum { HUB_ROWS = 12 };                   /* jounce.contact.wheel.HUB, the first rows of a corner */

static const char *const corner_names[JN_CORNERS] = {JN_WHEEL_NAMES};

#include "double_wishbone_axles.inc"

/* Deflection of the tire of lane c at which its rim is on the ground [m]. */
double jn_rim_reached(const double *d, int c) {
    const double *wheel = d + D_WHEELS + c;
    return wheel[JN_CORNERS * JN_WHEEL_NUMBER_tire_unloaded_radius] - wheel[JN_CORNERS * JN_WHEEL_NUMBER_tire_rim_radius];
}

static int refuse_steering(const double *u, jn_fault *f) {
    return jn_refuse(f, JN_ROW_U + JN_U_steering_wheel_angle, u[JN_U_steering_wheel_angle],
                     "linkage out of range: the steering four-bar cannot close");
}

/* Name of the coordinate of a wheel's lane, and its unit. */
static const char *coordinate_of(int wheel) {
#ifdef JN_KINDS
    return jn_kinds[wheel / 2].coordinates[wheel % 2];
#else
    (void)wheel;
    return "lower-arm angle (rad)";
#endif
}

#ifdef JN_LOOPED
#include "axles_branch.inc"
#endif

/* Finds a suspension that cannot close; the fault names the corner, its angle and the loop. */
static int refuse_range(const double *x, const jn_evaluation *e, jn_fault *f) {
    int w;
    for (w = 0; w < JN_WHEELS; w++) {
        const int c = JN_LANE_OF(w), row = JN_ROW_Y + JN_Y_WHEEL_arm_angle + w * Y_WHEEL;
        const double theta = x[JN_X_theta + c];
        const int upper = e->corner[JN_CORNERS * JN_CORNER_margin_upper + c] > SINGULAR;
        const int tierod = e->corner[JN_CORNERS * JN_CORNER_margin_tierod + c] > SINGULAR;
        if (upper && tierod && fabs(theta) < FARTHEST) continue;
        if (theta != theta)
            return jn_refuse(f, row, theta, "not a number: the motion of corner %s has diverged", corner_names[w]);
        return jn_refuse(f, row, theta, "linkage out of range: at corner %s the %s loop cannot close at this %s",
                         corner_names[w], jn_axles[w / 2].loops[upper], coordinate_of(w));
    }
#ifdef JN_LOOPED
    return refuse_branch(x, e, f);
#else
    return 0;
#endif
}

static double sum(const double *lanes, int k) {
    const double *v = lanes + JN_CORNERS * k;
#define JN_AT(lane) v[lane]
    return JN_SUM(JN_AT);
#undef JN_AT
}

/* Index of the lane with the largest number. */
static int argmax(const double *lanes, int k) {
    const double *v = lanes + JN_CORNERS * k;
    int best = JN_LANE_OF(0), w;
    for (w = 1; w < JN_WHEELS; w++)
        if (v[JN_LANE_OF(w)] > v[best]) best = JN_LANE_OF(w);
    return best;
}

const double *jn_in_lanes(const double *x, double *lanes) {
    int k, c;
    memcpy(lanes, x, JN_X_spin * sizeof *x);
    for (k = 0; k < N_ROWS; k++)
        for (c = 0; c < JN_CORNERS; c++)
            lanes[JN_X_spin + k * JN_CORNERS + c] = x[JN_X_spin + k * JN_WHEELS + JN_WHEEL_OF(c)];
    memcpy(lanes + JN_END_ROWS, x + X_POWERTRAIN, (N_POWER + N_MEMORY) * sizeof *x);
    return lanes;
}

void jn_out_of_lanes(const double *lanes, double *x) {
    int k, w;
    memcpy(x, lanes, JN_X_spin * sizeof *x);
    for (k = 0; k < N_ROWS; k++)
        for (w = 0; w < JN_WHEELS; w++)
            x[JN_X_spin + k * JN_WHEELS + w] = lanes[JN_X_spin + k * JN_CORNERS + JN_LANE_OF(w)];
    memcpy(x + X_POWERTRAIN, lanes + JN_END_ROWS, N_POWER * sizeof *x);
}

/* The same, where the states in lanes differ from those outside; otherwise no copy is made. */
static const double *in_lanes(const double *x, double *lanes) { return JN_SPREAD ? jn_in_lanes(x, lanes) : x; }

static void out_of_lanes(const double *lanes, double *x) {
    if (JN_SPREAD) jn_out_of_lanes(lanes, x);
}

/* Pitman-arm angle and rate, tau seconds into a tick. */
static void fill_arm(const double *u, const double *d, double tau, double *arm) {
    arm[0] = (u[JN_U_steering_wheel_angle] + u[JN_U_steering_wheel_rate] * tau) / d[D_RATIO];
    arm[1] = u[JN_U_steering_wheel_rate] / d[D_RATIO];
}

/* Acceleration of the arm that is steered by angle, in the tick that begins at x [rad/s2]. */
static double arm_acceleration(const double *x, const double *u, const double *d) {
    return (u[JN_U_steering_wheel_rate] / d[D_RATIO] - x[JN_X_arm_rate]) / d[D_TICK];
}

/* The outputs after the wheels', but for residual, rolled_over and tick count; `ground`: jn_evaluation.body. */
static void collect_outputs(const double *share, const double *body, const double *ground, const double *u,
                            const double *d, double *y) {
    y[JN_Y_steering_load_torque] = sum(share, JN_SHARE_steering);
    y[JN_Y_steering_pitman_angle] = u[JN_U_steering_wheel_angle] / d[D_RATIO];
    y[JN_Y_energy_kinetic] = body[0] + sum(share, JN_SHARE_kinetic);
    y[JN_Y_energy_potential] = d[D_CHASSIS + JN_CHASSIS_NUMBER_gravity] * (body[1] + sum(share, JN_SHARE_height)) +
                               sum(share, JN_SHARE_springs) + ground[3];
    memcpy(y + JN_Y_chassis_ground_force_x, ground, 3 * sizeof *y);
}

/* Computes the angles of the chassis's report, which has their opposite sides instead, with four atan2 at once. */
enum { N_ANGLES = 4 };
static const int angle_places[N_ANGLES] = {JN_Y_ref_frame_yaw, JN_Y_ref_frame_pitch, JN_Y_ref_frame_roll,
                                           JN_Y_sideslip};

static void take_angles(const double *y, double *angles) {
    int k;
    for (k = 0; k < N_ANGLES; k++) angles[k] = y[angle_places[k]];
}

static void put_angles(const double *angles, double *y) {
    int k;
    for (k = 0; k < N_ANGLES; k++) y[angle_places[k]] = angles[k];
}

#include "double_wishbone_wheel_inputs.inc"

/* A terrain normal in chassis axes, for the quaternion w x y z. */
static void to_chassis(const double *q, const double *n, double *out) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    out[0] = (1 - 2 * (y * y + z * z)) * n[0] + 2 * (x * y + w * z) * n[1] + 2 * (x * z - w * y) * n[2];
    out[1] = 2 * (x * y - w * z) * n[0] + (1 - 2 * (x * x + z * z)) * n[1] + 2 * (y * z + w * x) * n[2];
    out[2] = 2 * (x * z + w * y) * n[0] + 2 * (y * z - w * x) * n[1] + (1 - 2 * (x * x + y * y)) * n[2];
}

/* Whether the box around the body's outline is above the plane by its tilt alone, as it is when driving. */
static int is_clear(const double *x, const double *d) {
    const double *q = x + JN_X_quaternion, *n = d + D_NORMAL, *ground = d + D_GROUND, *at = x + JN_X_position;
    const double cosine = 2 * (q[1] * q[3] + q[0] * q[2]) * n[0] + 2 * (q[2] * q[3] - q[0] * q[1]) * n[1] +
                          (1 - 2 * (q[1] * q[1] + q[2] * q[2])) * n[2];
    const double above = n[0] * (at[0] - ground[0]) + n[1] * (at[1] - ground[1]) + n[2] * (at[2] - ground[2]) +
                         cosine * d[D_BOX + 2];
    return cosine > 0.0 && above > 0.0 && above * above > (1.0 - cosine * cosine) * d[D_REACH];
}

/* Cosine of the angle between the vehicle's z axis and the mean normal of the terrain under its wheels. */
static double uprightness(const double *x, const double *wheel_inputs) {
    double mean[3], lies[3];
    int k;
    for (k = 0; k < 3; k++) mean[k] = sum(wheel_inputs, JN_WHEEL_INPUT_normal + k);
    to_chassis(x + JN_X_quaternion, mean, lies);
    return lies[2] / sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
}

#define JN_LANES 1
#include "jn_lanes.h"
#include "double_wishbone_terrain.inc"
#include "double_wishbone_soil.inc"

/* Checks that no tire is deflected beyond what its data can mean, which is its unloaded radius. */
static int refuse_deflection(const jn_evaluation *e, const double *d, jn_fault *f) {
    int w;
    if (d[D_SOIL] != 0.0 && refuse_sunk(e, d, f)) return 1;
    for (w = 0; w < JN_WHEELS; w++) {
        const double deflection = e->wheel[JN_CORNERS * JN_WHEEL_deflection + JN_LANE_OF(w)];
        const double limit = d[D_WHEELS + JN_CORNERS * JN_WHEEL_NUMBER_tire_unloaded_radius + JN_LANE_OF(w)];
        if (!(deflection > limit)) continue;
        return jn_refuse(f, JN_ROW_Y + JN_Y_WHEEL_deflection + w * Y_WHEEL, deflection,
                         "tire %s is pressed in beyond what its data can mean; expected at most %.0f mm, where its "
                         "centre is on the ground (its rim is at %.0f mm)", corner_names[w], 1e3 * limit,
                         1e3 * jn_rim_reached(d, JN_LANE_OF(w)));
    }
    return 0;
}

JN_SELDOM
#include "double_wishbone_lanes.inc"
#include "double_wishbone_lanes_forward.inc"
#ifdef JN_KINDS
#include "double_wishbone_kinds.inc"
#endif
JN_OFTEN
#undef JN_STRIDE
#define JN_STRIDE 1
#include "double_wishbone_scalar.inc"
JN_SELDOM
#include "double_wishbone_scalar_forward.inc"
JN_OFTEN
#include "double_wishbone_derive.inc"
#if JN_POWERTRAIN
#include "powertrain_scalar.inc"
#include "driveline_scalar.inc"
JN_SELDOM
#include "powertrain_scalar_forward.inc"
#include "driveline_scalar_forward.inc"
JN_OFTEN
#endif
#undef JN_STRIDE
#define JN_STRIDE JN_CORNERS

/* Whether any of these numbers is not zero. */
static int any_of(const double *v, size_t bytes) {
    size_t k;
    int some = 0;
    for (k = 0; k < bytes / sizeof *v; k++) some |= v[k] != 0.0;
    return some;
}

#if JN_POWERTRAIN
#include "driveline.inc"
#include "powertrain.inc"
#include "gearbox.inc"
#endif

/* Whether the next tick begins with the arm's motion in which this one has ended. */
static int goes_on(const double *x, const double *u, const double *d, const double *arm) {
#if JN_POWERTRAIN
    if (d[D_BY_TORQUE] != 0.0) return 1;
#endif
    return arm[2] == arm_acceleration(x, u, d);
}

JN_SELDOM
#include "double_wishbone_dynamics.inc"
#include "double_wishbone_forward.inc"
#if JN_POWERTRAIN
#include "by_columns.inc"
#else
#include "double_wishbone_jacobian.inc"
#endif
JN_OFTEN
#undef JN_LANES

#ifdef JN_FOUR_LANES
#ifdef JN_TWO_LANES
#define JN_LANES 2
#include "jn_lanes.h"
#include "double_wishbone_kinds.inc"
#undef JN_LANES
#endif
#define JN_LANES 4
#include "jn_lanes.h"
#include "double_wishbone_ground.inc"
#include "double_wishbone_lanes.inc"
JN_SELDOM
#include "double_wishbone_lanes_forward.inc"
JN_OFTEN
#ifdef JN_KINDS
#include "double_wishbone_kinds.inc"
#endif
#include "double_wishbone_dynamics.inc"
JN_SELDOM
#include "double_wishbone_forward.inc"
#if JN_POWERTRAIN
#include "by_columns.inc"
#else
#include "double_wishbone_jacobian.inc"
#endif
JN_OFTEN
#undef JN_LANES
#endif

static void find_ground(const double *x, const double *d, int c, int n, jn_evaluation *e) {
#ifdef JN_FOUR_LANES
    if (n == 4) {
        find_ground_4(x, d, c, e);
        return;
    }
#endif
    for (n += c; c < n; c++) find_ground_1(x, d, c, e);
}

int jn_evaluate(double tau, double arm_acceleration, const double *x, const double *u, const double *d,
                jn_evaluation *e, jn_fault *f) {
    double arm[3];
    fill_arm(u, d, tau, arm);
    arm[2] = arm_acceleration;
    return evaluate_1(arm, x, u, d, 1, e, f);
}

#if JN_POWERTRAIN
int jn_turn_wheel(const double *x, const double *u, const double *d, jn_evaluation *e, jn_fault *f) {
    double arm[3];
    arm_of_column(x, d, arm);
    return evaluate_1(arm, x, u, d, BY_TORQUE, e, f);
}
#endif

void jn_wheel_start(const double *d, int c, const double *starting, double *grip, double *resting, double *rolling) {
    double numbers[JN_WHEEL_NUMBER_prepared];
    int k;
    for (k = 0; k < JN_WHEEL_NUMBER_prepared; k++) numbers[k] = d[D_WHEELS + JN_CORNERS * k + c];
    wheel_start_1(starting, numbers, grip, resting, rolling);
}

#include "double_wishbone_parameters.inc"

/* Whether the outputs can be read. Within the arms' range they can, for any input; otherwise they are evaluated. */
static int readable(const double *x, const double *u, const double *p, const double *d, jn_fault *f) {
    double y[JN_N_Y];
    int w;
    for (w = 0; w < JN_WHEELS; w++)
        if (!(x[X_THETA + w] >= d[D_LOWEST + JN_LANE_OF(w)] && x[X_THETA + w] <= d[D_HIGHEST + JN_LANE_OF(w)]))
            return outputs_1(x, u, p, d, 0, y, NULL, f);
    return 0;
}

/* The memory: rate and acceleration of the arm in the last tick; its angle, where the tick has left it, is begin's. */
static void finish(double *x, const double *u, const double *p) {
    double *q = x + JN_X_quaternion;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double rate = u[JN_U_steering_wheel_rate] / p[JN_P_steering_ratio];
    int k;
    for (k = 0; k < 4; k++) q[k] /= length;
    x[N_STATES + 1] = (rate - x[N_STATES]) / p[JN_P_tick];
    x[N_STATES] = rate;
}

/* Tangents of `finish`, given the states before it. */
static void finish_forward(const double *x, const double *u, const double *p, const double *d_u, double *d_x) {
    const double rate = d_u[JN_U_steering_wheel_rate] / p[JN_P_steering_ratio];
    (void)u;
    unit_forward(4, x + JN_X_quaternion, d_x + JN_X_quaternion, d_x + JN_X_quaternion);
    d_x[N_STATES + 1] = (rate - d_x[N_STATES]) / p[JN_P_tick];
    d_x[N_STATES] = rate;
}

#if JN_POWERTRAIN
#define PERIOD period
#define DECIDE decide
#else
#define PERIOD NULL
#define DECIDE NULL
#endif
#define MODEL(lanes)                                                                                                   \
    {.name = "double_wishbone", .build_hash = jn_build_hash_text, .n_x = N_STATES + N_MEMORY, .n_u = JN_N_U, .n_y = JN_N_Y,         \
     .n_p = JN_N_P, .n_d = JN_N_D, .p_tick = JN_P_tick, .p_integrator = JN_P_integrator, .signals = jn_table,          \
     .n_signals = JN_N_SIGNALS, .by_reference = jn_by_reference, .derive = derive, .start = jn_start,                  \
     .rhs = rhs_##lanes, .outputs = outputs_##lanes, .step = NULL, .n_work = 0, .begin = begin_##lanes, .finish = finish, .n_memory = N_MEMORY,  \
     .nominals = jn_nominals, .state_references = jn_state_references, .directional = directional_##lanes,             \
     .finish_forward = finish_forward, .jacobian = jacobian_##lanes, .parameter_warning = parameter_warning,               \
     .readable = readable, .period = PERIOD, .decide = DECIDE, .open = open_terrain,                     \
     .close = close_terrain, .d_resource = D_RESOURCE, .stores = on_soil, .remember = remember_##lanes, .n_store = N_STORE, .d_store = D_STORE}

static const jn_model one_lane = MODEL(1);
#ifdef JN_FOUR_LANES
static const jn_model four_lanes = MODEL(4);
const jn_model *const jn_models[] = {&one_lane, &four_lanes, NULL};
#else
const jn_model *const jn_models[] = {&one_lane, NULL};
#endif

#if defined(JN_FOUR_LANES) && defined(__x86_64__)
#include <cpuid.h>

/* The processor has AVX2, and the operating system saves its registers. */
static int has_avx2(void) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    return (b & bit_AVX2) != 0;
}
#else
static int has_avx2(void) { return 1; }
#endif

int jn_variant_supported(int variant) { return variant == 0 || has_avx2(); }
