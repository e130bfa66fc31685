/* An instance from its one allocation to its start state, and its outputs, which wait until they are read. */
#include "jn_core.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jn_resource.h"
#include "jn_store.h"

#define DEFAULT_TICK 0.001
#define ALIGN 64 /* bytes: the widest vector load of a model variant; zeros fill the last block of a vector of the core */

const jn_model *jn_pick_model(void) {
    int i, best = 0;
    for (i = 0; jn_models[i]; i++)
        if (jn_variant_supported(i)) best = i;
    return jn_models[best];
}

static int table_is_sound(const jn_model *m) {
    int row, k = 0;
    if (m->n_signals != m->n_u + m->n_y + m->n_p) return 0;
    if (m->p_tick >= m->n_p || m->p_integrator >= m->n_p) return 0;
    for (row = 0; row < m->n_signals; row++) {
        const jn_signal *g = &m->signals[row];
        char kind = row < m->n_u ? 'u' : row < m->n_u + m->n_y ? 'y' : 'p';
        if (row == m->n_u || row == m->n_u + m->n_y) k = 0;
        if (g->kind != kind || g->index != k++) return 0;
        if (g->more && (row + 1 == m->n_signals || g[1].more != g->more - 1 || g[1].kind != kind)) return 0;
    }
    for (row = 0; row < m->n_signals; row++) { /* references rise strictly, so each row occurs exactly once */
        const int at = m->by_reference[row];
        if (at < 0 || at >= m->n_signals) return 0;
        if (row && m->signals[at].vr <= m->signals[m->by_reference[row - 1]].vr) return 0;
    }
    if (m->directional && m->finish && !m->finish_forward) return 0;
    if (!m->rhs == !m->step) return 0;
    if (m->step && (m->nominals || m->jacobian || m->directional || m->p_integrator >= 0)) return 0;
    if (m->nominals && !m->state_references) return 0;
    for (k = 0; m->nominals && k < m->n_x - m->n_memory; k++)
        if (!(m->nominals[k] > 0.0)) return 0;
    if (m->nominals && m->nominals[k] != 0.0) return 0;
    row = m->n_u + m->n_y; /* a tick whose length changes during a run would break time = start + ticks * tick_length */
    return (m->p_tick < 0 || m->signals[row + m->p_tick].fixed) &&
           (m->p_integrator < 0 || m->signals[row + m->p_integrator].fixed);
}

