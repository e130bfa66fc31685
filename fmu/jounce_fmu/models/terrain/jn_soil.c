/* See jn_soil.h. */
#include "jn_soil.h"

#include <math.h>
#include <stddef.h>

#define JN_LANES 1
#include "jn_lanes.h"

#define LN2 0.69314718055994530942
#define RELAXATION 0.5   /* length over which the shear builds up when the slip changes, over the radius */
#define ASYMMETRY 0.1    /* distance after which the arc is one-sided, over the radius */
#define LEAD 0.01        /* damping of both at standstill [s] */
#define FLIGHT_RATE 50.0 /* at which states fade in the air [1/s] */
#define FORGETTING 0.25  /* distance over which a wheel meets other soil, over the radius */
#define ENTERING 0.1     /* the same for a rut [m] */
#define AHEAD 0.2        /* where a wheel looks for a rut [m] */
#define SPACING 0.05     /* of its places [m] */
#define ROUNDS 60
#define CLOSE 1e-14 /* step of the last round [m] */
#define SLOW 0.5    /* speed below which the slip that is shown is made small [m/s] */

enum { NODES = 8, EDGE = 3, ALL = NODES + EDGE };

/* Gauss and Legendre's nodes and weights on 0 to 1. */
static const double nodes[NODES] = {0.019855071751231884, 0.10166676129318664, 0.2372337950418355,  0.4082826787521751,
                                    0.5917173212478249,   0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
static const double weights[NODES] = {0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.18134189168918100,
                                      0.18134189168918100, 0.15685332293894363, 0.11119051722668724, 0.05061426814518813};
static const double edge_nodes[EDGE] = {0.1127016653792583, 0.5, 0.8872983346207417};
static const double edge_weights[EDGE] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* The same bits with every C library: + - * /, and the exact frexp and ldexp. */
double jn_exp(double x) {
    static const double by[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
                                1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0};
    const double k = floor(x * (1.0 / LN2) + 0.5);
    double y, sum = 1.0 / 87178291200.0;
    size_t n;
    if (x < -700.0) return 0.0;
    y = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    for (n = 0; n < sizeof by / sizeof *by; n++) sum = by[n] + sum * y;
    return ldexp(sum, (int)k);
}

double jn_log(double x) {
    static const double by[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0};
    int e;
    size_t n;
    double m = frexp(x, &e), s, square, sum = 1.0 / 21;
    if (m < 0.70710678118654752440) m *= 2.0, e--;
    s = (m - 1.0) / (m + 1.0);
    square = s * s;
    for (n = 0; n < sizeof by / sizeof *by; n++) sum = by[n] + square * sum;
    return e * 0.693147180369123816490 + (e * 1.90821492927058770002e-10 + 2.0 * s * sum);
}

static double positive(double v) { return v > 0.0 ? v : 0.0; }

static double virgin(const double *soil, double depth) {
    return depth > 0.0 ? soil[JN_SOIL_k] * jn_exp(soil[JN_SOIL_n] * jn_log(depth)) : 0.0;
}

/* Depth of the surface of a rut, which has risen again by its elastic part. */
static double surface(const double *soil, double before) { return positive(before - virgin(soil, before) / soil[JN_SOIL_k_u]); }

/* Half the chord of the wheel at a height above its lowest point [m]. */
static double half_chord(double radius, double height) {
    if (!(height > 0.0)) return 0.0;
    return height < radius ? sqrt(height * (2.0 * radius - height)) : radius;
}

/* The arc in contact of a wheel that has sunk in by z, into a rut. */
typedef struct {
    double x[ALL], by[ALL], pressure[ALL]; /* places ahead of the centre, their weights [m], pressures [Pa] */
    int n;
    double entry;  /* where it begins [m] */
    double load;   /* [N] */
    double stiffness; /* of the soil [N/m] */
} arc;

static void press(const double *soil, double before, double z, arc *a) {
    const double r = soil[JN_SOIL_radius], k_u = soil[JN_SOIL_k_u], most = virgin(soil, before), edge = surface(soil, before);
    const double fresh = half_chord(r, z - before);
    int i;
    a->entry = half_chord(r, z - edge);
    a->load = a->stiffness = 0.0;
    a->n = 0;
    for (i = 0; i < (fresh > 0.0 ? NODES : 0); i++) {
        const double x = nodes[i] * fresh, t = sqrt(r * r - x * x) - (r - z);
        const int k = a->n++;
        a->x[k] = x;
        a->by[k] = weights[i] * fresh;
        a->pressure[k] = virgin(soil, t);
        if (t > 0.0) a->stiffness += a->by[k] * soil[JN_SOIL_n] * a->pressure[k] / t;
    }
    for (i = 0; i < (a->entry > fresh ? EDGE : 0); i++) {
        const double width = a->entry - fresh, x = fresh + edge_nodes[i] * width, t = sqrt(r * r - x * x) - (r - z);
        const int k = a->n++;
        a->x[k] = x;
        a->by[k] = edge_weights[i] * width;
        a->pressure[k] = positive(most - k_u * (before - t));
        a->stiffness += a->by[k] * k_u;
    }
    for (i = 0; i < a->n; i++) a->load += a->by[i] * a->pressure[i];
    a->load *= soil[JN_SOIL_width];
    a->stiffness *= soil[JN_SOIL_width];
}

/* The tire's force at a deflection, and its stiffness. */
static double spring(const double *soil, double deflection, double *stiffness) {
    const double over = deflection - soil[JN_SOIL_rim];
    double force;
    *stiffness = soil[JN_SOIL_stiffness];
    if (!(deflection > 0.0)) return 0.0;
    force = deflection * (soil[JN_SOIL_stiffness] + deflection * soil[JN_SOIL_quadratic]);
    *stiffness += 2.0 * deflection * soil[JN_SOIL_quadratic];
    if (over > 0.0) force += over * soil[JN_SOIL_rim_stiffness], *stiffness += soil[JN_SOIL_rim_stiffness];
    return force;
}

/* Sinkage at which soil and tire carry the same; the arc is that of the deepest sinkage so far, and `share` the part of
 * its pressure that is there. */
static double share_depth(const double *soil, const double *memory, double depth, arc *a, double *share, double *stiffness) {
    const double deepest = memory[JN_SOIL_deepest], before = memory[JN_SOIL_before], edge = surface(soil, before);
    double z, force, tire, last = 0.0, was = 0.0, low = deepest > edge ? deepest : edge, high = depth;
    int i;
    press(soil, before, deepest, a);
    *share = 1.0;
    if (deepest > 0.0 && !(spring(soil, depth - deepest, &tire) > a->load)) { /* it has been pressed further */
        const double k = soil[JN_SOIL_k_u] * soil[JN_SOIL_width] * a->entry;
        *share = 0.0;
        *stiffness = k;
        if (!(a->load > 0.0) || depth <= deepest - a->load / k) return depth;
        z = depth < deepest ? depth : deepest;
        for (i = 0; i < ROUNDS; i++) {
            double step;
            force = spring(soil, depth - z, &tire);
            step = (a->load - k * (deepest - z) - force) / (k + tire);
            z -= step;
            if (fabs(step) < CLOSE) break;
        }
        *share = positive(1.0 - k * (deepest - z) / a->load);
        return z;
    }
    if (depth <= low) {
        *share = 0.0;
        *stiffness = 0.0;
        return depth;
    }
    z = memory[JN_SOIL_guess] > low && memory[JN_SOIL_guess] < high ? memory[JN_SOIL_guess] : high;
    for (i = 0; i < ROUNDS; i++) { /* Newton's method within bounds, then by secants */
        double off, next, slope;
        press(soil, before, z, a);
        off = a->load - spring(soil, depth - z, &tire);
        *stiffness = a->stiffness;
        if (off > 0.0) high = z;
        else low = z;
        slope = i && z != last ? (off - was) / (z - last) : a->stiffness + tire;
        next = z - off / slope;
        last = z, was = off;
        if (fabs(next - z) < CLOSE) break;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        z = next;
    }
    return z;
}

double jn_soil_settled(const double *soil) { return ASYMMETRY * soil[JN_SOIL_radius]; }

void jn_soil(const double *soil, const double *memory, const jn_soil_motion *m, jn_soil_contact *c) {
    const double b = soil[JN_SOIL_width], free_radius = soil[JN_SOIL_radius];
    const double vx = m->velocity[0], vy = m->velocity[1];
    const double relaxation = RELAXATION * free_radius, settled = ASYMMETRY * free_radius;
    double share, stiffness, tire, radius, sliding[2], transport, q[2], way, top, scale, along = 0.0, across = 0.0, lift = 0.0,
           turning = 0.0, deep;
    arc a;
    int i;
    c->sinkage = c->deflection = c->resistance = c->slip = 0.0;
    for (i = 0; i < 3; i++) c->force[i] = c->moment[i] = 0.0;
    c->rates[0] = -FLIGHT_RATE * m->shear[0], c->rates[1] = -FLIGHT_RATE * m->shear[1];
    c->rates[2] = -FLIGHT_RATE * m->rolled;
    if (!(m->depth > 0.0)) return;
    c->sinkage = share_depth(soil, memory, m->depth, &a, &share, &stiffness);
    if (!(share > 0.0) || !(a.load > 0.0)) return;
    c->deflection = m->depth - c->sinkage;
    spring(soil, c->deflection, &tire);
    scale = share * a.load - soil[JN_SOIL_damping] * m->velocity[2] * stiffness / (stiffness + tire);
    scale = positive(scale / a.load);
    deep = c->sinkage > memory[JN_SOIL_deepest] ? c->sinkage : memory[JN_SOIL_deepest];

    radius = free_radius - c->deflection / 3.0;
    sliding[0] = radius * m->spin - vx, sliding[1] = -vy;
    transport = fmax(fabs(radius * m->spin), sqrt(vx * vx + vy * vy));
    for (i = 0; i < 2; i++) {
        c->rates[i] = sliding[i] - transport / relaxation * m->shear[i];
        q[i] = (m->shear[i] + LEAD * c->rates[i]) / relaxation;
    }
    c->rates[2] = vx - fabs(vx) / settled * m->rolled;
    way = (m->rolled + LEAD * c->rates[2]) / settled;
    way = way > 1.0 ? 1.0 : way < -1.0 ? -1.0 : way;

    top = jn_atan2_1(a.entry, sqrt(free_radius * free_radius - a.entry * a.entry));
    for (i = 0; i < a.n; i++) {
        const double down = sqrt(free_radius * free_radius - a.x[i] * a.x[i]), angle = jn_atan2_1(a.x[i], down);
        const double passed = a.entry - a.x[i], turned = free_radius * (top - angle); /* by a point of the rim */
        const double jx = way * (turned - passed) + q[0] * passed, jy = q[1] * turned, j = sqrt(jx * jx + jy * jy);
        const double limit = soil[JN_SOIL_cohesion] * (scale < 1.0 ? scale : 1.0) + scale * a.pressure[i] * soil[JN_SOIL_tan_phi];
        const double by_j = j > 1e-9 * soil[JN_SOIL_K] ? (1.0 - jn_exp(-j / soil[JN_SOIL_K])) / j : 1.0 / soil[JN_SOIL_K];
        const double rim = a.by[i] * free_radius / down; /* length of the rim for that of the ground */
        along += a.by[i] * limit * by_j * jx;
        lift += a.by[i] * a.x[i] / down * limit * by_j * jx;
        turning += rim * limit * by_j * jx;
        across += rim * limit * by_j * jy;
        c->moment[2] += b * way * rim * a.x[i] * limit * by_j * jy;
    }
    c->resistance = positive(virgin(soil, deep) * deep - virgin(soil, memory[JN_SOIL_before]) * memory[JN_SOIL_before]);
    c->resistance *= scale * b / (soil[JN_SOIL_n] + 1.0);
    c->force[0] = b * along - way * c->resistance;
    c->force[1] = b * across;
    c->force[2] = scale * a.load + b * way * lift;
    c->moment[0] = (free_radius - c->deflection) * c->force[1];
    c->moment[1] = -b * radius * turning;
    c->slip = sliding[0] / fmax(transport, SLOW);
}

/* Index of the nearest place of a rut within a distance, or -1. */
static int nearest(const double *rut, double x, double y, double reach) {
    const double *at = rut + 2, most = reach * reach;
    const int n = (int)rut[1];
    double best = most;
    int i, found = -1;
    for (i = 0; i < n; i++) {
        const double dx = at[i] - x, dy = at[JN_RUT + i] - y, square = dx * dx + dy * dy;
        if (square < best) best = square, found = i;
    }
    return found;
}

double jn_rut_depth(const double *rut, double x, double y, double reach) {
    const int i = nearest(rut, x, y, reach);
    return i < 0 ? 0.0 : rut[2 + 2 * JN_RUT + i];
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
}

void jn_soil_remember(const double *soil, double *memory, double *rut, double x, double y, const double *ahead, double way,
                      double sinkage) {
    const double dx = x - memory[JN_SOIL_x], dy = y - memory[JN_SOIL_y], went = sqrt(dx * dx + dy * dy);
    const double kept = jn_exp(-went / (FORGETTING * soil[JN_SOIL_radius])), rest = jn_exp(-went / ENTERING);
    const double rut_there = jn_rut_depth(rut, x + way * AHEAD * ahead[0], y + way * AHEAD * ahead[1], 0.5 * soil[JN_SOIL_width]);
    const double now = positive(sinkage);
    memory[JN_SOIL_before] = rut_there + (memory[JN_SOIL_before] - rut_there) * rest;
    memory[JN_SOIL_deepest] = fmax(now, now + (memory[JN_SOIL_deepest] - now) * kept);
    memory[JN_SOIL_guess] = now;
    memory[JN_SOIL_x] = x, memory[JN_SOIL_y] = y;
    if (now > 0.0) jn_rut_press(rut, x, y, now);
}
