/* First guess of an aggregate's dependent coordinates (jounce.dynamics.chebyshev): box, continuation, interpolation.
 *
 * Only + - * / and the trigonometry of jn_trig.h, in a fixed order: the same coefficients on every platform.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_chebyshev.h"

#define JN_STRIDE 1
#define JN_LANES 1
#include "jn_lanes.h"
#include "jn_guess.inc"

#define TOGGLE 0.2   /* part of the design position's determinant at which the box ends */
#define PIVOT 1e-3   /* least pivot, as part of its row */
#define CLOSED 1e-10 /* error of a loop that counts as closed here [m] */
#define ROUNDED 1e-13 /* error of a loop after the two steps from the polynomials [m] */
#define NARROWER 0.93
#define PI 3.14159265358979323846

enum { PARTS = 12, STEPS = 4, OUTWARD = 60, TRIES = 20, LOWEST = 3, HIGHEST = JN_GUESS_TERMS - 1 };

static int variables_of(const jn_loops *l) { return l->coordinates + (l->steered != 0); }

/* Terms of the whole tensor. */
static int terms_of(const int *degrees) { return (degrees[0] + 1) * (degrees[1] + 1) * (degrees[2] + 1); }

/* Is the product of those polynomials kept? */
static int kept(const int *place, const int *degrees) {
    int whole = 1, used = 0, v;
    for (v = 0; v < JN_GUESS_VARIABLES; v++)
        if (degrees[v] > 0) whole *= degrees[v];
    for (v = 0; v < JN_GUESS_VARIABLES; v++)
        if (degrees[v] > 0) used += place[v] * place[v] * (whole / degrees[v]) * (whole / degrees[v]);
    return used <= whole * whole;
}

static void close_fully(const jn_loops *l, const double *x, double *u) {
    int k;
    for (k = 0; k < STEPS; k++) l->close(l->of, x, u);
}

/* u at x, by continuation from the design position. */
static void follow(const jn_loops *l, const double *x, double *u) {
    double here[JN_GUESS_VARIABLES];
    int part, v;
    memset(u, 0, (size_t)l->dependent * sizeof *u);
    for (part = 1; part <= PARTS; part++) {
        for (v = 0; v < variables_of(l); v++) here[v] = x[v] * ((double)part / PARTS);
        close_fully(l, here, u);
    }
    close_fully(l, x, u);
}

/* What a position is beyond; JN_END_LIMIT where nothing is. */
static jn_box_end beyond(const jn_probe *p, double design) {
    if (!(p->closure < CLOSED)) return JN_END_OPEN;
    if (!(p->determinant / design > TOGGLE)) return JN_END_TOGGLE;
    if (!(p->room > 0.0)) return JN_END_STROKE;
    return p->quality > PIVOT ? JN_END_LIMIT : JN_END_PIVOT;
}

static const char *const end_names[] = {"", "a loop is near its dead centre", "a spring or shock is at its end",
                                        "a loop is nearly singular", "a loop does not close"};

/* How far coordinate k may go; negative where the steering alone is too far. */
static double outward(const jn_loops *l, double design, int k, double sign, double steer, double limit, jn_box_end *end) {
    double x[JN_GUESS_VARIABLES] = {0.0}, u[JN_GUESS_MOST];
    int step;
    if (l->steered) x[l->coordinates] = steer;
    follow(l, x, u);
    for (step = 0; step <= OUTWARD; step++) {
        jn_probe p;
        jn_box_end found;
        x[k] = sign * limit * ((double)step / OUTWARD);
        close_fully(l, x, u);
        p = l->probe(l->of, x, u);
        found = beyond(&p, design);
        if (found != JN_END_LIMIT) {
            *end = found;
            return limit * ((double)(step - 1) / OUTWARD);
        }
    }
    return limit;
}

