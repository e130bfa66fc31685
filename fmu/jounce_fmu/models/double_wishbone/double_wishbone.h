/* Internals of the vehicle's model: derived numbers, and one evaluation of the recursion.
 * Each wheel has a lane; number k of lane c is at [JN_CORNERS k + c]. The number of lanes is a multiple of four: further
 * lanes are copies of the last wheel; with one lane at a time they are not computed. Nothing may depend on them.
 */
#ifndef DOUBLE_WISHBONE_H
#define DOUBLE_WISHBONE_H

#include "double_wishbone_axles.h"
#include "double_wishbone_layout.h"
#include "double_wishbone_table.h"
#include "jn_model.h"
#include "jn_area.h"
#include "jn_soil.h"
#include "jn_terrain.h"
#if JN_POWERTRAIN
#include "driveline_layout.h"
#include "powertrain_layout.h"
#endif

/* Largest |eigenvalue| times tick that is taken: RK4 holds 2.78 on the real axis and 2.83 on the imaginary one (Hairer,
 * Wanner, Solving Ordinary Differential Equations II, IV.2, fig. 2.1). */
#define JN_STABLE 2.5

/* What is seldom called, the tangents and one lane at a time, is not optimized where JN_SOON is defined. */
#if defined(JN_SOON) && defined(__GNUC__) && !defined(__clang__)
#define JN_SELDOM _Pragma("GCC push_options") _Pragma("GCC optimize(\"O0\")")
#define JN_OFTEN _Pragma("GCC pop_options")
#else
#define JN_SELDOM
#define JN_OFTEN
#endif

/* Tires of each wheel of an axle. */
#ifndef JN_DUAL
#define JN_TIRES(axle) 1
#endif

/* What kinds of suspension add that are made from a mechanism (jounce.models.double_wishbone.kinds_c). */
#ifndef JN_EMBEDDED_NUMBERS
#define JN_EMBEDDED_NUMBERS 0
#endif
#ifndef JN_CORNER_ROWS
#define JN_CORNER_ROWS JN_CORNER_N
#endif
#ifdef JN_PAIRED
#define JN_PASSES 2 /* of the Jacobian: one for each side of the wheels that share a body */
#else
#define JN_PASSES 1
#endif
#ifdef JN_LOOPED
#define JN_GUESS_ROWS (3 + 6 + JN_GUESS_CAPACITY) /* degrees, JN_GUESS_coefficients of jn_chebyshev.h, coefficients */
#else
#define JN_CLOSE_ROWS 0
#define JN_GUESS_ROWS 0
#endif

