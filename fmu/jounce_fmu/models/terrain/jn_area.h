/* The area of a wheel's disc that lies in the ground, in place of one point of contact: docs/roads.md. */
#ifndef JN_AREA_H
#define JN_AREA_H

/* Points of a rim, an odd number within 80 deg of its lowest one: their sines, then their cosines. */
enum { JN_RIM = 127, JN_RIM_SIZE = 2 * JN_RIM, JN_STRIPS = 3 };

typedef struct {
    double deflection;        /* on flat ground with the same area [m] */
    double ahead, up;         /* direction of the force, a unit vector in the wheel's plane */
    double share;             /* of the force on flat ground with that deflection */
    double aside;             /* where it acts across the tire, in strips to the left */
    double part[JN_STRIPS];   /* of the area, on each strip */
} jn_area;

/* Sines and cosines of so many points. */
void jn_area_rim(double *rim, int points);
/* For the heights of the ground above the points of the rim in a range, along the wheel's up direction [m], of one strip
 * after the other from right to left, up to JN_STRIPS; points elsewhere do not touch. 0 where none does. */
int jn_area_of(const double *rim, int points, double radius, int from, int to, const double *above, int strips, jn_area *a);

#endif