static int find_box(const jn_loops *l, double *design, jn_guess_fit *fit, char *text, size_t size) {
    const double zero[JN_GUESS_MOST] = {0.0}, steers[3] = {0.0, l->steering[0], l->steering[1]};
    const jn_probe first = l->probe(l->of, zero, zero);
    const jn_box_end out = beyond(&first, first.determinant);
    int k, s, up;
    if (out != JN_END_LIMIT) {
        snprintf(text, size, "the design position is out of range: %s", end_names[out]);
        return 1;
    }
    *design = first.determinant;
    memset(fit, 0, sizeof *fit);
    for (k = 0; k < l->coordinates; k++)
        for (up = 0; up < 2; up++) {
            double reach = l->limits[k];
            for (s = 0; s < (l->steered ? 3 : 1); s++) {
                jn_box_end end = JN_END_LIMIT;
                const double far = outward(l, *design, k, up ? 1.0 : -1.0, steers[s], reach, &end);
                if (far < 0.0) {
                    snprintf(text, size, "the design position is out of range with the steering coordinate at %g: %s",
                             steers[s], end_names[end]);
                    return 1;
                }
                if (far < reach) reach = far, fit->ends[k][up] = end;
            }
            if (reach < 1.5 * l->limits[k] / OUTWARD) {
                snprintf(text, size, "coordinate %d cannot leave the design position %sward: %s", k + 1,
                         up ? "up" : "down", end_names[fit->ends[k][up]]);
                return 1;
            }
            if (up) fit->high[k] = reach;
            else fit->low[k] = -reach;
        }
    if (l->steered) fit->low[k] = l->steering[0], fit->high[k] = l->steering[1];
    return 0;
}

static int inside(const jn_loops *l, const double *x, const double *u, double design) {
    const jn_probe p = l->probe(l->of, x, u);
    return p.closure < CLOSED && p.determinant / design > 0.0 && p.quality > PIVOT;
}

/* The next place of a grid; 0 after the last one. */
static int next(int *place, const int *last) {
    int v;
    for (v = JN_GUESS_VARIABLES - 1; v >= 0; v--) {
        if (place[v] < last[v]) {
            place[v]++;
            return 1;
        }
        place[v] = 0;
    }
    return 0;
}

static double node(int i, int degree) { return JN_COS(PI * (i + 0.5) / (degree + 1)); }

/* From values at the nodes along one variable to coefficients; numbers lie `apart`. */
static void transform(double *values, int degree, int apart) {
    double found[JN_GUESS_TERMS];
    int i, k;
    for (k = 0; k <= degree; k++) {
        found[k] = 0.0;
        for (i = 0; i <= degree; i++)
            found[k] += values[i * apart] * JN_COS(PI * k * (i + 0.5) / (degree + 1));
        found[k] *= (k ? 2.0 : 1.0) / (degree + 1);
    }
    for (k = 0; k <= degree; k++) values[k * apart] = found[k];
}

int jn_guess_count(const int *degrees) {
    int place[JN_GUESS_VARIABLES] = {0}, count = 0;
    do count += kept(place, degrees);
    while (next(place, degrees));
    return count;
}

/* The whole tensor of coefficients over the box; 0 where a node is out of range. */
static int interpolate(const jn_loops *l, const jn_guess_fit *fit, double design, double *tensor) {
    int place[JN_GUESS_VARIABLES] = {0}, at = 0, v, k, i;
    const int count = terms_of(fit->degrees);
    do {
        double x[JN_GUESS_VARIABLES], u[JN_GUESS_MOST];
        for (v = 0; v < variables_of(l); v++)
            x[v] = 0.5 * (fit->high[v] + fit->low[v]) + 0.5 * (fit->high[v] - fit->low[v]) * node(place[v], fit->degrees[v]);
        follow(l, x, u);
        if (!inside(l, x, u, design)) return 0;
        for (k = 0; k < l->dependent; k++) tensor[k * count + at] = u[k];
        at++;
    } while (next(place, fit->degrees));
    for (k = 0; k < l->dependent; k++) {
        int apart = 1;
        for (v = JN_GUESS_VARIABLES - 1; v >= 0; v--) {
            const int terms = fit->degrees[v] + 1;
            for (i = 0; i < count; i++) /* one line along v for each place that begins one */
                if (i / apart % terms == 0) transform(tensor + k * count + i, fit->degrees[v], apart);
            apart *= terms;
        }
    }
    return 1;
}

/* The coefficients that are kept, in the order in which jn_guess takes them: the products of the first variables as it
 * makes them, the last variable inmost. */
static void compact(const jn_loops *l, const int *degrees, const double *tensor, double *coefficients) {
    const int n = variables_of(l), last = n - 1, count = terms_of(degrees);
    int outer[JN_GUESS_OUTER][JN_GUESS_VARIABLES] = {{0}}, outers = 1, at = 0, v, i, j, k;
    for (v = 0; v < last; v++) {
        const int before = outers;
        for (j = 1; j <= degrees[v]; j++)
            for (i = 0; i < before; i++) {
                memcpy(outer[outers], outer[i], sizeof outer[i]);
                outer[outers][v] = j;
                outers += kept(outer[outers], degrees);
            }
    }
    for (k = 0; k < l->dependent; k++)
        for (i = 0; i < outers; i++)
            for (j = 0; j <= degrees[last]; j++) {
                int place[JN_GUESS_VARIABLES];
                memcpy(place, outer[i], sizeof place);
                place[last] = j;
                if (kept(place, degrees))
                    coefficients[at++] = tensor[k * count + (place[0] * (degrees[1] + 1) + place[1]) * (degrees[2] + 1) +
                                                place[2]];
            }
}