static size_t rounded(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

enum { PLACES = 20 }; /* vectors of an instance */

jn_instance *jn_create(const jn_model *m, size_t face_bytes) {
    double **places[PLACES];
    size_t counts[PLACES], total, i;
    jn_instance *s, probe;
    double *pivot;
    char *base;
    if (!table_is_sound(m)) return NULL;
    {
        size_t x = (size_t)m->n_x, u = (size_t)m->n_u, y = (size_t)m->n_y, p = (size_t)m->n_p, d = (size_t)m->n_d;
        const size_t n = m->jacobian ? x - (size_t)m->n_memory : 0;
        const size_t wanted[PLACES] = {u, p, p, d, x, y, d, x, p, x, x, x, x, u, x, y, n * n, n,
                                       (size_t)m->n_work, x};
        memcpy(counts, wanted, sizeof counts);
    }
    total = rounded(sizeof probe) + rounded(face_bytes) + ALIGN;
    for (i = 0; i < PLACES; i++) total += rounded(counts[i] * sizeof(double));
    s = (jn_instance *)calloc(1, total);
    if (!s) return NULL;
    places[0] = &s->u; places[1] = &s->p; places[2] = &s->p_now; places[3] = &s->d; places[4] = &s->x;
    places[5] = &s->y; places[6] = &s->d_old; places[7] = &s->x_old; places[8] = &s->p_old;
    places[9] = &s->x_stage; places[10] = &s->dx; places[11] = &s->dx2;
    places[12] = &s->d_x; places[13] = &s->d_u; places[14] = &s->d_rate; places[15] = &s->d_y;
    places[16] = &s->matrix; places[17] = &pivot; places[18] = &s->work;
    places[19] = &s->known;
    s->face = (char *)s + rounded(sizeof probe);
    base = (char *)s->face + rounded(face_bytes);
    base += (ALIGN - (uintptr_t)base % ALIGN) % ALIGN;
    for (i = 0; i < PLACES; i++) {
        *places[i] = (double *)(void *)base;
        base += rounded(counts[i] * sizeof(double));
    }
    s->pivot = (int *)(void *)pivot;
    s->model = m;
    jn_reset(s);
    return s;
}

void jn_destroy(jn_instance *s) {
    if (s->resource) s->model->close(s->resource);
    jn_free_store(s);
    free(s->folder);
    free(s);
}

void jn_reset(jn_instance *s) {
    const jn_model *m = s->model;
    int row;
    s->state = JN_INSTANTIATED;
    s->ticks = 0;
    s->start_time = 0.0;
    s->stop_time = HUGE_VAL;
    s->tick_length = DEFAULT_TICK;
    s->start_dirty = s->outputs_dirty = 1;
    s->params_dirty = 0;
    s->inputs_dirty = 1;
    s->hint = -1;
    memset(s->x, 0, (size_t)m->n_x * sizeof *s->x);
    memset(s->d, 0, (size_t)m->n_d * sizeof *s->d);
    memset(s->y, 0, (size_t)m->n_y * sizeof *s->y);
    jn_free_store(s);
    for (row = 0; row < m->n_signals; row++) {
        const jn_signal *g = &m->signals[row];
        if (g->kind == 'u') s->u[g->index] = g->start;
        else if (g->kind == 'p') s->p[g->index] = s->p_now[g->index] = g->start;
    }
}

static int try_start(jn_instance *s) {
    const jn_model *m = s->model;
    jn_fault f;
    int i;
    jn_clear_fault(&f);
    if (m->p_integrator >= 0 && s->p[m->p_integrator] != JN_RK4 && !(m->jacobian && s->p[m->p_integrator] == JN_ROSENBROCK))
        return jn_fail(s, "%s = %g: expected 1 (RK4)%s", m->signals[m->n_u + m->n_y + m->p_integrator].name,
                       s->p[m->p_integrator], m->jacobian ? " or 2 (ROSENBROCK)" : "");
    s->inputs_dirty = 1; /* parameters may have changed which inputs are used */
    if (jn_judge(s)) return -1;
    memcpy(s->p_now, s->p, (size_t)m->n_p * sizeof *s->p);
    if (m->p_tick >= 0) s->tick_length = s->p[m->p_tick];
    if (!(s->tick_length > 0.0))
        return jn_fail(s, "%s = %g: expected numbers > 0", m->signals[m->n_u + m->n_y + m->p_tick].name, s->tick_length);
    if (jn_open_resource(s, s->p_now) || jn_use_store(s, s->p_now)) return -1;
    jn_tell_resource(s, s->d);
    jn_tell_store(s, s->d);
    if (m->derive(s->p_now, s->d, &f)) return jn_fail_fault(s, "parameters refused", &f);
    if (m->start(s->p_now, s->d, s->u, s->x, &f)) return jn_fail_fault(s, "no start state", &f);
    if (m->finish) m->finish(s->x, s->u, s->p_now);
    if (m->decide) m->decide(s->start_time, s->u, s->p_now, s->d, s->x);
    i = jn_first_nonfinite(s->x, m->n_x);
    if (i >= 0) return jn_fail(s, "no start state: state %d is not a finite number", i);
    jn_remember(s);
    s->start_dirty = s->params_dirty = 0;
    s->outputs_dirty = 1;
    return 0;
}

static int start_over(jn_instance *s) {
    if (!try_start(s)) return 0;
    memset(s->d, 0, (size_t)s->model->n_d * sizeof *s->d); /* a snapshot must not hold a partial result */
    memset(s->x, 0, (size_t)s->model->n_x * sizeof *s->x);
    return -1;
}

int jn_refresh(jn_instance *s) {
    const jn_model *m = s->model;
    jn_fault f;
    int i;
    if (s->start_dirty && start_over(s)) return -1;
    if (!s->outputs_dirty) return 0;
    if (jn_judge(s)) return -1;
    jn_clear_fault(&f);
    s->known[0] = NAN;
    if (m->outputs(s->x, s->u, s->p_now, s->d, s->ticks, s->y, s->known, &f)) return jn_fail_fault(s, "no outputs", &f);
    i = jn_first_nonfinite(s->y, m->n_y);
    if (i >= 0) return jn_fail(s, "output %s = %g: not a finite number", m->signals[m->n_u + i].name, s->y[i]);
    s->outputs_dirty = 0;
    return 0;
}

int jn_knows_rates(const jn_instance *s) { return !s->outputs_dirty && jn_finite(s->known[0]); }

int jn_setup(jn_instance *s, double start_time, int has_stop, double stop_time) {
    if (!jn_finite(start_time)) return jn_fail(s, "start time = %g: not a finite number", start_time);
    if (has_stop && !(stop_time >= start_time))
        return jn_fail(s, "stop time = %g: expected numbers from the start time %g on", stop_time, start_time);
    s->start_time = start_time;
    s->stop_time = has_stop ? stop_time : HUGE_VAL;
    return 0;
}

int jn_finish_init(jn_instance *s) {
    if (s->start_dirty && start_over(s)) return -1;
    s->state = JN_STEPPING;
    return 0;
}

int jn_parameter_warning(jn_instance *s, int k) {
    jn_fault f;
    jn_clear_fault(&f);
    if (!s->model->parameter_warning || !s->model->parameter_warning(s->p_now, s->d, k, &f)) return 0;
    jn_fail_fault(s, "warning about a parameter", &f);
    return 1;
}