enum {
    JN_CORNER_NUMBERS = JN_EMBEDDED_NUMBERS > JN_CORNER_NUMBER_N ? JN_EMBEDDED_NUMBERS : JN_CORNER_NUMBER_N,
    N_POINTS = 3, /* of the body's outline that belong to a corner */
    JN_SUMS = (JN_ARTICULATED_BODY_epsilon + 3) / 4 * 4, /* what the chassis takes from a corner, in whole blocks of four */
    /* places in d */
    D_CORNERS = 0,
    D_AXIAL = D_CORNERS + JN_CORNERS * JN_CORNER_NUMBERS,
    D_WHEELS = D_AXIAL + JN_CORNERS * 2,
    D_INNER = D_WHEELS + JN_CORNERS * JN_WHEEL_NUMBER_N,
    D_OUTLINE = D_INNER + JN_CORNERS * JN_INNER_NUMBER_N, /* points of the body, N_POINTS a corner */
    D_LINKAGE = D_OUTLINE + JN_CORNERS * N_POINTS * JN_POINT_N,
    D_CHASSIS = D_LINKAGE + JN_LINKAGE_N, /* JN_CHASSIS_NUMBER_... */
    D_CONTACT = D_CHASSIS + JN_CHASSIS_NUMBER_N,
    D_BOX = D_CONTACT + JN_CONTACT_N, /* around the outline: lower, upper bound of x, y, z */
    D_REACH = D_BOX + 6, /* squared distance of its corners from the z axis */
    D_GROUND,        /* a point of the plane */
    D_NORMAL = D_GROUND + 3,
    D_FRICTION = D_NORMAL + 3,
    D_HEIGHT_ONLY, /* 1: terrain under each wheel from the inputs */
    D_EXTERNAL,    /* 1: contact wrench from the inputs */
    D_RATIO,       /* steering-wheel angle over arm angle */
    D_TICK,
    D_TERRAIN,  /* 1: terrain from a file */
    D_RESOURCE, /* which one: JN_RESOURCE_NUMBERS */
    D_STORE = D_RESOURCE + JN_RESOURCE_NUMBERS, /* where it is */
    D_SOIL = D_STORE + 2, /* 1: soft soil under the wheels */
    D_AREA, /* 1: tires touch terrain files with an area */
    D_POINTS, /* of the rim */
    D_RIM,  /* JN_RIM_SIZE */
    D_STRIPS = D_RIM + JN_RIM_SIZE, /* from one strip of a tire to the next [m]; 0: one strip */
    D_SOILS = D_STRIPS + JN_CORNERS, /* JN_SOIL_..., one lane after the other */
    /* range of the arm angle in which every loop closes at any steering, by corner; empty if unknown */
    D_LOWEST = D_SOILS + JN_CORNERS * JN_SOIL_N,
    D_HIGHEST = D_LOWEST + JN_CORNERS,
    D_CLOSE = D_HIGHEST + JN_CORNERS, /* of the Newton steps, and of the first guess */
    D_GUESS = D_CLOSE + JN_CORNERS * JN_CLOSE_ROWS,
    D_END = D_GUESS + JN_CORNERS * JN_GUESS_ROWS,
#if JN_POWERTRAIN
    N_SHAFTS = 2 * JN_DRIVEN_AXLES, /* half shafts */
    D_COLUMN = D_END, /* JN_COLUMN_NUMBER_... */
    D_BY_TORQUE = D_COLUMN + JN_COLUMN_NUMBER_N, /* 1: a torque turns the steering wheel */
    D_SHAFTS, /* JN_SHAFT_... of each wheel */
    D_INBOARD = D_SHAFTS + JN_CORNERS * JN_SHAFT_N, /* of each wheel whose brake is at the inner end of its half shaft */
    D_POWER = D_INBOARD + JN_CORNERS, /* JN_POWER_NUMBER_... */
    D_DRIVELINE = D_POWER + JN_POWER_NUMBER_N, /* driveline.h */
    JN_END_ROWS = JN_X_powertrain, /* of what each wheel has */
#else
    JN_N_D = D_END,
    JN_END_ROWS = JN_FIRST_MEMORY,
#endif
    N_POWER = JN_FIRST_MEMORY - JN_END_ROWS,
    /* The state vector outside, where a wheel's numbers stand once: rows of JN_WHEELS in place of JN_CORNERS. */
    N_ROWS = (JN_END_ROWS - JN_X_spin) / JN_CORNERS,
    N_INNER = (JN_END_ROWS - JN_FIRST_INNER) / JN_CORNERS, /* of a wheel, of its tire and brake */
    N_MEMORY = JN_X_N - JN_FIRST_MEMORY,
    X_POWERTRAIN = JN_X_spin + N_ROWS * JN_WHEELS,
    N_STATES = X_POWERTRAIN + N_POWER, /* before the memory */
#if JN_POWERTRAIN
    X_GEARBOX = N_STATES + JN_X_gearbox - JN_FIRST_MEMORY,
    SPIN_RATE_ROW = (JN_X_spin_rate - JN_X_spin) / JN_CORNERS,
#endif
    X_THETA = JN_X_spin + JN_WHEELS,
    /* The store: what each wheel remembers of the soil, then the ruts of the left and right side. */
    STORE_RUTS = JN_WHEELS * JN_SOIL_MEMORY,
    N_STORE = STORE_RUTS + 2 * JN_RUT_SIZE
};
#if JN_POWERTRAIN
#include "driveline.h"
#endif

