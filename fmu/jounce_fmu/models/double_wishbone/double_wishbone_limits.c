/* Limits of a double-wishbone vehicle that follow from its numbers: where its linkages close, and what is too stiff
 * for the explicit integrator.
 */
#include <math.h>
#include <string.h>

#include "double_wishbone.h"

#include "double_wishbone_axles.inc"

#define STEERINGS 5       /* steering angles tried over the range of the input */
#define STRIDE 0.02       /* of the arm angle [rad] */
#define FARTHEST 1.2      /* as far as it is tried [rad] */
#define CLEAR 0.1         /* least discriminant over that of the design position */
#define PROBE 1e3         /* force of a probe [N] */
#define NUDGE 1e-4        /* step of a difference quotient [rad] */
#define AT_LOCK 1.5       /* reserve of the column's springs: at the stops linkage and tires are others than here */

typedef struct {
    const double *p;
    double d[JN_N_D], u[JN_N_U], x[JN_X_N]; /* in the design position, high in the air, at rest, wheels free */
    jn_evaluation e;
} probe;

static double lane(const double *v, int k, int c) { return v[JN_CORNERS * k + c]; }

/* Is the range of this lane's coordinate known? */
static int is_known(const double *d, int c) { return d[D_LOWEST + c] <= d[D_HIGHEST + c]; }

static void begin(probe *s, const double *p, const double *d) {
    int c;
    memset(s, 0, sizeof *s);
    s->p = p;
    memcpy(s->d, d, sizeof s->d);
    s->d[D_EXTERNAL] = 1.0;
    s->d[D_SOIL] = s->d[D_AREA] = 0.0;
    s->d[D_CONTACT + JN_CONTACT_stiffness] = 0.0;
    s->x[JN_X_quaternion] = 1.0;
    for (c = 0; c < JN_CORNERS; c++) s->u[JN_U_WHEEL_terrain_normal_z + JN_WHEEL_OF(c) * U_WHEEL] = 1.0;
}

/* Discriminants of the loops of all corners at one arm angle and steering-wheel angle; zero where it cannot be told. */
static void discriminants(probe *s, double theta, double steering, double upper[JN_CORNERS], double tie[JN_CORNERS]) {
    jn_fault ignored;
    int c;
    for (c = 0; c < JN_CORNERS; c++) s->x[JN_X_theta + c] = is_known(s->d, c) ? 0.0 : theta;
    s->u[JN_U_steering_wheel_angle] = steering;
    memset(s->e.corner, 0, sizeof s->e.corner);
    (void)jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, &ignored);
    for (c = 0; c < JN_CORNERS; c++) {
        upper[c] = lane(s->e.corner, JN_CORNER_margin_upper, c);
        tie[c] = lane(s->e.corner, JN_CORNER_margin_tierod, c);
    }
}

void jn_arm_range(const double *p, double *d) {
    const jn_signal *wheel = jn_table + JN_ROW_U + JN_U_steering_wheel_angle;
    double upper0[JN_CORNERS], tie0[JN_CORNERS], upper[JN_CORNERS], tie[JN_CORNERS];
    int direction, i, c, k, known[JN_CORNERS];
    probe s;
    begin(&s, p, d);
    for (c = 0; c < JN_CORNERS; c++) known[c] = is_known(d, c);
    discriminants(&s, 0.0, 0.0, upper0, tie0);
    for (direction = -1; direction <= 1; direction += 2) {
        double *end = d + (direction < 0 ? D_LOWEST : D_HIGHEST);
        int open[JN_CORNERS], some = 1;
        for (c = 0; c < JN_CORNERS; c++) {
            open[c] = !known[c];
            if (!known[c]) end[c] = -direction; /* empty */
        }
        for (i = 0; some && i * STRIDE < FARTHEST; i++) {
            for (k = 0; k < STEERINGS; k++) {
                const double angle = wheel->min + (wheel->max - wheel->min) * k / (STEERINGS - 1);
                discriminants(&s, direction * i * STRIDE, angle, upper, tie);
                for (c = 0; c < JN_CORNERS; c++)
                    if (!(upper[c] > CLEAR * upper0[c] && tie[c] > CLEAR * tie0[c])) open[c] = 0;
            }
            for (some = 0, c = 0; c < JN_CORNERS; c++) {
                if (open[c]) end[c] = direction * i * STRIDE;
                some |= open[c];
            }
        }
    }
}

