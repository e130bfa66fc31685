/* Start states of the double-wishbone model: the design position, or rest on the terrain.
 *
 * Rest is a Newton search over height, pitch, roll and the arm angles of all wheels at fixed x, y and yaw: all their
 * accelerations vanish while every contact force points against gravity. On a slope the tires' states (`wheel_start`,
 * from their law) and the brakes' wind-up then carry the tangential part from the first instant, as far as friction and
 * brakes reach. All other states begin at `jn_state_starts`. Where no brake torque is given yet the brakes have held in
 * full until now: those that the first step applies go on holding, and without them the vehicle is let go.
 */
#include <math.h>
#include <string.h>

#include "double_wishbone.h"
#include "double_wishbone_axles.inc"
#define JN_LANES 1
#include "jn_lanes.h"

#define N_REST (3 + JN_WHEELS)
#define ROUNDS 60
#define ENOUGH 1e-10    /* acceleration that counts as rest [m/s2, rad/s2] */
#define TOLERATED 1e-7  /* the same, where rounding allows no better */
#define NUDGE 1e-7      /* step of the difference quotients [m, rad] */
#define LONGEST 0.05    /* longest step of one round [m, rad] */
#define BURIED 0.1       /* depth of the body at which no vehicle starts [m] */
#define COMPRESSED 0.01 /* tire deflection of the first guess [m] */

typedef struct {
    const double *p, *u;
    double d[JN_N_D];       /* with the tires inside the model, whoever carries the wheels later */
    double mean_normal[3];
    double height[JN_WHEELS], normal[JN_WHEELS][3]; /* of the ground under each wheel, where it is no plane */
    int rolling;            /* 1: no tangential forces */
    jn_evaluation e;
} rest;

static int is_plane(const rest *r) { return r->d[D_HEIGHT_ONLY] == 0.0 && r->d[D_TERRAIN] == 0.0; }

static double lane(const double *v, int k, int c) { return v[JN_CORNERS * k + c]; }

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* ISO 8855 yaw, pitch, roll to w x y z. */
static void orient(double yaw, double pitch, double roll, double *q) {
    const double cy = jn_cos_1(yaw / 2), sy = jn_sin_1(yaw / 2), cp = jn_cos_1(pitch / 2), sp = jn_sin_1(pitch / 2);
    const double cr = jn_cos_1(roll / 2), sr = jn_sin_1(roll / 2);
    q[0] = cy * cp * cr + sy * sp * sr;
    q[1] = cy * cp * sr - sy * sp * cr;
    q[2] = cy * sp * cr + sy * cp * sr;
    q[3] = sy * cp * cr - cy * sp * sr;
}

/* A chassis vector in world axes. */
static void to_world(const double *q, const double *v, double *out) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    out[0] = (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2];
    out[1] = 2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2];
    out[2] = 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

static double clipped(double v, double limit) { return v > limit ? limit : v < -limit ? -limit : v; }

static double wheel_number(const rest *r, int k, int c) { return lane(r->d + D_WHEELS, k, c); }

#include "double_wishbone_start_wheels.inc"

/* Accelerations that must vanish at rest: along the terrain's normal, pitch, roll, arms. */
static int residual(rest *r, const double *v, double *x, double *out, jn_fault *f) {
    double felt[3], gravity = r->p[JN_P_gravity];
    int c;
    x[JN_X_position + 2] = v[0];
    orient(r->p[JN_P_init_yaw], v[1], v[2], x + JN_X_quaternion);
    for (c = 0; c < JN_CORNERS; c++) x[JN_X_theta + c] = v[3 + JN_WHEEL_OF(c)];
    if (settle(r, x, f)) return 1;
    to_world(x + JN_X_quaternion, r->e.acceleration + 3, felt);
    out[0] = dot(felt, r->mean_normal) - gravity * r->mean_normal[2];
    out[1] = r->e.acceleration[1];
    out[2] = r->e.acceleration[0];
    for (c = 0; c < JN_WHEELS; c++) out[3 + c] = r->e.back[JN_LANE_OF(c)];
    return 0;
}

