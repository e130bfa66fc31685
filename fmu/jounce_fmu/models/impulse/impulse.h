/* The impulse engine: rigid bodies in maximal coordinates, stepped at the level of velocities.
 *
 * One tick of h solves  M (v1 - v0) = h f + J^T L,  J v1 + cfm L + b = 0  for the velocities v1 and the impulses L.
 * Positions live at whole ticks n, velocities at n - 1/2. Lesiv 2011, Eqs. 4-8, 16-23, with corrections:
 *   joint rows     b = h/2 times their velocity-product term, so that they hold to second order
 *   damper rows    cfm = 2 / (h c), b = rate before: damped by the mean of both rates
 *   tire rows      the same along the normal; a deflection with relaxation length along the ground
 * Rows with cfm > 0 are eliminated on the spot: they add J^T J / cfm to M and -J^T b / cfm to the right side. What is
 * left is K = [M J^T; J 0], factored as L D L^T with a fixed order and pattern. A wheel that is symmetric about its
 * axle is no body: its carrier has its mass, and its angular velocity about the axle [rad/s, against the world] is a
 * coordinate of its own, which makes M block diagonal.
 *
 * Integer tables (jounce.architecture.layout) tell what there is, numbers d what it measures. Nothing is kept between
 * ticks but x.
 */
#ifndef IMPULSE_H
#define IMPULSE_H

enum { IMP_BALL, IMP_HINGE, IMP_SLIDER, IMP_LINE, IMP_ROD };
enum { IMP_ALONG, IMP_DISTANCE, IMP_ANGLE };
/* Kinds of contact: a tire with a deflection along the ground; rows without any stiffness; a tire whose rows along the
 * ground have none (the paper's friction). */
enum { IMP_RELAXED, IMP_RIGID, IMP_STUCK };

/* What the paper does and this engine does not, for comparison: bits of `options`. */
enum { IMP_STRAIGHT_ROWS = 1, IMP_NO_PROJECTION = 2, IMP_OLD_DAMPERS = 4, IMP_EARLY_TIRES = 8 };
#define IMP_OPEN 0.01   /* residual of a joint that has come apart [m] or [1] */
#define IMP_NEVER 1e30 /* bias of a one-sided row that does nothing */

enum { IMP_PASSES = 8, IMP_UNSETTLED = 10, IMP_PIECES = 8 };
enum { IMP_STRIKES = 20, IMP_MOST_BODIES = 64, IMP_MOST_ROWS = 512 }; /* of impacts in a tick; for sweeps, impacts */

/* Sizes of the records in d. */
enum {
    IMP_D_BODY = 10,    /* drawn centre 3, mass, inertia xx yy zz xy xz yz */
    IMP_D_SPIN = 4,     /* inertia about the axle, axle 3 */
    IMP_D_JOINT = 28,   /* point in a 3, point in b 3, triad in a 9, triad in b 9, length, way of a rod's point in b
                           per radian of the steering wheel 3 */
    IMP_D_SPRING = 13,  /* point in a 3, point in b 3, direction in b 3, stiffness, damping, preload, drawn length */
    IMP_D_MOTOR = 3,    /* axis in a */
    IMP_D_LIMIT = 14,   /* point in a 3, point in b 3, axis in b 3, lower, upper, normal to the axis in b 3 (angle) */
    IMP_D_CONTACT = 12, /* centre in body 3, axle in body 3, radius, stiffness, damping, stiffness along the ground
                           (without any: compliance over h), relaxation length, restitution */
    IMP_D_PIECE = 7     /* of the road: order 1 to 3 or 4 for bumps, place, factor or height, length, side, pitch, count */
};

typedef struct {
    int bodies, spins, joints, springs, motors, limits, contacts, joint_rows, hard, unknowns, values, entries, pairs, options;
    const int *spin_body;  /* [spins] carrier */
    const int *joint;      /* [joints][3] kind, a, b */
    const int *spring;     /* [springs][4] IMP_ALONG or IMP_DISTANCE, a, b, 1 + its pair, or minus that where b comes
                              first; 0 where one of them is the ground */
    const int *motor;      /* [motors][3] a, b, spin or -1 */
    const int *limit;      /* [limits][3] measure, a, b */
    const int *contact;    /* [contacts][4] body, spin or -1, kind, first of its rows in K or -1 */
    const int *place;      /* [unknowns] place of an unknown in the order of elimination */
    const int *unknown;    /* [unknowns] the unknown at a place */
    const int *column;     /* [unknowns + 1] where the upper columns of K begin in the next two */
    const int *column_row, *column_value;
    const int *pattern;    /* [unknowns + 1] where the rows of L begin in the next */
    const int *pattern_column, *pattern_entry; /* the column, and the place of the entry among those of L */
    const int *start;      /* [unknowns + 1] where the columns of L begin in the next */
    const int *row;
    const int *hard_body;  /* [hard][3] a, b, spin of each row of J in K, or -1 */
} imp_topology;

/* One row: its parts for bodies a and b and a spin. L is its impulse. */
typedef struct {
    double a[6], b[6], s, cfm, bias, L;
} imp_row;

/* Where parts of the numbers begin. */
typedef struct {
    const double *gravity, *body, *spin, *joint, *spring, *motor, *limit, *contact, *road;
} imp_numbers;

/* Parts of the state. Those from `before` on are written in a tick and not read, but `unsettled`. */
typedef struct {
    double *body;   /* [bodies][13] centre 3, quaternion 4, velocity 3, angular velocity 3 in world axes */
    double *spin;   /* [spins][2] angle against the carrier, angular velocity against the world */
    double *tire;   /* [contacts][2] deflection along the ground, forward and left */
    double *before; /* [bodies][6], [spins] velocities before the tick */
    double *hard;   /* [hard] forces of the rows */
    double *spring; /* [springs] forces, pushing apart */
    double *force;  /* [contacts][4] of the ground forward, left and along its normal, and the deflection of the tire */
    double *misc;   /* closure, changes of the active set, ticks unsettled, contact unsettled */
} imp_state;
enum { IMP_CLOSURE, IMP_CHANGES, IMP_TICKS_UNSETTLED, IMP_WHO, IMP_MISC };

/* What a tick is told. */
typedef struct {
    const double *motor;    /* [motors][2] target and bound */
    const double *friction; /* [contacts] */
    const double *torque;   /* [spins] on the wheel, against its carrier; or NULL */
    double steer, steer_rate; /* of the steering wheel, at the time of the pose and until the next */
    int sweeps;             /* 0: direct; else sequential impulses */
    double *warm;           /* [rows] their impulses, to begin the sweeps with; or NULL */
    const double *ground;   /* [contacts][2] how high the road is lifted, and its rate in the tick; or NULL */
} imp_input;

enum { IMP_OK, IMP_PIVOT, IMP_NAN, IMP_BELOW, IMP_ACTIVE, IMP_OPENED };
typedef struct {
    int kind, index; /* index: unknown, unknown, contact, contact or -2 less the row of a motor or limit, row */
    double value;
} imp_fault;

#endif