/* How many lanes move with that of a left wheel: two where its axle's wheels share a body. */
static int lanes_of(int c) {
    (void)c;
    return JN_IS_PAIR(JN_WHEEL_OF(c) / 2) ? 2 : 1;
}

/* Inverse of the effective mass [1/kg] for a force on a left wheel's centre along x, y, z; the other wheels hang free. */
static int wheel_mobility(probe *s, int c, double mobility[3], jn_fault *f) {
    double r[3], before[3];
    double *force = s->u + JN_U_WHEEL_force_x + JN_WHEEL_OF(c) * U_WHEEL, *point = s->u + JN_U_WHEEL_point_x + JN_WHEEL_OF(c) * U_WHEEL;
    int axis, pass, k;
    for (axis = 0; axis < 3; axis++) {
        for (pass = 0; pass < 2; pass++) {
            const double *a = s->e.acceleration;
            double hub[3];
            force[axis] = pass * PROBE;
            if (jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, f)) return 1;
            for (k = 0; k < 3; k++) point[k] = r[k] = lane(s->e.corner, JN_CORNER_centre + k, c);
            hub[0] = a[3] + a[1] * r[2] - a[2] * r[1];
            hub[1] = a[4] + a[2] * r[0] - a[0] * r[2];
            hub[2] = a[5] + a[0] * r[1] - a[1] * r[0];
            for (k = 0; k < 3; k++) hub[k] += lane(s->e.corner, JN_CORNER_centre_partial + k, c) * lane(s->e.back, 0, c);
#ifdef JN_PAIRED
            for (k = 0; k < 3 && lanes_of(c) == 2; k++)
                hub[k] += lane(s->e.corner, JN_CORNER_centre_other + k, c) * lane(s->e.back, 0, c + 1);
#endif
            if (pass) mobility[axis] = (hub[axis] - before[axis]) / PROBE;
            else memcpy(before, hub, sizeof before);
        }
        force[axis] = 0.0;
    }
    return 0;
}

/* Partial derivatives of the lengths of a left wheel's spring and shock by the n coordinates that move them. */
static int strut_partials(probe *s, int c, int n, double spring[2], double shock[2], jn_fault *f) {
    double length[2][2];
    int j, k;
    for (j = 0; j < n; j++) {
        for (k = 0; k < 2; k++) {
            s->x[JN_X_theta + c + j] = k ? NUDGE : -NUDGE;
            if (jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, f)) return 1;
            length[k][0] = lane(s->e.corner, JN_CORNER_spring_length, c);
            length[k][1] = lane(s->e.corner, JN_CORNER_shock_length, c);
        }
        s->x[JN_X_theta + c + j] = 0.0;
        spring[j] = (length[1][0] - length[0][0]) / (2 * NUDGE);
        shock[j] = (length[1][1] - length[0][1]) / (2 * NUDGE);
    }
    return 0;
}

/* Accelerations of the n coordinates of an axle per newton of one of its springs. */
static int turned_by(probe *s, int c, int n, int preload, double turned[2], jn_fault *f) {
    double *of = s->d + D_CORNERS + JN_CORNERS * preload + c, angle[2];
    const double start = *of;
    int j;
    if (jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, f)) return 1;
    for (j = 0; j < n; j++) angle[j] = lane(s->e.back, 0, c + j);
    *of = start + PROBE;
    if (jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, f)) return 1;
    for (j = 0; j < n; j++) turned[j] = (lane(s->e.back, 0, c + j) - angle[j]) / PROBE;
    *of = start;
    return 0;
}