/* Two points that must not coincide, by the rows of their x in p. */
typedef struct {
    int from, to;
    const char *what, *axle;
} jn_apart;

/* p[row] must be above p[below]. */
typedef struct {
    int row, below;
    const char *expected;
} jn_rising;

/* Rows in p of an axle's springs and shocks, and the lane of its left wheel. */
typedef struct {
    int lane, k1, k3, rest_length, min_length, stop_depth, stop_force, end_stiffness, dampers[5];
    const char *loops[2]; /* names of the loops that must close */
} jn_axle;

/* A parameter that makes the contact of the tires stiff: factor deflection^power of it is their stiffness (order 2) or
 * damping (order 1), along the normal or the tread. */
typedef struct {
    int row, order, tread; /* row -1: no more */
    double factor;
    int power, axle; /* whose tires it is of, or -1: those of all */
} jn_stiffness;

/* A sum of coefficients of tires that keeps its sign over a range (jounce.contact.tires.coefficients.Factor). */
typedef struct {
    const char *what;
    int over, first, rows[2]; /* rows in p, or -1: 1 for the first, else none */
    double times[2];
    int powers[2];
    double least;
    int waves;
    const int *of; /* whose tires: the places in p of coefficients.JUDGED; NULL: no more */
} jn_factor;

/* The parameters that an emitted function reads, by their places in p. */
typedef struct {
    const int *rows;
    int n;
} jn_part;

/* What makes the derived numbers of one axle (axles_derive.inc). Corner numbers, spin axis (of both wheels where they
 * share a body) and numbers of the Newton steps of one side; how its inner tierod end moves, where it has one. */
typedef struct {
    void (*corner)(const double *in, double *corner, double *axial, double *close);
    void (*inner)(const double *in, double *inner);
    jn_part of_corner, of_inner, of_outline, of_wheel[2]; /* the last one of the left and the right wheel */
    double driven, gain, dual; /* distance of two tires on a side [m]; 0: one tire */
} jn_derivation;

/* An axle of a vehicle that has kinds of suspension made from a mechanism. */
typedef struct {
    const char *name;
    int paired;     /* its wheels share a body: the lanes of both belong together, and their coordinates are the axle's */
    int preload[2]; /* places among the corner numbers: of the springs' preloads, and of the wheel's design height */
    int height;
    int dependent; /* coordinates that the loops decide, without a closed form */
    const char *coordinates[2];
} jn_kind;
/* By lanes, of vehicles on other axles than the hmmwv's: where the drive torque reacts on the wheel's carrier; the same
 * for axles whose wheels share a body, and then their final drives' ratios. */
extern const int jn_on_carrier[JN_CORNERS];
extern const double jn_reaction[2 * JN_CORNERS];

#ifdef JN_KINDS
#define JN_IS_PAIR(axle) (jn_kinds[axle].paired)
#else
#define JN_IS_PAIR(axle) 0
#endif

/* Whether a lane is that of a wheel, and no copy of the last one. */
#define JN_HAS_WHEEL(lane) (JN_LANE_OF(JN_WHEEL_OF(lane)) == (lane))

/* States in lanes from those outside, and back without the memory. */
const double *jn_in_lanes(const double *x, double *lanes);
void jn_out_of_lanes(const double *lanes, double *x);

#if JN_POWERTRAIN
/* What the driveline takes, from before the forces of the tires are known. */
typedef struct {
    double speed[N_SHAFTS], given[JN_GIVEN_N];
    double held[2][JN_SIDES * JN_HELD_N]; /* clutches and differentials, where they stand side by side */
} jn_half_shafts;
#endif

