/* Soft soil under one wheel: Bekker's pressure and Janosi and Hanamoto's shear over the arc in contact, after Wong and
 * Reece, with the tire's spring in series. See docs/soil.md for the equations and their sources.
 *
 * A pure function of the wheel's motion, three states (shear of the soil along and across, distance rolled) and what is
 * remembered of the soil, which changes between ticks only.
 */
#ifndef JN_SOIL_H
#define JN_SOIL_H

#include "jn_rut.h"

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
    /* what follows from those: pressure that made the rut [Pa], depth of its surface, and of the deepest sinkage the load
     * [N], where the arc begins [m], the soil's stiffness, and the load's growth with the sinkage [N/m] */
    JN_SOIL_most,
    JN_SOIL_edge,
    JN_SOIL_load,
    JN_SOIL_entry,
    JN_SOIL_stiff,
    JN_SOIL_slope,
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

/* Whether soil that was pressed before is pressed deeper or unloads. A tick ends where both meet; from there it is as the
 * wheel moves. */
enum { JN_SOIL_EITHER, JN_SOIL_LOADS, JN_SOIL_UNLOADS };

/* A wheel: its soil's numbers, what it remembers, its motion, and the contact that follows. `branch` says which of the two
 * it is to be, and then which it was: difference quotients keep to one. */
typedef struct {
    const double *soil, *memory;
    jn_soil_motion motion;
    jn_soil_contact contact;
    int branch;
} jn_soil_wheel;

/* The contacts of one wheel, or of four on four lanes: with the same bits. */
void jn_soil(jn_soil_wheel *wheels, int n);
/* The state `rolled` of a wheel that has rolled forward for long [m]. */
double jn_soil_settled(const double *soil);

/* What a wheel that has come to x, y with a sinkage remembers; it heads along `ahead` and goes that way (1) or back (-1). */
void jn_soil_remember(const double *soil, double *memory, double *rut, double x, double y, const double *ahead, double way,
                      double sinkage);
/* After that: what follows from it, for one wheel or four. */
void jn_soil_load(const double *const *soils, double *const *memories, int n);

#endif