/* The same for a force along the spring and along the shock of a left wheel. */
static int strut_mobility(probe *s, int c, double *spring, double *shock, jn_fault *f) {
    double by_spring[2], by_shock[2], turned[2];
    const int n = lanes_of(c);
    int preload = JN_CORNER_NUMBER_preload;
#ifdef JN_KINDS
    preload = jn_kinds[JN_WHEEL_OF(c) / 2].preload[0];
#endif
    if (turned_by(s, c, n, preload, turned, f) || strut_partials(s, c, n, by_spring, by_shock, f)) return 1;
#ifdef JN_KINDS
    if (n == 2) { /* M is symmetric: from its columns for both springs, whose lengths mirror each other in roll */
        double other[2], m00, m11;
        if (turned_by(s, c, n, jn_kinds[JN_WHEEL_OF(c) / 2].preload[1], other, f)) return 1;
        m00 = by_spring[0] != 0.0 ? (turned[0] + other[0]) / (2 * by_spring[0]) : 0.0;
        m11 = by_spring[1] != 0.0 ? (turned[1] - other[1]) / (2 * by_spring[1]) : 0.0;
        *spring = by_spring[0] * by_spring[0] * m00 + by_spring[1] * by_spring[1] * m11;
        *shock = by_shock[0] * by_shock[0] * m00 + by_shock[1] * by_shock[1] * m11;
        return 0;
    }
#endif
    *spring = by_spring[0] * turned[0];
    *shock = by_spring[0] != 0.0 ? by_shock[0] * by_shock[0] * turned[0] / by_spring[0] : 0.0;
    return 0;
}

/* The largest of the three for a force on a point of the body. */
static int body_mobility(probe *s, const double *point, double *mobility, jn_fault *f) {
    double *force = s->u + JN_U_chassis_ext_force_x, *moment = s->u + JN_U_chassis_ext_moment_x;
    int axis, pass, k;
    *mobility = 0.0;
    for (axis = 0; axis < 3; axis++) {
        double push[3] = {0.0}, before = 0.0;
        push[axis] = PROBE;
        for (pass = 0; pass < 2; pass++) {
            const double *a = s->e.acceleration;
            double at[3];
            for (k = 0; k < 3; k++) {
                const int i = (k + 1) % 3, j = (k + 2) % 3;
                force[k] = pass * push[k];
                moment[k] = pass * (point[i] * push[j] - point[j] * push[i]);
            }
            if (jn_evaluate(0.0, 0.0, s->x, s->u, s->d, &s->e, f)) return 1;
            for (k = 0; k < 3; k++) {
                const int i = (k + 1) % 3, j = (k + 2) % 3;
                at[k] = a[3 + k] + a[i] * point[j] - a[j] * point[i];
            }
            if (pass && (at[axis] - before) / PROBE > *mobility) *mobility = (at[axis] - before) / PROBE;
            before = at[axis];
        }
        memset(force, 0, 3 * sizeof *force);
        memset(moment, 0, 3 * sizeof *moment);
    }
    return 0;
}

/* Refuses p[k] if its `share` of stiffness (order 2) or damping (order 1) acts on a mass that is too small for the tick.
 * `times` is the stiffness or damping per unit of p[k]. */
static int stiff(const probe *s, int k, double times, double mobility, int order, jn_fault *f) {
    const double h = s->p[JN_P_tick], most = pow(JN_STABLE / h, order) / (mobility * times);
    if (!(mobility * times > 0.0) || fabs(s->p[k]) <= most) return 0;
    return jn_refuse(f, JN_ROW_P + k, s->p[k],
                     "too stiff for RK4 at a tick of %.0f us; expected at most %.0f, or a shorter tick, or integrator "
                     "ROSENBROCK", 1e6 * h, floor(most));
}

