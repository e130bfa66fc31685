/* See jn_rut.h. */
#include "jn_rut.h"

#include <math.h>

#define SPACING 0.05 /* of the places [m] */

/* Box of a block of places: its lower and upper x, y. */
enum { LOW_X, HIGH_X, LOW_Y, HIGH_Y };

static double outside(double v, double low, double high) { return v < low ? low - v : v > high ? v - high : 0.0; }

/* Index of the nearest place of a rut within a distance, or -1; the first of equals. */
static int nearest(const double *rut, double x, double y, double reach) {
    const double *at = rut + 2, *box = at + 3 * JN_RUT;
    const int n = (int)rut[1];
    double best = reach * reach;
    int from, found = -1;
    for (from = 0; from < n; from += JN_RUT_BLOCK, box += 4) {
        const double out_x = outside(x, box[LOW_X], box[HIGH_X]), out_y = outside(y, box[LOW_Y], box[HIGH_Y]);
        const int end = from + JN_RUT_BLOCK < n ? from + JN_RUT_BLOCK : n;
        int i;
        if (!(out_x * out_x + out_y * out_y < best)) continue;
        for (i = from; i < end; i++) {
            const double dx = at[i] - x, dy = at[JN_RUT + i] - y, square = dx * dx + dy * dy;
            if (square < best) best = square, found = i;
        }
    }
    return found;
}

double jn_rut_depth(const double *rut, double x, double y, double reach) {
    const int i = nearest(rut, x, y, reach);
    return i < 0 ? 0.0 : rut[2 + 2 * JN_RUT + i];
}

/* Bounds of the block that place i is in. */
static void bound(double *rut, int i) {
    const double *at = rut + 2;
    const int from = i / JN_RUT_BLOCK * JN_RUT_BLOCK, n = (int)rut[1];
    const int end = from + JN_RUT_BLOCK < n ? from + JN_RUT_BLOCK : n;
    double *box = rut + 2 + 3 * JN_RUT + from / JN_RUT_BLOCK * 4;
    box[LOW_X] = box[HIGH_X] = at[from], box[LOW_Y] = box[HIGH_Y] = at[JN_RUT + from];
    for (i = from + 1; i < end; i++) {
        box[LOW_X] = fmin(box[LOW_X], at[i]), box[HIGH_X] = fmax(box[HIGH_X], at[i]);
        box[LOW_Y] = fmin(box[LOW_Y], at[JN_RUT + i]), box[HIGH_Y] = fmax(box[HIGH_Y], at[JN_RUT + i]);
    }
}

void jn_rut_press(double *rut, double x, double y, double depth) {
    double *at = rut + 2;
    int i = nearest(rut, x, y, SPACING);
    if (i >= 0) {
        if (depth > at[2 * JN_RUT + i]) at[2 * JN_RUT + i] = depth;
        return;
    }
    i = (int)rut[0];
    at[i] = x, at[JN_RUT + i] = y, at[2 * JN_RUT + i] = depth;
    rut[0] = (i + 1) % JN_RUT;
    if (rut[1] < JN_RUT) rut[1] += 1.0;
    bound(rut, i);
}
