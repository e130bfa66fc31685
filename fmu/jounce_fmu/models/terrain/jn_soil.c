/* See jn_soil.h. Wheels go through the same rounds side by side, so that four of them cost little more than one. */
#include "jn_soil.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define RELAXATION 0.5   /* length over which the shear builds up when the slip changes, over the radius */
#define ASYMMETRY 0.1    /* distance after which the arc is one-sided, over the radius */
#define LEAD 0.01        /* damping of both at standstill [s] */
#define FLIGHT_RATE 50.0 /* at which states fade in the air [1/s] */
#define FORGETTING 0.25  /* distance over which a wheel meets other soil, over the radius */
#define ENTERING 0.1     /* the same for a rut [m] */
#define AHEAD 0.2        /* where a wheel looks for a rut [m] */
#define ROUNDS 60
#define CLOSE 1e-13 /* step of the last round [m]; the error of Newton's method is quadratic in it */
#define NEAR 1e-9   /* of its load, within which soil is neither less nor more deep than it was pressed */
#define SLOW 0.5    /* speed below which the slip that is shown is made small [m/s] */

enum { NODES = 8, EDGE = 3, ALL = NODES + EDGE, WHEELS = 4 };

/* Gauss and Legendre's nodes and weights on 0 to 1. */
static const double nodes[NODES] = {0.019855071751231884, 0.10166676129318664, 0.2372337950418355,  0.4082826787521751,
                                    0.5917173212478249,   0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
static const double weights[NODES] = {0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.18134189168918100,
                                      0.18134189168918100, 0.15685332293894363, 0.11119051722668724, 0.05061426814518813};
static const double edge_nodes[EDGE] = {0.1127016653792583, 0.5, 0.8872983346207417};
static const double edge_weights[EDGE] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* The wheels' arcs: number i of wheel c at [WHEELS i + c]. */
typedef struct {
    double n[WHEELS], k[WHEELS], k_u[WHEELS], radius[WHEELS], width[WHEELS], cohesion[WHEELS], tan_phi[WHEELS], K[WHEELS];
    double before[WHEELS], most[WHEELS], edge[WHEELS]; /* depth of the rut, the pressure that made it, depth of its surface */
    double z[WHEELS], entry[WHEELS], load[WHEELS], stiffness[WHEELS], slope[WHEELS]; /* at this sinkage */
    double x[ALL * WHEELS], by[ALL * WHEELS], pressure[ALL * WHEELS]; /* of points ahead of the centre */
    double slant[ALL * WHEELS], upright[ALL * WHEELS]; /* there: tangent and 1 / (R cosine) of the angle on the rim */
    int points;
    double scale[WHEELS], way[WHEELS], q_along[WHEELS], q_across[WHEELS], deep[WHEELS];
    double along[WHEELS], across[WHEELS], lift[WHEELS], turning[WHEELS], yaw[WHEELS], compacts[WHEELS];
} arcs;

#define JN_STRIDE WHEELS
#define JN_LANES 1
#include "jn_lanes.h"
#include "jn_power.inc"
#include "jn_soil_arc.inc"
#undef JN_LANES

typedef struct { void (*find_surface)(arcs *, int), (*press)(arcs *, int), (*shear)(arcs *, int); } way_of;
static const way_of one = {find_surface_1, press_1, shear_1};

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define JN_LANES 4
#include "jn_lanes.h"
#include "jn_power.inc"
#include "jn_soil_arc.inc"
#undef JN_LANES
static const way_of four = {find_surface_4, press_4, shear_4};
#else
static const way_of four = {NULL, NULL, NULL}; /* such builds have one lane */
#endif

static double positive(double v) { return v > 0.0 ? v : 0.0; }

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

/* A wheel on its way to the sinkage at which soil and tire carry the same. */
typedef struct {
    double low, high;
    double sinkage, share, stiffness; /* found: `share` of the arc's pressures is there; stiffness of the soil */
    int found;
} search;

static void settle(search *s, double sinkage, double share, double stiffness) {
    s->sinkage = sinkage, s->share = share, s->stiffness = stiffness;
    s->found = 1;
}

/* Less deep than it has been: the soil unloads along k_u. */
static void unload(const jn_soil_wheel *w, search *s) {
    const double load = w->memory[JN_SOIL_load], deepest = w->memory[JN_SOIL_deepest], depth = w->motion.depth;
    const double k = w->soil[JN_SOIL_k_u] * w->soil[JN_SOIL_width] * w->memory[JN_SOIL_entry];
    double z = depth < deepest ? depth : deepest, tire;
    int i;
    if (!(load > 0.0) || depth <= deepest - load / k) {
        settle(s, depth, 0.0, k);
        return;
    }
    for (i = 0; i < ROUNDS; i++) { /* ends: both sides are straight or bend one way */
        const double force = spring(w->soil, depth - z, &tire), step = (load - k * (deepest - z) - force) / (k + tire);
        z -= step;
        if (fabs(step) < 0.1 * CLOSE) break;
    }
    settle(s, z, positive(1.0 - k * (deepest - z) / load), k);
}

/* Newton's step towards the sinkage at which the soil has as much load more than the tire. */
static double step(double off, double slope, double stiffness, double tire) {
    return -off / (fmin(fmax(slope, 0.5 * stiffness), 2.0 * stiffness) + tire);
}

/* Whether a wheel presses the soil deeper, which has so much more load than the tire where it was pressed to. */
static int loads(const jn_soil_wheel *w, double off) {
    if (w->branch != JN_SOIL_EITHER) return w->branch == JN_SOIL_LOADS && w->motion.depth > w->memory[JN_SOIL_edge];
    return fabs(off) < NEAR * w->memory[JN_SOIL_load] ? w->motion.velocity[2] < 0.0 : off < 0.0;
}

/* Where the search begins; z is also the arc's sinkage if it ends at once. */
static void begin(jn_soil_wheel *w, search *s, double *z) {
    const double *memory = w->memory, deepest = memory[JN_SOIL_deepest], edge = memory[JN_SOIL_edge], depth = w->motion.depth;
    double tire;
    memset(s, 0, sizeof *s);
    s->high = depth;
    *z = 0.0;
    if (!(depth > 0.0) || (deepest <= edge && depth <= edge)) {
        settle(s, depth, 0.0, 0.0);
    } else if (deepest > edge) {
        const double off = memory[JN_SOIL_load] - spring(w->soil, depth - deepest, &tire);
        *z = deepest;
        if (!loads(w, off)) {
            w->branch = JN_SOIL_UNLOADS;
            unload(w, s);
            return;
        }
        s->low = off < 0.0 ? deepest : edge;
        *z += step(off, memory[JN_SOIL_slope], memory[JN_SOIL_stiff], tire);
        if (!(*z < depth && *z > s->low)) *z = depth;
    } else {
        const double guess = memory[JN_SOIL_guess];
        s->low = edge;
        *z = guess > edge && guess < depth ? guess : depth;
    }
    w->branch = JN_SOIL_LOADS;
}

/* One round of a wheel: Newton's method within bounds. */
static void advance(const jn_soil_wheel *w, arcs *a, int c, search *s) {
    const double z = a->z[c], depth = w->motion.depth;
    double tire, next;
    const double off = a->load[c] - spring(w->soil, depth - z, &tire);
    if (off > 0.0) s->high = z;
    else s->low = z;
    next = z + step(off, a->slope[c], a->stiffness[c], tire);
    if (fabs(next - z) < CLOSE) {
        const double force = spring(w->soil, depth - next, &tire);
        settle(s, next, a->load[c] > 0.0 ? force / a->load[c] : 0.0, a->stiffness[c]);
        return;
    }
    a->z[c] = next > s->low && next < s->high ? next : 0.5 * (s->low + s->high);
}

/* What does not depend on the soil's load. */
static void free_wheel(const jn_soil_motion *m, jn_soil_contact *t) {
    memset(t, 0, sizeof *t);
    t->rates[0] = -FLIGHT_RATE * m->shear[0], t->rates[1] = -FLIGHT_RATE * m->shear[1];
    t->rates[2] = -FLIGHT_RATE * m->rolled;
}

/* States and slips of a wheel that presses: what the shear depends on. */
static void slide(jn_soil_wheel *w, arcs *a, int c, const search *s) {
    const jn_soil_motion *m = &w->motion;
    jn_soil_contact *t = &w->contact;
    const double *soil = w->soil, free_radius = soil[JN_SOIL_radius], vx = m->velocity[0], vy = m->velocity[1];
    const double relaxation = RELAXATION * free_radius, settled = ASYMMETRY * free_radius;
    double tire, radius, sliding[2], transport, q[2], way;
    int i;
    t->deflection = m->depth - s->sinkage;
    spring(soil, t->deflection, &tire);
    radius = free_radius - t->deflection / 3.0;
    a->scale[c] = s->share * a->load[c] - soil[JN_SOIL_damping] * m->velocity[2] * s->stiffness / (s->stiffness + tire);
    a->scale[c] = positive(a->scale[c] / a->load[c]);
    sliding[0] = radius * m->spin - vx, sliding[1] = -vy;
    transport = fmax(fabs(radius * m->spin), sqrt(vx * vx + vy * vy));
    for (i = 0; i < 2; i++) {
        t->rates[i] = sliding[i] - transport / relaxation * m->shear[i];
        q[i] = (m->shear[i] + LEAD * t->rates[i]) / relaxation;
    }
    t->rates[2] = vx - fabs(vx) / settled * m->rolled;
    way = (m->rolled + LEAD * t->rates[2]) / settled;
    a->way[c] = way > 1.0 ? 1.0 : way < -1.0 ? -1.0 : way;
    a->q_along[c] = q[0], a->q_across[c] = q[1];
    t->slip = sliding[0] / fmax(transport, SLOW);
}

static void sum_up(jn_soil_wheel *w, const arcs *a, int c) {
    const double *soil = w->soil, b = soil[JN_SOIL_width], scale = a->scale[c], way = a->way[c];
    jn_soil_contact *t = &w->contact;
    t->resistance = positive(a->compacts[c] * a->deep[c] - a->most[c] * a->before[c]);
    t->resistance *= scale * b / (soil[JN_SOIL_n] + 1.0);
    t->force[0] = b * a->along[c] - way * t->resistance;
    t->force[1] = b * a->across[c];
    t->force[2] = scale * a->load[c] + b * way * a->lift[c];
    t->moment[0] = (soil[JN_SOIL_radius] - t->deflection) * t->force[1];
    t->moment[1] = -b * (soil[JN_SOIL_radius] - t->deflection / 3.0) * a->turning[c];
    t->moment[2] = b * way * a->yaw[c];
}

/* What the arc of wheel c has from its soil and its memory. */
static void lay(arcs *a, int c, const double *soil, const double *memory) {
    a->n[c] = soil[JN_SOIL_n], a->k[c] = soil[JN_SOIL_k], a->k_u[c] = soil[JN_SOIL_k_u];
    a->radius[c] = soil[JN_SOIL_radius], a->width[c] = soil[JN_SOIL_width], a->K[c] = soil[JN_SOIL_K];
    a->cohesion[c] = soil[JN_SOIL_cohesion], a->tan_phi[c] = soil[JN_SOIL_tan_phi];
    a->before[c] = memory[JN_SOIL_before], a->most[c] = memory[JN_SOIL_most], a->edge[c] = memory[JN_SOIL_edge];
}

void jn_soil(jn_soil_wheel *wheels, int n) {
    const way_of *by = n == 1 ? &one : &four;
    search searches[WHEELS];
    arcs a;
    int c, round, open = 0, presses = 0;
    for (c = 0; c < n; c++) {
        search *s = &searches[c];
        lay(&a, c, wheels[c].soil, wheels[c].memory);
        begin(&wheels[c], s, &a.z[c]);
        presses |= !s->found || s->share > 0.0;
        open += !s->found;
    }
    for (round = 0; presses && (!round || open) && round < ROUNDS; round++) {
        by->press(&a, 0);
        for (c = 0; c < n; c++) {
            if (searches[c].found) continue;
            advance(&wheels[c], &a, c, &searches[c]);
            open -= searches[c].found;
        }
    }
    for (c = 0; c < n; c++) {
        search *s = &searches[c];
        if (!s->found) settle(s, a.z[c], a.load[c] > 0.0, a.stiffness[c]); /* after so many rounds its bounds have met */
        free_wheel(&wheels[c].motion, &wheels[c].contact);
        wheels[c].contact.sinkage = wheels[c].motion.depth > 0.0 ? s->sinkage : 0.0;
        a.deep[c] = wheels[c].branch == JN_SOIL_LOADS ? s->sinkage : wheels[c].memory[JN_SOIL_deepest];
        a.scale[c] = a.way[c] = a.q_along[c] = a.q_across[c] = 0.0;
        if (s->share > 0.0) slide(&wheels[c], &a, c, s);
    }
    if (!presses) return;
    by->shear(&a, 0);
    for (c = 0; c < n; c++)
        if (searches[c].share > 0.0) sum_up(&wheels[c], &a, c);
}

double jn_soil_settled(const double *soil) { return ASYMMETRY * soil[JN_SOIL_radius]; }

void jn_soil_remember(const double *soil, double *memory, double *rut, double x, double y, const double *ahead, double way,
                      double sinkage) {
    const double dx = x - memory[JN_SOIL_x], dy = y - memory[JN_SOIL_y], went = sqrt(dx * dx + dy * dy);
    const double kept = jn_power_exp_1(-went / (FORGETTING * soil[JN_SOIL_radius])), rest = jn_power_exp_1(-went / ENTERING);
    const double rut_there = jn_rut_depth(rut, x + way * AHEAD * ahead[0], y + way * AHEAD * ahead[1], 0.5 * soil[JN_SOIL_width]);
    const double now = positive(sinkage);
    memory[JN_SOIL_before] = rut_there + (memory[JN_SOIL_before] - rut_there) * rest;
    memory[JN_SOIL_deepest] = fmax(now, now + (memory[JN_SOIL_deepest] - now) * kept);
    memory[JN_SOIL_guess] = now;
    memory[JN_SOIL_x] = x, memory[JN_SOIL_y] = y;
    if (now > 0.0) jn_rut_press(rut, x, y, now);
}

void jn_soil_load(const double *const *soils, double *const *memories, int n) {
    const way_of *by = n == 1 ? &one : &four;
    arcs a;
    int c;
    for (c = 0; c < n; c++) {
        lay(&a, c, soils[c], memories[c]);
        a.z[c] = memories[c][JN_SOIL_deepest];
    }
    by->find_surface(&a, 0);
    by->press(&a, 0);
    for (c = 0; c < n; c++) {
        memories[c][JN_SOIL_most] = a.most[c], memories[c][JN_SOIL_edge] = a.edge[c];
        memories[c][JN_SOIL_load] = a.load[c], memories[c][JN_SOIL_entry] = a.entry[c];
        memories[c][JN_SOIL_stiff] = a.stiffness[c], memories[c][JN_SOIL_slope] = a.slope[c];
    }
}
