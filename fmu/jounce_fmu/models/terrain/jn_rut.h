/* The ruts of one side of a vehicle: the last places that its wheels have pressed, and how deep. */
#ifndef JN_RUT_H
#define JN_RUT_H

enum {
    JN_RUT = 1024, /* places */
    JN_RUT_BLOCK = 32, /* places, one after the other, that have a box around them */
    /* where the next one goes, how many there are, then x, y, depth [m] of each, then the boxes */
    JN_RUT_SIZE = 2 + 3 * JN_RUT + 4 * (JN_RUT / JN_RUT_BLOCK)
};

/* Depth of the rut at a place [m], within `reach` of it; 0 where there is none. */
double jn_rut_depth(const double *rut, double x, double y, double reach);
/* Deepens the rut at a place, or lengthens it. */
void jn_rut_press(double *rut, double x, double y, double depth);

#endif
