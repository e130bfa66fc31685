/* The area of a wheel's disc that lies in the ground, in place of one point of contact: docs/roads.md. */
#ifndef JN_AREA_H
#define JN_AREA_H

enum { JN_RIM = 31, JN_RIM_SIZE = 2 * JN_RIM }; /* points of the rim, within 80 deg of its lowest one; their sines, cosines */

typedef struct {
    double deflection;        /* on flat ground with the same area [m] */
    double ahead, up;         /* direction of the force, a unit vector in the wheel's plane */
    double share;             /* of the force on flat ground with that deflection */
} jn_area;

/* Sines and cosines of the points. */
void jn_area_rim(double *rim);
/* For the heights of the ground above each point of the rim, along the wheel's up direction [m]; 0 where none touches. */
int jn_area_of(const double *rim, double radius, const double *above, jn_area *a);

#endif
