/* A terrain in a packed file (.jnt, jounce.terrain.packed): heights over a straight grid or along a road, obstacles on
 * them, and friction. A query is a pure function of the place, without allocation, and without memory of the last one.
 */
#ifndef JN_TERRAIN_H
#define JN_TERRAIN_H

#include <stddef.h>

#include "jn_model.h"

enum { JN_HEIGHTMAP = 1, JN_ROAD = 2, JN_PROFILE = 3 }; /* kinds of files */

typedef struct jn_terrain jn_terrain; /* begins with a jn_resource */

/* The ground at a place. Beyond the edge of a terrain that asks for it `off` is 1; the heights are then those of the edge. */
typedef struct {
    double height;   /* m */
    double slope[2]; /* d height / dx, d height / dy */
    double bend[3];  /* second derivatives xx, xy, yy [1/m]; 0 across the lines between cells */
    double friction;
    int off;
} jn_ground;

/* Opens a file, which is mapped read-only where the system can, so that instances share it. NULL and the reason in
 * `why` if it is missing, cut, damaged or of another version. */
jn_terrain *jn_terrain_open(const char *path, char *why, size_t size);
void jn_terrain_close(jn_terrain *t);
int jn_terrain_kind(const jn_terrain *t);
/* Heights alone, of n > 0 places on one lane or four: those of queries. */
void jn_terrain_heights(const jn_terrain *t, const double *x, const double *y, int n, int lanes, double *z);
/* A small piece of ground: its middle, and half its edges [m]. */
typedef struct { double x, y, half[3][2]; } jn_patch;
/* A height above which the ground is nowhere in it; HUGE_VAL where that is not known at once. */
double jn_terrain_highest(const jn_terrain *t, const jn_patch *patch);
/* Place of a point along and across a road [m], and its derivatives by x and y; 0 if the terrain is no road. */
typedef struct { double u, v, u_by[2], v_by[2]; } jn_place;
int jn_terrain_place(const jn_terrain *t, double x, double y, jn_place *at);
/* Whether an obstacle, or the ground between two neighbouring points, has a steeper slope than that; the text says where. */
int jn_terrain_edge(const jn_terrain *t, double limit, char *text, size_t size);
/* Whether the ground at a place is only that of the edge, which goes on there (CLAMP); the text says how far out it is. */
int jn_terrain_beside(const jn_terrain *t, double x, double y, char *text, size_t size);
/* Whether places have different friction. */
int jn_terrain_has_friction(const jn_terrain *t);
void jn_terrain_query(const jn_terrain *t, double x, double y, jn_ground *g);
/* The ground at one place, or at four on the lanes of jn_lanes.h, with the bits of queries: rows of numbers side by side. */
enum { JN_GROUND_HEIGHT, JN_GROUND_SLOPE_X, JN_GROUND_SLOPE_Y, JN_GROUND_FRICTION, JN_GROUND_OFF, JN_GROUND_N };
void jn_terrain_under_1(const jn_terrain *t, const double *x, const double *y, double *rows);
void jn_terrain_under_4(const jn_terrain *t, const double *x, const double *y, double *rows);

#endif
