/* See jn_exchange.h. */
#include "jn_exchange.h"

#include <math.h>
#include <string.h>

#include "jn_face.h"
#include "jn_store.h"

#define ON_TIME 1e-6 /* of a controller's period by which an event may miss its time */

int jn_n_states(const jn_instance *s) { return s->model->n_x - s->model->n_memory; }

static int is_before(const jn_instance *s) { return (s->state & (JN_INSTANTIATED | JN_INITIALIZING)) != 0; }

/* The states at which to evaluate: their projection in model exchange, and the states themselves otherwise. */
static double *point(jn_instance *s) {
    const jn_model *m = s->model;
    int k;
    if (!((const jn_base *)s->face)->exchange || is_before(s)) return s->x;
    memcpy(s->x_stage, s->x, (size_t)m->n_x * sizeof *s->x);
    for (k = 0; m->finish && k < JN_PROJECTIONS; k++) m->finish(s->x_stage, s->u, s->p_now);
    jn_drop_tiny(m, s->x_stage);
    return s->x_stage;
}

int jn_rates(jn_instance *s) {
    const jn_model *m = s->model;
    jn_fault f;
    int i;
    if ((s->start_dirty && jn_refresh(s)) || jn_judge(s)) return -1;
    jn_clear_fault(&f);
    if (jn_knows_rates(s)) memcpy(s->dx, s->known, (size_t)m->n_x * sizeof *s->dx);
    else if (m->rhs(0.0, point(s), s->u, s->p_now, s->d, s->dx, &f)) return jn_fail_fault(s, "no derivatives", &f);
    for (i = 0; i < jn_n_states(s); i++)
        if (!jn_finite(s->dx[i])) return jn_fail(s, "derivative %d = %g: not a finite number", i, s->dx[i]);
    return 0;
}

int jn_exchange_refresh(jn_instance *s) {
    double *kept = s->x;
    int bad;
    if (!s->outputs_dirty) return 0;
    s->x = point(s);
    bad = jn_refresh(s);
    s->x = kept;
    return bad;
}

/* Whole periods up to time t. */
static double periods(double t, double period) { return floor(t / period + ON_TIME); }

int jn_is_due(double t, double decided, double period) { return periods(t, period) > periods(decided, period); }

int jn_exchange_event(jn_instance *s, double *next) {
    const jn_model *m = s->model;
    double period;
    *next = 0.0;
    if (!m->decide) return 0;
    period = m->period(s->p_now);
    m->decide(s->start_time, s->u, s->p_now, s->d, s->x);
    s->outputs_dirty = 1;
    *next = (periods(s->start_time, period) + 1.0) * period;
    return 1;
}

void jn_exchange_completed(jn_instance *s) {
    if (!s->store) return;
    jn_remember(s);
    s->outputs_dirty = 1;
}

int jn_exchange_time(jn_instance *s, double t) {
    if (!jn_finite(t)) return jn_fail(s, "time = %g: not a finite number", t);
    s->start_time = t;
    return 0;
}

static int check_vector(jn_instance *s, const void *values, size_t n) {
    if (n != (size_t)jn_n_states(s))
        return jn_fail(s, "%D states; expected %d", (long long)n, jn_n_states(s));
    return n && !values ? jn_fail(s, "null array") : 0;
}

int jn_exchange_set(jn_instance *s, const double *x, size_t n) {
    size_t i;
    if (check_vector(s, x, n)) return -1;
    for (i = 0; i < n; i++)
        if (!jn_finite(x[i])) return jn_fail(s, "state %D = %g: not a finite number", (long long)i, x[i]);
    memcpy(s->x, x, n * sizeof *x);
    s->outputs_dirty = 1;
    return 0;
}

int jn_exchange_get(jn_instance *s, const double *from, double *to, size_t n) {
    if (check_vector(s, to, n)) return -1;
    memcpy(to, from, n * sizeof *to);
    return 0;
}
