/* See jn_derivative.h. Each direction takes one evaluation; an adjoint takes one for each of its knowns. */
#include "jn_derivative.h"

#include <stdint.h>
#include <string.h>

#include "jn_exchange.h"

typedef enum { KNOWN, UNKNOWN } jn_side;

static int is_known(const jn_instance *s, int row) {
    const int place = row - s->model->n_signals;
    return row == TIME_ROW || (place < 0 ? s->model->signals[row].kind == 'u' : place < jn_n_states(s));
}

static int is_unknown(const jn_instance *s, int row) {
    const int place = row - s->model->n_signals;
    return row != TIME_ROW && (place < 0 ? s->model->signals[row].kind == 'y' : place >= jn_n_states(s));
}

/* Counts the numbers that these references stand for; -1 and an error for a wrong reference. */
static int count(jn_instance *s, const jn_list *as, const unsigned vr[], size_t n, jn_side side, size_t *numbers) {
    size_t i;
    *numbers = 0;
    if (n && !vr) return jn_fail(s, "null array");
    for (i = 0; i < n; i++) {
        const int row = jn_list_row(s, as, vr[i]);
        if (row == NO_ROW) return -1;
        if (side == KNOWN && !is_known(s, row))
            return jn_fail(s, "value reference %D: knowns are inputs, states and the time", (long long)vr[i]);
        if (side == UNKNOWN && !is_unknown(s, row))
            return jn_fail(s, "value reference %D: unknowns are outputs and derivatives of states", (long long)vr[i]);
        *numbers += (size_t)jn_list_width(s, row);
    }
    return 0;
}

static int check(jn_instance *s, const jn_list *as, const jn_sensitivity *q, int adjoint) {
    const size_t given[2] = {adjoint ? q->n_result : q->n_seed, adjoint ? q->n_seed : q->n_result};
    size_t knowns, unknowns, i;
    if ((q->n_seed && !q->seed) || (q->n_result && !q->result)) return jn_fail(s, "null array");
    if (count(s, as, q->known, q->n_known, KNOWN, &knowns)) return -1;
    if (count(s, as, q->unknown, q->n_unknown, UNKNOWN, &unknowns)) return -1;
    if (given[0] != knowns || given[1] != unknowns)
        return jn_fail(s, "%D numbers of knowns and %D of unknowns; the value references ask for %D and %D",
                       (long long)given[0], (long long)given[1], (long long)knowns, (long long)unknowns);
    for (i = 0; i < q->n_seed; i++)
        if (!jn_finite(q->seed[i])) return jn_fail(s, "seed %D = %g: not a finite number", (long long)i, q->seed[i]);
    return 0;
}

static void clear(jn_instance *s) {
    memset(s->d_x, 0, (size_t)s->model->n_x * sizeof *s->d_x);
    memset(s->d_u, 0, (size_t)s->model->n_u * sizeof *s->d_u);
}

static void add_seed(jn_instance *s, int row, double seed) {
    const int place = row - s->model->n_signals;
    if (row == TIME_ROW) return; /* the model does not depend on it */
    *(place < 0 ? s->d_u + s->model->signals[row].index : s->d_x + place) += seed;
}

static double moved(const jn_instance *s, int row) {
    const int place = row - s->model->n_signals;
    return place < 0 ? s->d_y[s->model->signals[row].index] : s->d_rate[place - jn_n_states(s)];
}

/* Computes d_rate and d_y, as requested, for the seeds in d_x and d_u; 1 if the model cannot be evaluated. */
static int move(jn_instance *s, int rates, int outputs) {
    const jn_model *m = s->model;
    const double *x = s->x;
    jn_fault f;
    int i;
    jn_clear_fault(&f);
    if (((const jn_base *)s->face)->exchange && m->finish) {
        memcpy(s->x_stage, x, (size_t)m->n_x * sizeof *x);
        for (i = 0; i < JN_PROJECTIONS; i++) {
            m->finish_forward(s->x_stage, s->u, s->p_now, s->d_u, s->d_x);
            m->finish(s->x_stage, s->u, s->p_now);
        }
        x = s->x_stage;
    }
    if (m->directional(x, s->u, s->p_now, s->d, s->d_x, s->d_u, rates ? s->d_rate : NULL, outputs ? s->d_y : NULL, &f))
        return -jn_fail_fault(s, "no derivatives", &f);
    for (i = 0; outputs && i < m->n_y; i++)
        if (!jn_finite(s->d_y[i]))
            return -jn_fail(s, "derivative of output %s = %g: not a finite number", m->signals[m->n_u + i].name,
                            s->d_y[i]);
    for (i = 0; rates && i < jn_n_states(s); i++)
        if (!jn_finite(s->d_rate[i]))
            return -jn_fail(s, "derivative of rate %d = %g: not a finite number", i, s->d_rate[i]);
    return 0;
}

/* Sets whether rates and whether outputs are among the unknowns. */
static void asked(jn_instance *s, const jn_list *as, const jn_sensitivity *q, int *rates, int *outputs) {
    size_t i;
    *rates = *outputs = 0;
    for (i = 0; i < q->n_unknown; i++)
        *(jn_list_row(s, as, q->unknown[i]) < s->model->n_signals ? outputs : rates) = 1;
}

int jn_directional(jn_instance *s, const jn_list *as, const jn_sensitivity *q) {
    size_t i, place = 0;
    int k, row, rates, outputs;
    if (check(s, as, q, 0)) return -1;
    asked(s, as, q, &rates, &outputs);
    clear(s);
    for (i = 0; i < q->n_known; i++) {
        row = jn_list_row(s, as, q->known[i]);
        for (k = 0; k < jn_list_width(s, row); k++) add_seed(s, row + k, q->seed[place++]);
    }
    if (move(s, rates, outputs)) return 1;
    for (i = place = 0; i < q->n_unknown; i++) {
        row = jn_list_row(s, as, q->unknown[i]);
        for (k = 0; k < jn_list_width(s, row); k++) q->result[place++] = moved(s, row + k);
    }
    return 0;
}

/* Sum over the unknowns of seed times derivative. */
static double weighed(jn_instance *s, const jn_list *as, const jn_sensitivity *q) {
    double total = 0.0;
    size_t i, place = 0;
    int k;
    for (i = 0; i < q->n_unknown; i++) {
        const int row = jn_list_row(s, as, q->unknown[i]);
        for (k = 0; k < jn_list_width(s, row); k++) total += q->seed[place++] * moved(s, row + k);
    }
    return total;
}

int jn_adjoint(jn_instance *s, const jn_list *as, const jn_sensitivity *q) {
    size_t i, place = 0;
    int k, rates, outputs;
    if (check(s, as, q, 1)) return -1;
    asked(s, as, q, &rates, &outputs);
    for (i = 0; i < q->n_known; i++) {
        const int row = jn_list_row(s, as, q->known[i]);
        for (k = 0; k < jn_list_width(s, row); k++) {
            clear(s);
            add_seed(s, row + k, 1.0);
            if (move(s, rates, outputs)) return 1;
            q->result[place++] = weighed(s, as, q);
        }
    }
    return 0;
}