/* Do two steps from the polynomials close the loops to rounding? Near a dead centre they need better ones. */
static int rounded(const jn_loops *l, const double *x, const double *first) {
    double u[JN_GUESS_MOST];
    memcpy(u, first, sizeof u);
    l->close(l->of, x, u);
    l->close(l->of, x, u);
    return l->probe(l->of, x, u).closure < ROUNDED;
}

/* Largest error of the polynomials on a grid with the box's edges, along one variable or (-1) all; negative where a
 * point is out of range. */
static double largest_error(const jn_loops *l, const jn_guess_fit *fit, double design, const double *numbers, int along) {
    int place[JN_GUESS_VARIABLES] = {0}, last[JN_GUESS_VARIABLES] = {0}, v, k;
    double worst = 0.0;
    for (v = 0; v < variables_of(l); v++)
        if (along < 0 || v == along) last[v] = 2 * fit->degrees[v] + 2;
    do {
        double x[JN_GUESS_VARIABLES], first[JN_GUESS_MOST], u[JN_GUESS_MOST];
        for (v = 0; v < variables_of(l); v++)
            x[v] = fit->low[v] + (fit->high[v] - fit->low[v]) * (last[v] ? (double)place[v] / last[v] : 0.5);
        jn_guess_1(fit->degrees, variables_of(l), l->dependent, x, numbers, first);
        memcpy(u, first, sizeof u);
        close_fully(l, x, u);
        if (!inside(l, x, u, design)) return -1.0;
        for (k = 0; k < l->dependent; k++)
            if (fabs(u[k] - first[k]) > worst) worst = fabs(u[k] - first[k]);
        if (along < 0 && worst < JN_GUESS_ERROR && !rounded(l, x, first)) worst = JN_GUESS_ERROR; /* not good enough */
    } while (next(place, last));
    return worst;
}

/* The variable with the largest last coefficients; -1 where every degree is the highest. */
static int steepest(const jn_loops *l, const jn_guess_fit *fit, const double *tensor) {
    int place[JN_GUESS_VARIABLES] = {0}, at = 0, best = -1, v, k;
    const int count = terms_of(fit->degrees);
    double tails[JN_GUESS_VARIABLES] = {0.0}, most = -1.0;
    do {
        for (v = 0; v < variables_of(l); v++)
            for (k = 0; k < l->dependent && place[v] == fit->degrees[v]; k++)
                if (fabs(tensor[k * count + at]) > tails[v]) tails[v] = fabs(tensor[k * count + at]);
        at++;
    } while (next(place, fit->degrees));
    for (v = 0; v < variables_of(l); v++)
        if (fit->degrees[v] < HIGHEST && tails[v] > most) most = tails[v], best = v;
    return best;
}

typedef enum { GOOD, TOO_WIDE, TOO_STEEP, NO_PLACE } verdict;

/* Polynomials of the present degrees and their error, along one variable or (-1) all. */
static verdict attempt(const jn_loops *l, jn_guess_fit *fit, double design, double *tensor, double *numbers, int capacity,
                       int along) {
    if (jn_guess_count(fit->degrees) * l->dependent > capacity) return NO_PLACE;
    if (!interpolate(l, fit, design, tensor)) return TOO_WIDE;
    compact(l, fit->degrees, tensor, numbers + JN_GUESS_coefficients);
    fit->error = largest_error(l, fit, design, numbers, along);
    return fit->error < 0.0 ? TOO_WIDE : GOOD;
}

/* Sets the degree that is enough along variable v, the others in the middle of the box. */
static verdict alone(const jn_loops *l, jn_guess_fit *fit, int v, int least, double design, double *tensor,
                     double *numbers, int capacity) {
    jn_guess_fit one = *fit;
    memset(one.degrees, 0, sizeof one.degrees);
    for (one.degrees[v] = least > LOWEST ? least : LOWEST; one.degrees[v] <= HIGHEST; one.degrees[v]++) {
        const verdict found = attempt(l, &one, design, tensor, numbers, capacity, v);
        if (found != GOOD) return found;
        fit->degrees[v] = one.degrees[v];
        if (one.error < JN_GUESS_ERROR) return GOOD;
    }
    return TOO_STEEP;
}

