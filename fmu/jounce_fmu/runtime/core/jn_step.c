/* Steps of whole ticks, by fixed-step RK4, ROSENBROCK or the model itself. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jn_core.h"
#include "jn_resource.h"
#include "jn_rosenbrock.h"
#include "jn_store.h"

#define LOST 1e50   /* a state this large has diverged */
#define TINY 1e-100 /* a state this small has no effect; its third power is still a normal number */
#define SELDOM 64   /* ticks; within them RK4 lets a state decay by no more than 1e-37 */

enum { BLOCK = 4 }; /* doubles; vectors are computed in whole blocks, for which jn_create leaves room */

double jn_time(const jn_instance *s) { return s->start_time + (double)s->ticks * s->tick_length; }

/* Rounding error of a time or a step near t [ticks]; above a quarter, ticks there cannot be told apart. */
static double rounding(const jn_instance *s, double t) { return 4.0 * DBL_EPSILON * fabs(t) / s->tick_length; }

long long jn_whole_ticks(jn_instance *s, double t, double h, int part) {
    const double now = jn_time(s);
    double ratio, n, slack, end, over;
    if (!jn_finite(t)) return jn_fail(s, "communication point = %g: not a finite number", t);
    if (!jn_finite(h)) return jn_fail(s, "step size = %g: not a finite number", h);
    /* The time of a master that sums its steps drifts by rounding; more than half a tick is a wrong clock. */
    if (fabs(t - now) > 0.5 * s->tick_length)
        return jn_fail(s, "communication point = %g: the instance is at %g", t, now);
    if (rounding(s, t) > 0.25)
        return jn_fail(s, "communication point = %g: too far from 0, rounding hides a tick of %g s", t, s->tick_length);
    ratio = h / s->tick_length;
    if (ratio > 1e12) return jn_fail(s, "step size = %g: expected at most 1e12 ticks of %g s", h, s->tick_length);
    n = floor(ratio + 0.5);
    slack = 1e-6 * n < 0.01 ? 1e-6 * n : 0.01; /* ticks; capped, so that long steps must be whole as well */
    if (slack < 1e-6) slack = 1e-6;            /* the remainder of a summed time is a step of no ticks */
    slack += rounding(s, fabs(t) + fabs(h));
    end = (t - now) / s->tick_length + ratio; /* a step that corrects the drift of t ends on a tick */
    if (n < 0.0 || (fabs(ratio - n) > slack && fabs(end - n) > slack))
        return jn_fail(s, "step size = %g: expected a whole multiple of the tick %g s", h, s->tick_length);
    over = s->start_time + ((double)s->ticks + n) * s->tick_length - s->stop_time;
    if (n > 0.0 && over > 1e-6 * h && over > 4.0 * DBL_EPSILON * fabs(s->stop_time))
        return jn_fail(s, "step size = %g: from %g it passes the stop time %g", h, now, s->stop_time);
    if (n > JN_MOST_TICKS && !part)
        return jn_fail(s, "step size = %g: a call cannot be interrupted; expected at most %d ticks of %g s",
                       h, JN_MOST_TICKS, s->tick_length);
    return (long long)n;
}

int jn_first_nonfinite(const double *v, int n) {
    double all[BLOCK] = {0.0};
    int i, j;
    for (i = 0; i < n; i += BLOCK)
        for (j = 0; j < BLOCK; j++) all[j] += v[i + j] - v[i + j];
    if ((all[0] + all[1]) + (all[2] + all[3]) == 0.0) return -1;
    for (i = 0; jn_finite(v[i]); i++) {}
    return i;
}

/* to = x + factor * k, in blocks that compilers turn into vector instructions. */
static void ahead(int n, const double *x, double factor, const double *k, double *to) {
    int i, j;
    for (i = 0; i < n; i += BLOCK) {
        double block[BLOCK];
        for (j = 0; j < BLOCK; j++) block[j] = x[i + j] + factor * k[i + j];
        memcpy(to + i, block, sizeof block);
    }
}

/* One tick of the classical fourth-order method (Hairer, Norsett, Wanner I, II.1, table 1.2). `known`: s->known has the
 * rates at its start. */
static int rk4_tick(jn_instance *s, int known, jn_fault *f) {
    const jn_model *m = s->model;
    const double h = s->tick_length;
    const int n = m->n_x;
    double *x = s->x, *at = s->x_stage;
    double *k1 = known ? s->known : s->dx, *k2 = s->dx2, *k3 = s->d_x, *k4 = s->d_rate; /* tangents are not in use during a tick */
    int i, j;
    if (!known && m->rhs(0.0, x, s->u, s->p_now, s->d, k1, f)) return -1;
    ahead(n, x, 0.5 * h, k1, at);
    if (m->rhs(0.5 * h, at, s->u, s->p_now, s->d, k2, f)) return -1;
    ahead(n, x, 0.5 * h, k2, at);
    if (m->rhs(0.5 * h, at, s->u, s->p_now, s->d, k3, f)) return -1;
    ahead(n, x, h, k3, at);
    if (m->rhs(h, at, s->u, s->p_now, s->d, k4, f)) return -1;
    for (i = 0; i < n; i += BLOCK) {
        double mean[BLOCK];
        for (j = 0; j < BLOCK; j++) mean[j] = (k1[i + j] + k4[i + j]) + 2.0 * (k2[i + j] + k3[i + j]);
        for (j = 0; j < BLOCK; j++) mean[j] = x[i + j] + h / 6.0 * mean[j];
        memcpy(x + i, mean, sizeof mean);
    }
    return 0;
}

