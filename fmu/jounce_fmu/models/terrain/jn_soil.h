/* Soft soil under one wheel: Bekker's pressure and Janosi and Hanamoto's shear over the arc in contact, after Wong and
 * Reece, with the tire's spring in series. See docs/soil.md for the equations and their sources.
 *
 * A pure function of the wheel's motion, three states (shear of the soil along and across, distance rolled) and what is
 * remembered of the soil, which changes between ticks only.
 */
#ifndef JN_SOIL_H
#define JN_SOIL_H

enum {
    JN_RUT = 1024, /* places of a rut, for each side of the vehicle */
    JN_RUT_SIZE = 2 + 3 * JN_RUT /* where the next one goes, how many there are, then x, y, depth [m] of each */
};

/* Places of a soil's numbers. */
enum {
    JN_SOIL_n,
    JN_SOIL_k,        /* k_c / b + k_phi [Pa/m^n] */
    JN_SOIL_cohesion, /* [Pa] */
    JN_SOIL_tan_phi,
    JN_SOIL_K,   /* shear modulus [m] */
    JN_SOIL_k_u, /* unloading [Pa/m] */
    JN_SOIL_radius,
    JN_SOIL_width,
    JN_SOIL_stiffness, /* of the tire [N/m], [N/m2] */
    JN_SOIL_quadratic,
    JN_SOIL_damping, /* [N.s/m] */
    JN_SOIL_rim,     /* deflection at which the rim is reached [m] */
    JN_SOIL_rim_stiffness,
    JN_SOIL_N
};

/* What a wheel remembers. */
enum {
    JN_SOIL_deepest, /* sinkage down to which the soil under the wheel has been pressed [m] */
    JN_SOIL_before,  /* depth of the rut that the wheel meets [m] */
    JN_SOIL_guess,   /* sinkage at the last tick [m] */
    JN_SOIL_x,       /* where that was [m] */
    JN_SOIL_y,
    JN_SOIL_MEMORY
};

/* Axes of the contact: along the wheel's heading, to the left, along the ground's normal. */
typedef struct {
    double depth;       /* of the wheel's lowest point below the ground [m] */
    double velocity[3]; /* of the wheel's centre [m/s] */
    double spin;        /* about the spin axis [rad/s] */
    double shear[2], rolled; /* states [m] */
} jn_soil_motion;

typedef struct {
    double sinkage, deflection; /* of the soil, of the tire [m] */
    double force[3];            /* on the wheel [N] */
    double moment[3];           /* about its centre [N.m]: about heading, spin axis, normal */
    double resistance;          /* motion resistance, as compaction makes it at this sinkage [N] */
    double rates[3];            /* of shear and rolled [m/s] */
    double slip;
} jn_soil_contact;

/* The state `rolled` of a wheel that has rolled forward for long [m]. */
double jn_soil_settled(const double *soil);
void jn_soil(const double *soil, const double *memory, const jn_soil_motion *m, jn_soil_contact *c);

/* Depth of the rut at a place [m], within `reach` of it; 0 where there is none. */
double jn_rut_depth(const double *rut, double x, double y, double reach);
/* Deepens the rut at a place, or lengthens it. */
void jn_rut_press(double *rut, double x, double y, double depth);
/* What a wheel that has come to x, y with a sinkage remembers; it heads along `ahead` and goes that way (1) or back (-1). */
void jn_soil_remember(const double *soil, double *memory, double *rut, double x, double y, const double *ahead, double way,
                      double sinkage);

double jn_exp(double x);
double jn_log(double x); /* x > 0 */

#endif
