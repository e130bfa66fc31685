/* An L-stable Rosenbrock method of two stages and order 2:
 *
 *   (I - g h A) k1 = f(t, x) + g h f',   (I - g h A) k2 = f(t + h, x + h k1) - 2 k1 - g h f',
 *   x+ = x + h (3 k1 + k2) / 2
 *
 * with g = 1 - 1/sqrt(2), the Jacobian A = df/dx and the derivative f' = df/dt, both at the start of the tick.
 * The states of the memory keep their values, since their rates are zero.
 *
 * Where no state grows, no eigenvalue of I - g h A is below 1 in size. An eigenvalue of A near 1 / (g h) makes the
 * matrix nearly singular, and one beyond it turns growth into decay: the determinant tells both, and the step is halved.
 *
 * Sources: J. G. Verwer et al. 1999, SIAM J. Sci. Comput. 20, 1456, the method ROS2 in this form, which has order 2 for
 * any A. Hairer, Wanner, Solving Ordinary Differential Equations II: IV.7 (Rosenbrock and W-methods), table 6.4 with
 * s = 2 (L-stability for this g).
 */
#include "jn_rosenbrock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST 0.5 /* determinant of I - g h A below which a step is halved */
enum { PARTS = 256 }; /* shortest step: that part of a tick */

static const double gamma_ = 0.29289321881345247560; /* 1 - 1/sqrt(2) */

/* Factors a = L U in place, column by column, with row exchanges (Dongarra et al. 1979, LINPACK, dgefa); 0 if singular.
 * Most multipliers are zero, so their columns are skipped. */
static int factor(double *a, int *pivot, int n) {
    int i, j, k;
    for (k = 0; k < n; k++) {
        double *own = a + k * n, inverse;
        int best = k;
        for (i = k + 1; i < n; i++)
            if (fabs(own[i]) > fabs(own[best])) best = i;
        pivot[k] = best;
        if (!(fabs(own[best]) > 0.0)) return 0;
        { const double swap = own[best]; own[best] = own[k]; own[k] = swap; }
        inverse = 1.0 / own[k];
        for (i = k + 1; i < n; i++) own[i] *= inverse;
        for (j = k + 1; j < n; j++) {
            double *other = a + j * n;
            const double t = other[best];
            other[best] = other[k];
            other[k] = t;
            if (t == 0.0) continue;
            for (i = k + 1; i < n; i++) other[i] -= t * own[i];
        }
    }
    return 1;
}

/* Overwrites b with the solution (LINPACK, dgesl). */
static void solve(const double *a, const int *pivot, int n, double *b) {
    int i, k;
    for (k = 0; k < n; k++) {
        const double t = b[pivot[k]];
        b[pivot[k]] = b[k];
        b[k] = t;
        for (i = k + 1; i < n; i++) b[i] -= t * a[k * n + i];
    }
    for (k = n - 1; k >= 0; k--) {
        b[k] /= a[k * n + k];
        for (i = 0; i < k; i++) b[i] -= b[k] * a[k * n + i];
    }
}

static double determinant(const double *a, const int *pivot, int n) {
    double found = 1.0;
    int i;
    for (i = 0; i < n; i++) found *= pivot[i] == i ? a[i * n + i] : -a[i * n + i];
    return found;
}

/* From tau to tau + h [s] within the tick: 1 done, 0 not done where it should be halved, -1 with a fault. The Jacobian is
 * that of the tick's start at the present state: the order holds for any. */
static int step(jn_instance *s, double tau, double h, int may_be_halved, jn_fault *f) {
    const jn_model *m = s->model;
    const int n = m->n_x - m->n_memory;
    double *x = s->x, *stage = s->x_stage, *k1 = s->dx2, *k2 = s->dx, *by_time = s->d_rate;
    int i, regular;
    if (m->jacobian(x, s->u, s->p_now, s->d, s->matrix, by_time, f)) return -1;
    for (i = 0; i < n * n; i++) s->matrix[i] *= -gamma_ * h;
    for (i = 0; i < n; i++) s->matrix[i * n + i] += 1.0;
    regular = factor(s->matrix, s->pivot, n);
    if (may_be_halved && !(regular && determinant(s->matrix, s->pivot, n) >= LEAST)) return 0;
    if (!regular) {
        snprintf(f->text, sizeof f->text, "the matrix of the implicit step is singular");
        return -1;
    }
    if (m->rhs(tau, x, s->u, s->p_now, s->d, k1, f)) return -1;
    for (i = 0; i < n; i++) k1[i] += gamma_ * h * by_time[i];
    solve(s->matrix, s->pivot, n, k1);
    memcpy(stage, x, (size_t)m->n_x * sizeof *x);
    for (i = 0; i < n; i++) stage[i] += h * k1[i];
    if (m->rhs(tau + h, stage, s->u, s->p_now, s->d, k2, f)) return -1;
    for (i = 0; i < n; i++) k2[i] -= 2.0 * k1[i] + gamma_ * h * by_time[i];
    solve(s->matrix, s->pivot, n, k2);
    for (i = 0; i < n; i++) x[i] += 0.5 * h * (3.0 * k1[i] + k2[i]);
    return 1;
}

int jn_rosenbrock_tick(jn_instance *s, jn_fault *f) {
    const double h = s->tick_length;
    int at = 0, size = PARTS; /* parts of the tick */
    while (at < PARTS) {
        const int done = step(s, h * at / PARTS, h * size / PARTS, size > 1, f);
        if (done < 0) return -1;
        if (!done) {
            size /= 2;
            continue;
        }
        at += size;
        while (size < PARTS && at % (2 * size) == 0) size *= 2;
    }
    return 0;
}