/* Everything one evaluation computes. */
typedef struct {
    double inner[JN_CORNERS * JN_INNER_N]; /* motion of the inner tierod ends */
    double corner[JN_CORNERS * JN_CORNER_ROWS];
#ifdef JN_LOOPED
    double first[JN_CORNERS * JN_DEPENDENT], second[JN_CORNERS * JN_DEPENDENT], u[JN_CORNERS * JN_DEPENDENT];
#endif
    double wheel_inputs[JN_CORNERS * JN_WHEEL_INPUT_N];
    double wheel[JN_CORNERS * JN_WHEEL_N];
    double articulated_body[JN_CORNERS * JN_ARTICULATED_BODY_N];
    double back[JN_CORNERS * 2];  /* theta and spin accelerations */
    double acceleration[6];       /* chassis, angular and linear less gravity */
    double share[JN_CORNERS], aside[JN_CORNERS]; /* of the contact's force, with an area, and its place across the tire [m] */
    double sinkage[JN_CORNERS], resistance[JN_CORNERS]; /* on soft soil */
    int near;                     /* whether the body may touch the ground */
    double body[4];               /* force of the ground on it (world), energy stored there */
#if JN_POWERTRAIN
    double power[JN_DRIVELINE_N]; /* rates of the powertrain's states, and of the steering column's */
    double column[JN_COLUMN_N];
    double driveline[JN_DRIVELINE_REPORT_N];
    jn_half_shafts half_shafts;
    double half[N_SHAFTS], inertial[N_SHAFTS]; /* torques on the half shafts, of the driveline and of the shafts' inertia */
    double half_speed[JN_CORNERS]; /* of each wheel's half shaft */
    double disc[2 * JN_CORNERS]; /* torques of the brakes' discs on the wheels, rates of their wind-ups */
    double inboard[JN_CORNERS]; /* torques of brakes on the wheels that react where the half shafts' do */
    double port[JN_CORNERS * JN_PORT_N];
    /* Steered by torque: what the arm shows to the column, and what of its inertia no coordinate has. */
    double arm_port[JN_CORNERS * JN_ARM_PORT_N], arm_inertia[JN_CORNERS], arm_acceleration;
#endif
} jn_evaluation;

/* Data that the columns of the Jacobian share, and the tangents of the present column. */
typedef struct {
    jn_evaluation value, move;
    double back_by[6][JN_CORNERS * 2]; /* accelerations of the corners by those of the chassis */
    double total[JN_SUMS];
    const double *u;
} jn_pass;

/* Accelerations at a state (chassis axes), one corner at a time; tau seconds into a tick, while the Pitman arm
 * accelerates by arm_acceleration [rad/s2]. Fills the fault where a linkage cannot close. */
int jn_evaluate(double tau, double arm_acceleration, const double *x, const double *u, const double *d,
                jn_evaluation *e, jn_fault *f);

#if JN_POWERTRAIN
/* The same where a torque turns the steering wheel, with the rates of the column. */
int jn_turn_wheel(const double *x, const double *u, const double *d, jn_evaluation *e, jn_fault *f);
#endif

/* For a contact as in `starting` (JN_STARTING_...): the force that wheel c holds at rest [N], and the inner states of the
 * wheel at rest and rolling. */
void jn_wheel_start(const double *d, int c, const double *starting, double *grip, double *resting, double *rolling);

/* The unit vector along one of any length above 0. */
void jn_unit_normal(const double *v, double *unit);

/* Height and unit normal of the terrain file's ground at a place; 1 beyond its edge. */
int jn_ground_under(const double *d, double x, double y, double *height, double *normal);

/* Fills D_LOWEST and D_HIGHEST of derived numbers that are otherwise complete. */
void jn_arm_range(const double *p, double *d);

/* Refuses springs, dampers, stops, tires and body contacts with which RK4 is unstable at its tick. */
int jn_refuse_stiff(const double *p, const double *d, jn_fault *f);

/* Deflection of a tire that has its rim on the ground [m]. */
double jn_rim_reached(const double *d, int c);

/* jn_model.start: the design position, or rest on the terrain. */
int jn_start(const double *p, const double *d, const double *u, double *x, jn_fault *f);

#endif
