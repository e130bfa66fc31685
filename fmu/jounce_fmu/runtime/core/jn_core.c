/* Instance core: one allocation, integer tick, fixed-step RK4 or ROSENBROCK, lazy outputs. See jn_core.h. */
#include "jn_core.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_resource.h"
#include "jn_rosenbrock.h"
#include "jn_store.h"

#define DEFAULT_TICK 0.001
#define RK4 1.0 /* values of the parameter `integrator` */
#define ROSENBROCK 2.0
#define LOST 1e50 /* a state this large has diverged */
#define ALIGN 64  /* bytes: the widest vector load that a model variant may use */

enum { BLOCK = 4 }; /* doubles; vectors are computed in whole blocks, and ALIGN leaves room for zeros at their end */

int jn_finite(double value) { return value - value == 0.0; }

int jn_first_nonfinite(const double *v, int n) {
    double all[BLOCK] = {0.0};
    int i, j;
    for (i = 0; i < n; i += BLOCK)
        for (j = 0; j < BLOCK; j++) all[j] += v[i + j] - v[i + j];
    if ((all[0] + all[1]) + (all[2] + all[3]) == 0.0) return -1;
    for (i = 0; jn_finite(v[i]); i++) {}
    return i;
}

/* Writes the shortest text that reads back as the same double, with a decimal point in any locale. */
static void number_text(double v, char *out, size_t size) {
    char raw[48];
    int digits;
    size_t i, n = 0;
    int in_sign = 0;
    if (v != v) { snprintf(out, size, "nan"); return; }
    if (!jn_finite(v)) { snprintf(out, size, v > 0 ? "inf" : "-inf"); return; }
    for (digits = 15; digits <= 17; digits++) {
        snprintf(raw, sizeof raw, "%.*g", digits, v);
        if (strtod(raw, NULL) == v) break;
    }
    for (i = 0; raw[i] && n + 1 < size; i++) {
        if (strchr("0123456789+-e", raw[i])) { out[n++] = raw[i]; in_sign = 0; }
        else if (!in_sign) { out[n++] = '.'; in_sign = 1; }
    }
    out[n] = '\0';
}

int jn_fail(jn_instance *s, const char *format, ...) {
    va_list args;
    size_t n = 0, size = sizeof s->error;
    va_start(args, format);
    for (; *format && n + 1 < size; format++) {
        char piece[64];
        const char *text = piece;
        if (*format != '%') { s->error[n++] = *format; continue; }
        format++;
        if (*format == 's') { text = va_arg(args, const char *); if (!text) text = "(null)"; }
        else if (*format == 'd') snprintf(piece, sizeof piece, "%d", va_arg(args, int));
        else if (*format == 'D') snprintf(piece, sizeof piece, "%lld", va_arg(args, long long));
        else if (*format == 'g') number_text(va_arg(args, double), piece, sizeof piece);
        else piece[0] = '\0';
        while (*text && n + 1 < size) s->error[n++] = *text++;
        if (!*format) break;
    }
    s->error[n] = '\0';
    va_end(args);
    return -1;
}

void jn_clear_fault(jn_fault *f) { f->signal = -1; f->value = 0.0; f->text[0] = '\0'; }

int jn_fail_fault(jn_instance *s, const char *where, jn_fault *f) {
    f->text[sizeof f->text - 1] = '\0';
    if (f->signal >= 0 && f->signal < s->model->n_signals)
        return jn_fail(s, "%s: %s = %g: %s", where, s->model->signals[f->signal].name, f->value, f->text);
    return jn_fail(s, "%s: %s", where, f->text[0] ? f->text : "the model gave no reason");
}

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

static int try_start(jn_instance *s) {
    const jn_model *m = s->model;
    jn_fault f;
    int i;
    jn_clear_fault(&f);
    if (m->p_integrator >= 0 && s->p[m->p_integrator] != RK4 && !(m->jacobian && s->p[m->p_integrator] == ROSENBROCK))
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
    const int implicit = m->p_integrator >= 0 && s->p_now[m->p_integrator] == ROSENBROCK;
    int i;
    if (m->begin && m->begin(s->u, s->p_now, s->d, s->x, f)) return -1;
    known = known && !memcmp(s->x, s->x_old, (size_t)m->n_x * sizeof *s->x);
    if (m->step ? m->step(s->tick_length, s->u, s->p_now, s->d, s->x, s->work, f)
                : implicit ? jn_rosenbrock_tick(s, f) : rk4_tick(s, known, f)) return -1;
    if (m->finish) m->finish(s->x, s->u, s->p_now);
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