/* In-place elimination with row exchange; 0 when the matrix is singular. */
static int solve(double a[N_REST][N_REST], double *b) {
    int i, j, k;
    for (k = 0; k < N_REST; k++) {
        int best = k;
        for (i = k + 1; i < N_REST; i++)
            if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
        if (!(fabs(a[best][k]) > 0.0)) return 0;
        for (j = 0; j < N_REST; j++) { const double t = a[k][j]; a[k][j] = a[best][j]; a[best][j] = t; }
        { const double t = b[k]; b[k] = b[best]; b[best] = t; }
        for (i = k + 1; i < N_REST; i++) {
            const double ratio = a[i][k] / a[k][k];
            for (j = k; j < N_REST; j++) a[i][j] -= ratio * a[k][j];
            b[i] -= ratio * b[k];
        }
    }
    for (k = N_REST - 1; k >= 0; k--) {
        for (j = k + 1; j < N_REST; j++) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return 1;
}

static double size(const double *r) {
    double best = 0.0;
    int i;
    for (i = 0; i < N_REST; i++) best = fabs(r[i]) > best || r[i] != r[i] ? fabs(r[i]) : best;
    return best;
}

/* Place of an axle's wheel height in the design position among its corner numbers. */
static int height_row(int axle) {
#ifdef JN_KINDS
    return jn_kinds[axle].height;
#else
    (void)axle;
    return JN_CORNER_NUMBER_wheel_height0;
#endif
}

/* How far the terrain under the wheels lies below the plane of the first guess, at the wheel where it is farthest [m]. */
static double hollow(const rest *r, double ground) {
    const double *n = r->mean_normal, yaw = r->p[JN_P_init_yaw], c = jn_cos_1(yaw), s = jn_sin_1(yaw);
    double most = 0.0;
    int w;
    for (w = 0; w < JN_WHEELS; w++) {
        const double *anchor = r->d + D_OUTLINE + JN_CORNERS * JN_POINT_anchor + JN_LANE_OF(w);
        const double ahead = anchor[0], left = anchor[JN_CORNERS];
        const double there = ground - (n[0] * (c * ahead - s * left) + n[1] * (s * ahead + c * left)) / n[2];
        most = fmax(most, there - r->height[w]);
    }
    return most;
}

/* First guess: chassis parallel to the terrain under it, tires a little compressed; `all`: those of every wheel, where
 * the design heights or the tires of the axles differ. */
static void guess(rest *r, const double *x, int all, double *v) {
    const double *n = r->mean_normal, yaw = r->p[JN_P_init_yaw];
    const double c = jn_cos_1(yaw), s = jn_sin_1(yaw), slope = -(n[0] * c + n[1] * s) / n[2];
    const double side = -(-n[0] * s + n[1] * c) / n[2], length = sqrt(1.0 + slope * slope);
    double ground = 0.0, hub = 0.0, radius = wheel_number(r, JN_WHEEL_NUMBER_tire_unloaded_radius, 0);
    double lowest = HUGE_VAL;
    int k;
    memset(v, 0, N_REST * sizeof *v);
    v[1] = -jn_atan_1(slope);
    v[2] = jn_atan2_1(side, length);
    for (k = 0; k < JN_WHEELS; k++) {
        const double *d = r->d;
        const double own_radius = wheel_number(r, JN_WHEEL_NUMBER_tire_unloaded_radius, JN_LANE_OF(k));
        const double own = lane(d + D_CORNERS, height_row(k / 2), JN_LANE_OF(JN_IS_PAIR(k / 2) ? k - k % 2 : k));
        radius = fmax(radius, own_radius);
        hub += own / JN_WHEELS;
        lowest = fmin(lowest, own_radius - COMPRESSED - (own - (is_plane(r) ? 0.0 : r->height[k])));
        if (!is_plane(r)) ground += r->height[k] / JN_WHEELS;
    }
    if (is_plane(r))
        ground = r->d[D_GROUND + 2] - (n[0] * x[JN_X_position] + n[1] * x[JN_X_position + 1]) / n[2];
    else ground -= fmax(hollow(r, ground) - 0.5 * COMPRESSED, 0.0); /* a wheel in the air finds no way down */
    v[0] = ground + (radius - COMPRESSED - hub) / n[2];
    if (all) v[0] = (is_plane(r) ? ground : 0.0) + lowest / n[2];
}

/* Asks the ground for each wheel: the inputs, or the terrain file below the anchor of the wheel on a level chassis. */
static void ask_ground(rest *r, const double *x) {
    const double yaw = r->p[JN_P_init_yaw], c = jn_cos_1(yaw), s = jn_sin_1(yaw);
    int w;
    for (w = 0; w < JN_WHEELS; w++) {
        const double *anchor = r->d + D_OUTLINE + JN_CORNERS * JN_POINT_anchor + JN_LANE_OF(w);
        const double ahead = anchor[0], left = anchor[JN_CORNERS];
        if (r->d[D_TERRAIN] != 0.0) {
            jn_ground_under(r->d, x[JN_X_position] + c * ahead - s * left, x[JN_X_position + 1] + s * ahead + c * left,
                            &r->height[w], r->normal[w]);
            continue;
        }
        r->height[w] = r->u[JN_U_WHEEL_terrain_height + w * U_WHEEL];
        jn_unit_normal(r->u + JN_U_WHEEL_terrain_normal_x + w * U_WHEEL, r->normal[w]);
    }
}

static void average_normal(rest *r, const double *x) {
    double length;
    int c, k;
    memcpy(r->mean_normal, r->d + D_NORMAL, sizeof r->mean_normal);
    if (is_plane(r)) return;
    ask_ground(r, x);
    for (k = 0; k < 3; k++) {
        r->mean_normal[k] = 0.0;
        for (c = 0; c < JN_WHEELS; c++) r->mean_normal[k] += r->normal[c][k];
    }
    length = sqrt(dot(r->mean_normal, r->mean_normal));
    for (k = 0; k < 3; k++) r->mean_normal[k] /= length;
}

/* Newton's method from v as far as it goes; what is left to `now`. */
static int search(rest *r, double *v, double *x, double *now, jn_fault *f) {
    double a[N_REST][N_REST], step[N_REST], tried[N_REST], there[N_REST];
    int round, i, k;
    if (residual(r, v, x, now, f)) return 1;
    for (round = 0; round < ROUNDS && !(size(now) < ENOUGH); round++) {
        double longest = 0.0, scale = 1.0;
        for (k = 0; k < N_REST; k++) {
            memcpy(tried, v, sizeof tried);
            tried[k] += NUDGE;
            if (residual(r, tried, x, there, f)) return 1;
            for (i = 0; i < N_REST; i++) a[i][k] = (there[i] - now[i]) / NUDGE;
        }
        for (i = 0; i < N_REST; i++) step[i] = -now[i];
        if (!solve(a, step)) break;
        for (i = 0; i < N_REST; i++) longest = fabs(step[i]) > longest ? fabs(step[i]) : longest;
        if (longest > LONGEST) scale = LONGEST / longest;
        for (k = 0; k < 12; k++, scale *= 0.5) {
            jn_fault ignored;
            for (i = 0; i < N_REST; i++) tried[i] = v[i] + scale * step[i];
            if (!residual(r, tried, x, there, &ignored) && size(there) < size(now)) break;
        }
        if (k == 12) break;
        memcpy(v, tried, sizeof tried);
        memcpy(now, there, sizeof there);
    }
    return 0;
}

static int find_rest(rest *r, double *x, jn_fault *f) {
    double v[N_REST], now[N_REST];
    average_normal(r, x);
    guess(r, x, 0, v);
    if (search(r, v, x, now, f)) return 1;
    if (!(size(now) < TOLERATED)) { /* perhaps for wheels that began in the air, where nothing tells them the way down */
        guess(r, x, 1, v);
        if (search(r, v, x, now, f)) return 1;
    }
    if (!(size(now) < TOLERATED)) {
        return jn_refuse(f, JN_ROW_P + JN_P_init_equilibrium, r->p[JN_P_init_equilibrium],
                         "no static equilibrium on this terrain with these loads; start with init.equilibrium = 0 at "
                         "init.z instead");
    }
    return residual(r, v, x, now, f);
}

/* Forward speed along the terrain (or level, in the air) with wheels that roll. */
static int set_rolling(rest *r, double speed, double *x, jn_fault *f) {
    static const double ahead[3] = {1.0, 0.0, 0.0};
    double forward[3], along[3], length, back[4];
    int c, k;
    to_world(x + JN_X_quaternion, ahead, forward);
    if (r->p[JN_P_init_equilibrium] != 0.0) {
        const double off = dot(forward, r->mean_normal);
        for (k = 0; k < 3; k++) forward[k] -= off * r->mean_normal[k];
    }
    length = sqrt(dot(forward, forward));
    for (k = 0; k < 3; k++) along[k] = speed * forward[k] / length;
    back[0] = x[JN_X_quaternion];
    for (k = 1; k < 4; k++) back[k] = -x[JN_X_quaternion + k];
    to_world(back, along, x + JN_X_linear);
    for (c = 0; c < JN_CORNERS; c++)
        x[JN_X_spin_rate + c] = speed / wheel_number(r, JN_WHEEL_NUMBER_tire_unloaded_radius, c);
    if (jn_evaluate(0.0, 0.0, x, r->u, r->d, &r->e, f)) return 1;
    for (c = 0; c < JN_CORNERS; c++) {
        const double *w = r->e.wheel, radius = wheel_number(r, JN_WHEEL_NUMBER_tire_unloaded_radius, c);
        const double trial = speed / radius;
        double v = 0.0, rolled;
        for (k = 0; k < 3; k++) v += lane(w, JN_WHEEL_velocity + k, c) * lane(w, JN_WHEEL_heading + k, c);
        /* slip = (rolled - v) / |v| tells how far the trial spin rolls; zero in the air */
        rolled = lane(w, JN_WHEEL_force + 2, c) > 0.0 ? v + lane(w, JN_WHEEL_slip, c) * fabs(v) : radius * trial;
        x[JN_X_spin_rate + c] = trial * v / rolled;
        start_wheel(r, c, 0.0, 0.0, v < 0.0 ? -1.0 : 1.0, x);
    }
    return 0;
}

/* Refuses a start with a rim on the ground. */
static int refuse_pressed(const rest *r, const double *d, jn_fault *f) {
    const int at_fault = r->p[JN_P_init_equilibrium] != 0.0 ? JN_P_init_equilibrium : JN_P_init_z;
    double deepest = 0.0, limit = 0.0;
    int w, worst = -1;
    for (w = 0; w < JN_WHEELS; w++) {
        const double most = jn_rim_reached(d, JN_LANE_OF(w)), over = lane(r->e.wheel, JN_WHEEL_deflection, JN_LANE_OF(w)) - most;
        if (!(over > deepest)) continue;
        worst = JN_LANE_OF(w);
        deepest = over;
        limit = most;
    }
    if (worst < 0) return 0;
    return jn_refuse(f, JN_ROW_P + at_fault, r->p[at_fault],
                     "tire %.2s starts %.0f mm deep in the terrain; expected at most %.0f mm, where its rim is on the ground",
                     jn_table[JN_ROW_U + JN_U_WHEEL_force_x + JN_WHEEL_OF(worst) * U_WHEEL].name + strlen("wheel_"),
                     1e3 * lane(r->e.wheel, JN_WHEEL_deflection, worst), 1e3 * limit);
}

/* Nor with its body in the ground: an external partner's terrain may lie below the plane that the body knows. */
static int refuse_buried(const rest *r, const double *d, jn_fault *f) {
    const double stiffness = d[D_CONTACT + JN_CONTACT_stiffness];
    if (!(r->e.body[3] > 0.5 * stiffness * BURIED * BURIED)) return 0;
    return jn_refuse(f, JN_ROW_P + JN_P_init_z, r->p[JN_P_init_z],
                     "the body starts more than %.0f mm deep in the terrain; expected a start above it: init.z, "
                     "terrain.height, or terrain_source EXTERNAL with the inputs of a terrain; "
                     "chassis.contact.stiffness = 0 leaves the body without ground", 1e3 * BURIED);
}

int jn_start(const double *p, const double *d, const double *u, double *outside, jn_fault *f) {
    double still[JN_N_U], x[JN_X_N];
    rest r;
    int c;
    memcpy(x, jn_state_starts, sizeof x);
    memcpy(still, u, sizeof still);
    still[JN_U_steering_wheel_rate] = 0.0;
    r.p = p;
    r.u = still;
    memcpy(r.d, d, sizeof r.d);
    r.d[D_EXTERNAL] = 0.0;
    r.rolling = p[JN_P_init_speed] != 0.0;
    for (c = 0; c < JN_WHEELS && !r.rolling; c++) {
        double *brake = still + JN_U_WHEEL_brake_torque + c * U_WHEEL;
        if (*brake < p[JN_P_brake_release_torque]) *brake = p[JN_P_brake_capacity];
    }
    x[JN_X_position] = p[JN_P_init_x];
    x[JN_X_position + 1] = p[JN_P_init_y];
    x[JN_X_position + 2] = p[JN_P_init_z];
    orient(p[JN_P_init_yaw], 0.0, 0.0, x + JN_X_quaternion);
    if (p[JN_P_init_equilibrium] != 0.0 && find_rest(&r, x, f)) return 1;
    if (r.rolling && set_rolling(&r, p[JN_P_init_speed], x, f)) return 1;
    x[JN_X_arm_rate] = u[JN_U_steering_wheel_rate] / p[JN_P_steering_ratio];
    x[JN_X_arm_angle] = u[JN_U_steering_wheel_angle] / p[JN_P_steering_ratio];
#if JN_POWERTRAIN
    x[JN_X_column + JN_COLUMN_steering_wheel_angle] = u[JN_U_steering_wheel_angle];
#endif
    jn_out_of_lanes(x, outside);
    memcpy(outside + N_STATES, x + JN_FIRST_MEMORY, N_MEMORY * sizeof *x);
    return jn_evaluate(0.0, 0.0, x, u, d, &r.e, f) || refuse_pressed(&r, d, f) || refuse_buried(&r, d, f);
}