static int refuse_axle(probe *s, const jn_axle *axle, jn_fault *f) {
    const double *p = s->p, reach = p[axle->rest_length] - p[axle->min_length];
    double spring, shock;
    size_t i;
    int k;
    if (strut_mobility(s, axle->lane, &spring, &shock, f)) return 1;
    for (i = 0; i < sizeof axle->dampers / sizeof *axle->dampers; i++)
        if (stiff(s, axle->dampers[i], 1.0, shock, 1, f)) return 1;
    if (stiff(s, axle->end_stiffness, 1.0, shock, 2, f)) return 1;
    if (stiff(s, axle->k1, 1.0, spring, 2, f)) return 1;
    if (stiff(s, axle->k3, 3.0 * reach * reach, spring, 2, f)) return 1;
    for (k = 1; k < 11; k++) {
        const int force = axle->stop_force + k, depth = axle->stop_depth + k;
        const double slope = (p[force] - p[force - 1]) / (p[depth] - p[depth - 1]);
        if (p[force] > 0.0 && stiff(s, force, slope / p[force], spring, 2, f)) return 1;
    }
    return 0;
}

static int refuse_tire(probe *s, jn_fault *f) {
    const jn_stiffness *of;
    double at[JN_AXLES][3], most = 0.0;
    int a;
    for (a = 0; a < JN_AXLES; a++) {
        if (wheel_mobility(s, jn_axles[a].lane, at[a], f)) return 1;
        at[a][2] *= JN_TIRES(a); /* of both tires, which act together */
        if (at[a][2] > most) most = at[a][2];
    }
    for (of = jn_tire_stiffness; of->row >= 0; of++) {
        const int one = of->axle < 0 ? 0 : of->axle;
        const double depth = jn_rim_reached(s->d, jn_axles[one].lane);
        if (!of->tread && stiff(s, of->row, of->factor * pow(depth, of->power), of->axle < 0 ? most : at[one][2],
                                of->order, f))
            return 1;
    }
    return 0;
}

/* What acts on a steering wheel that is turned by torque, with the linkage behind it and without assist. */
static int refuse_column(probe *s, jn_fault *f) {
#if JN_POWERTRAIN
    const double *p = s->p;
    double rate[2], mobility;
    int k;
    if (s->d[D_BY_TORQUE] == 0.0) return 0;
    s->d[D_COLUMN + JN_COLUMN_NUMBER_assist_most] = 0.0;
    for (k = 0; k < 2; k++) {
        s->u[JN_U_steering_wheel_torque] = k;
        if (jn_turn_wheel(s->x, s->u, s->d, &s->e, f)) return 1;
        rate[k] = s->e.column[JN_COLUMN_steering_wheel_rate];
    }
    s->u[JN_U_steering_wheel_torque] = 0.0;
    mobility = rate[1] - rate[0];
    return stiff(s, JN_P_steering_stop_stiffness, AT_LOCK, mobility, 2, f) ||
           stiff(s, JN_P_steering_stop_damping, 1.0, mobility, 1, f) ||
           stiff(s, JN_P_steering_damping, 1.0, mobility, 1, f) ||
           stiff(s, JN_P_steering_friction, AT_LOCK / p[JN_P_steering_friction_angle], mobility, 2, f);
#else
    (void)s, (void)f;
    return 0;
#endif
}

int jn_refuse_stiff(const double *p, const double *d, jn_fault *f) {
    double most = 0.0;
    probe s;
    int a, g, k;
    begin(&s, p, d);
    for (a = 0; a < JN_AXLES; a++)
        if (refuse_axle(&s, jn_axles + a, f)) return 1;
    if (refuse_tire(&s, f) || refuse_column(&s, f)) return 1;
    for (g = 0; g < N_POINTS; g++)
        for (a = 0; a < JN_AXLES; a++) { /* left side: the other is its mirror image */
            const int c = jn_axles[a].lane;
            double point[3], mobility;
            for (k = 0; k < 3; k++) point[k] = lane(s.d + D_OUTLINE, JN_POINT_N * g + JN_POINT_point + k, c);
            if (body_mobility(&s, point, &mobility, f)) return 1;
            if (mobility > most) most = mobility;
        }
    return stiff(&s, JN_P_chassis_contact_stiffness, 1.0, most, 2, f) ||
           stiff(&s, JN_P_chassis_contact_damping, 1.0, most, 1, f) ||
           stiff(&s, JN_P_chassis_contact_friction_damping, 1.0, most, 1, f);
}