void jn_drop_tiny(const jn_model *m, double *x) {
    int i, j;
    for (i = 0; i < m->n_x; i += BLOCK) {
        double kept[BLOCK];
        for (j = 0; j < BLOCK; j++) kept[j] = fabs(x[i + j]) < TINY ? 0.0 : x[i + j];
        memcpy(x + i, kept, sizeof kept);
    }
}

/* Index of the first state that is not finite or so large that outputs could overflow; -1 if there is none. */
static int first_lost(const double *x, int n) {
    double all[BLOCK] = {0.0};
    int i, j;
    for (i = 0; i < n; i += BLOCK)
        for (j = 0; j < BLOCK; j++) all[j] += x[i + j] * x[i + j];
    if ((all[0] + all[1]) + (all[2] + all[3]) <= LOST * LOST) return -1;
    for (i = 0; i < n - 1 && fabs(x[i]) <= 0.1 * LOST; i++) {} /* the sum of squares may come from many such states */
    return i;
}

/* One tick, the last of `ticks` since the start. `known`: s->known has the rates at s->x_old. */
static int one_tick(jn_instance *s, long long ticks, int known, jn_fault *f) {
    const jn_model *m = s->model;
    const int implicit = m->p_integrator >= 0 && s->p_now[m->p_integrator] == JN_ROSENBROCK;
    int i;
    if (m->begin && m->begin(s->u, s->p_now, s->d, s->x, f)) return -1;
    known = known && !memcmp(s->x, s->x_old, (size_t)m->n_x * sizeof *s->x);
    if (m->step ? m->step(s->tick_length, s->u, s->p_now, s->d, s->x, s->work, f)
                : implicit ? jn_rosenbrock_tick(s, f) : rk4_tick(s, known, f)) return -1;
    if (m->finish) m->finish(s->x, s->u, s->p_now);
    if (ticks % SELDOM == 0) jn_drop_tiny(m, s->x);
    if (m->decide) m->decide(s->start_time + (double)ticks * s->tick_length, s->u, s->p_now, s->d, s->x);
    i = first_lost(s->x, m->n_x);
    if (i < 0) return m->readable && m->readable(s->x, s->u, s->p_now, s->d, f) ? -1 : 0;
    snprintf(f->text, sizeof f->text, "state %d is not a finite number%s", i,
             jn_finite(s->x[i]) ? " any more: it has diverged" : "");
    return -1;
}

int jn_apply_tunables(jn_instance *s) {
    const jn_model *m = s->model;
    const size_t bytes_p = (size_t)m->n_p * sizeof *s->p;
    jn_fault f;
    jn_clear_fault(&f);
    if (!s->params_dirty) return 0;
    jn_tell_resource(s, s->d_old);
    jn_tell_store(s, s->d_old);
    if (m->derive(s->p, s->d_old, &f)) return jn_fail_fault(s, "parameters refused", &f);
    memcpy(s->p_old, s->p_now, bytes_p);
    memcpy(s->p_now, s->p, bytes_p);
    { double *swap = s->d; s->d = s->d_old; s->d_old = swap; }
    s->params_dirty = 0;
    s->outputs_dirty = 1;
    return 0;
}

long long jn_advance(jn_instance *s, long long n, int part) {
    const jn_model *m = s->model;
    const size_t bytes_p = (size_t)m->n_p * sizeof *s->p, bytes_d = (size_t)m->n_d * sizeof *s->d;
    const size_t bytes_x = (size_t)m->n_x * sizeof *s->x;
    const int tuned = s->params_dirty;
    int known;
    jn_fault f;
    long long i;
    jn_clear_fault(&f);
    if (jn_judge(s) || jn_apply_tunables(s)) return -1;
    known = jn_knows_rates(s);
    if (n > JN_MOST_TICKS) n = JN_MOST_TICKS; /* only with `part` */
    memcpy(s->x_old, s->x, bytes_x);
    if (n > 1 && !part) jn_keep_store(s);
    for (i = 0; i < n; i++) {
        if (part) memcpy(s->x_old, s->x, bytes_x);
        if (!one_tick(s, s->ticks + i + 1, known && !i, &f)) {
            jn_remember(s);
            continue;
        }
        memcpy(s->x, s->x_old, bytes_x);
        if (i && !part) jn_restore_store(s);
        if (part && i) break;
        if (tuned) {
            memcpy(s->p_now, s->p_old, bytes_p);
            memcpy(s->d, s->d_old, bytes_d);
            s->params_dirty = 1;
        }
        s->state = JN_FAILED;
        s->failed_tick = s->ticks + i;
        jn_fail_fault(s, "step failed", &f);
        {
            char text[sizeof s->error - 64]; /* leaves room for the ticks */
            memcpy(text, s->error, sizeof text);
            text[sizeof text - 1] = '\0';
            return jn_fail(s, "%s (tick %D; the state is that of tick %D)", text, s->failed_tick, s->ticks);
        }
    }
    s->ticks += i;
    s->outputs_dirty = 1;
    return i;
}
