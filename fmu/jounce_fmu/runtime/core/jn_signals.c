/* Signals of an instance: found by reference, checked against what is allowed, set and read. */
#include <math.h>
#include <string.h>

#include "jn_core.h"

int jn_find(jn_instance *s, unsigned vr) {
    const jn_signal *rows = s->model->signals;
    int low = 0, high = s->model->n_signals - 1;
    if (s->hint < high && rows[s->hint + 1].vr == vr) return ++s->hint;
    while (low <= high) {
        const int middle = low + (high - low) / 2, row = s->model->by_reference[middle];
        if (rows[row].vr == vr) return s->hint = row;
        if (rows[row].vr < vr) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

/* Allowance for rounding at a bound [the signal's unit]. jounce.values has the same rule. */
static double slack(const jn_signal *g, double bound) {
    return g->type == 'r' ? 1e-9 * fabs(bound != 0.0 ? bound : g->nominal) : 0.0;
}

/* Moves a value that rounding has put beyond a bound onto the bound. */
static double within(const jn_signal *g, double v) {
    if (v < g->min && v >= g->min - slack(g, g->min)) return g->min;
    if (v > g->max && v <= g->max + slack(g, g->max)) return g->max;
    return v;
}

static int is_used(const jn_instance *s, const jn_signal *g) {
    return g->switched_by < 0 || s->p[g->switched_by] == g->switched_at;
}

static int check_bounds(jn_instance *s, const jn_signal *g, double v) {
    const int gap = v > 1e-5 * g->nominal && v < g->least_nonzero - slack(g, g->least_nonzero);
    if (!gap && within(g, v) >= g->min && within(g, v) <= g->max) return 0;
    if (g->least_nonzero > 0.0)
        return jn_fail(s, "%s = %g: expected 0, or %g to %g", g->name, v, g->least_nonzero, g->max);
    return jn_fail(s, "%s = %g: expected %g to %g", g->name, v, g->min, g->max);
}

/* z of the unit vector along v; 0 for the zero vector. v is scaled first, so that no square overflows or underflows. */
static double share_up(const double *v) {
    const double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    double x, y, z;
    if (most == 0.0) return 0.0;
    x = v[0] / most, y = v[1] / most, z = v[2] / most;
    return z / sqrt(x * x + y * y + z * z);
}

int jn_judge(jn_instance *s) {
    int row;
    if (!s->inputs_dirty) return 0;
    for (row = 0; row < s->model->n_u; row++) {
        const jn_signal *g = &s->model->signals[row];
        const double *v = s->u + row;
        if (g->switched_by < 0 && g->least_up == 0.0) continue;
        if (!is_used(s, g)) continue;
        if (check_bounds(s, g, *v)) return -1;
        if (g->least_up == 0.0 || g->more != 2 || share_up(v) >= g->least_up * (1.0 - 1e-9)) continue;
        return jn_fail(s, "%s, .y, .z = %g, %g, %g: expected a vector of any length whose z is at least %g of it",
                       g->name, v[0], v[1], v[2], g->least_up);
    }
    s->inputs_dirty = 0;
    return 0;
}

int jn_check(jn_instance *s, int row, double v) {
    const jn_signal *g = &s->model->signals[row];
    if (g->kind == 'y') return jn_fail(s, "%s is an output; only inputs and parameters can be set", g->name);
    if (g->kind == 'p' && g->fixed && !(s->state & (JN_INSTANTIATED | JN_INITIALIZING)))
        return jn_fail(s, "%s = %g: a fixed parameter; expected before the end of initialization", g->name, v);
    if (!jn_finite(v)) return jn_fail(s, "%s = %g: not a finite number", g->name, v);
    if (!is_used(s, g)) return 0;
    /* jn_judge checks a direction when all its components are set; one with z < 0 is wrong whatever x and y are. */
    if (g->least_up > 0.0 && !g->more && v < 0.0) return jn_fail(s, "%s = %g: expected 0 or more", g->name, v);
    return check_bounds(s, g, v);
}

void jn_apply(jn_instance *s, int row, double v) {
    const jn_signal *g = &s->model->signals[row];
    int before = (s->state & (JN_INSTANTIATED | JN_INITIALIZING)) != 0;
    v = within(g, v);
    if (!memcmp(&v, (g->kind == 'u' ? s->u : s->p) + g->index, sizeof v)) return; /* masters set what stays, too */
    if (g->kind == 'u') {
        s->u[g->index] = v;
        s->outputs_dirty = s->inputs_dirty = 1;
    } else {
        s->p[g->index] = v;
        if (!before) s->params_dirty = 1;
    }
    if (before) s->start_dirty = s->outputs_dirty = 1;
}

double jn_value(const jn_instance *s, int row) {
    const jn_signal *g = &s->model->signals[row];
    return (g->kind == 'u' ? s->u : g->kind == 'y' ? s->y : s->p)[g->index];
}