/* Raises degrees until the polynomials are good. */
static verdict fit_over(const jn_loops *l, const int *least, jn_guess_fit *fit, double design, double *tensor,
                        double *numbers, int capacity) {
    int v;
    for (v = 0; v < JN_GUESS_VARIABLES; v++) {
        const int there = v < variables_of(l);
        numbers[JN_GUESS_centre + v] = there ? 0.5 * (fit->high[v] + fit->low[v]) : 0.0;
        numbers[JN_GUESS_scale + v] = there ? 2.0 / (fit->high[v] - fit->low[v]) : 0.0;
    }
    for (v = 0; v < variables_of(l); v++) {
        const verdict found = alone(l, fit, v, least[v], design, tensor, numbers, capacity);
        if (found != GOOD) return found;
    }
    for (;;) {
        const verdict found = attempt(l, fit, design, tensor, numbers, capacity, -1);
        if (found != GOOD) return found;
        if (fit->error < JN_GUESS_ERROR) return GOOD;
        v = steepest(l, fit, tensor);
        if (v < 0) return TOO_STEEP;
        fit->degrees[v]++;
    }
}

int jn_fit_guess(const jn_loops *loops, const int *least, jn_guess_fit *fit, double *numbers, int capacity, char *text,
                 size_t size) {
    const int n = variables_of(loops);
    double design, *tensor;
    verdict found = TOO_WIDE;
    int k, v;
    if (n > JN_GUESS_VARIABLES || loops->coordinates > 2 || loops->dependent > JN_GUESS_MOST) {
        snprintf(text, size, "an aggregate of %d coordinates and %d dependent ones is too large", loops->coordinates,
                 loops->dependent);
        return 1;
    }
    if (find_box(loops, &design, fit, text, size)) return 1;
    for (k = 1, v = 0; v < n; v++) k *= JN_GUESS_TERMS;
    tensor = (double *)malloc((size_t)k * (size_t)loops->dependent * sizeof *tensor);
    if (!tensor) {
        snprintf(text, size, "no memory for the first guess");
        return 1;
    }
    for (k = 0; k < TRIES && (found == TOO_WIDE || found == TOO_STEEP); k++) {
        for (v = 0; v < loops->coordinates && k > 0; v++) {
            fit->low[v] *= NARROWER, fit->high[v] *= NARROWER;
            fit->ends[v][0] = fit->ends[v][1] = JN_END_CORNER;
        }
        found = fit_over(loops, least, fit, design, tensor, numbers, capacity);
    }
    free(tensor);
    if (found == NO_PLACE)
        snprintf(text, size, "a first guess takes more than the %d numbers there is place for", capacity);
    else if (found != GOOD)
        snprintf(text, size, "the loops cannot be followed over a box around the design position: %s",
                 found == TOO_WIDE ? "one is open or at its dead centre there" : "they bend too much for the first guess");
    return found != GOOD;
}

int jn_fit_guesses(const jn_loops *loops, int lanes, jn_guess_fit *fits, double *numbers, int stride, int capacity,
                   int *lane, char *text, size_t size) {
    int degrees[JN_GUESS_VARIABLES] = {0}, agreed = 0, k, v;
    double *own = (double *)malloc((size_t)(JN_GUESS_coefficients + capacity) * sizeof *own);
    *lane = 0;
    if (!own) {
        snprintf(text, size, "no memory for the first guess");
        return 1;
    }
    /* the lanes in turn, round and round, until as many as there are have kept the degrees */
    for (k = 0; agreed < lanes; k = (k + 1) % lanes) {
        int same = 1, count;
        if (jn_fit_guess(loops + k, degrees, fits + k, own, capacity, text, size)) {
            *lane = k;
            free(own);
            return 1;
        }
        for (v = 0; v < JN_GUESS_VARIABLES; v++) {
            same &= fits[k].degrees[v] == degrees[v];
            degrees[v] = fits[k].degrees[v];
        }
        agreed = same ? agreed + 1 : 1;
        count = JN_GUESS_coefficients + jn_guess_count(degrees) * loops[k].dependent;
        for (v = 0; v < count; v++) numbers[v * stride + k] = own[v];
    }
    free(own);
    return 0;
}
