/* See jn_face.h. */
#include "jn_face.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jn_exchange.h"

#define EXACT 9007199254740992.0 /* 2^53: whole numbers up to here are exact as doubles */

/* ---- log and states -------------------------------------------------------------------------------------- */

const char *const jn_categories[CATEGORIES] = {"logStatusError", "logStatusWarning", "logEvents"};

int jn_choose_logs(jn_instance *s, int on, size_t n, const char *const names[]) {
    jn_base *f = (jn_base *)s->face;
    int chosen[CATEGORIES] = {0, 0, 0}, k;
    size_t i;
    for (i = 0; i < n; i++) {
        int found = 0;
        for (k = 0; names && names[i] && k < CATEGORIES; k++)
            if (!strcmp(names[i], jn_categories[k]) || !strcmp(names[i], "logAll")) chosen[k] = found = 1;
        if (!found)
            return jn_fail(s, "category %s; expected logAll, logStatusError, logStatusWarning, logEvents",
                           names ? names[i] : NULL);
    }
    for (k = 0; k < CATEGORIES; k++)
        if (!n || chosen[k]) f->logged[k] = on != 0;
    return 0;
}

const char *jn_state_name(int state) {
    return state == JN_INSTANTIATED   ? "instantiated"
           : state == JN_CONFIGURING  ? "configuration mode"
           : state == JN_INITIALIZING ? "initialization mode"
           : state == JN_EVENT        ? "event mode"
           : state == JN_CONTINUOUS   ? "continuous-time mode"
           : state == JN_STEPPING     ? "step mode"
           : state == JN_FAILED       ? "failed"
                                      : "terminated";
}

/* ---- lists of values --------------------------------------------------------------------------------------- */

static int check_list(jn_instance *s, const unsigned vr[], size_t n, const void *values, size_t n_values) {
    if ((n && !vr) || (n_values && !values)) return jn_fail(s, "null array");
    if (n > n_values) return jn_fail(s, "%D value references and only %D values", (long long)n, (long long)n_values);
    if (n_values > PTRDIFF_MAX / sizeof(double)) return jn_fail(s, "the list is longer than memory can hold");
    return 0;
}

/* Row of a state or of its derivative: the states have the rows after the table, and their derivatives follow. */
static int state_row(const jn_instance *s, unsigned vr) {
    const int n = jn_n_states(s), rate = vr >= JN_FIRST_STATE + JN_RATE_OFFSET;
    const unsigned of = rate ? vr - JN_RATE_OFFSET : vr;
    int k, i = (int)((of - JN_FIRST_STATE) % (unsigned)(n ? n : 1)); /* first guess, mostly right */
    for (k = 0; k < n; k++, i = i + 1 < n ? i + 1 : 0)
        if (s->model->state_references[i] == of) return s->model->n_signals + i + (rate ? n : 0);
    return NO_ROW;
}

static int is_state(const jn_instance *s, int row) { return row >= s->model->n_signals; }

int jn_list_row(jn_instance *s, const jn_list *as, unsigned vr) {
    const jn_base *f = (const jn_base *)s->face;
    const jn_signal *rows = s->model->signals;
    static const char letters[] = "ribe";
    int row = s->hint + 1; /* most lists follow the order of the table */
    if (!f->arrays && row < s->model->n_signals && rows[row].vr == vr && rows[row].type == as->types[0])
        return s->hint = row;
    if (f->has_time && vr == 0 && strchr(as->types, 'r')) return TIME_ROW;
    row = jn_find(s, vr);
    if (row < 0 && f->has_states && strchr(as->types, 'r')) row = state_row(s, vr);
    if (is_state(s, row)) return row;
    if (row < 0) return jn_fail(s, "value reference %D is unknown", (long long)vr);
    if (f->arrays && row && rows[row - 1].more) {
        int first = row - 1;
        while (first && rows[first - 1].more) first--;
        return jn_fail(s, "%s is part of a vector; the vector's value reference is %D", rows[row].name,
                       (long long)rows[first].vr);
    }
    if (!strchr(as->types, rows[row].type))
        return jn_fail(s, "%s is of type %s, not %s", rows[row].name,
                       f->type_names[strchr(letters, rows[row].type) - letters], as->name);
    if (f->arrays) s->hint = row + rows[row].more; /* the next signal begins after it */
    return row;
}

int jn_list_width(const jn_instance *s, int row) {
    return row >= 0 && !is_state(s, row) && ((const jn_base *)s->face)->arrays ? s->model->signals[row].more + 1 : 1;
}

static int wrong_count(jn_instance *s, size_t given, size_t needed) {
    return jn_fail(s, "%D values; the value references ask for %s%D", (long long)given,
                   needed > given ? "at least " : "", (long long)needed);
}

static double value_of(const jn_instance *s, int row) {
    const int place = row - s->model->n_signals, n = jn_n_states(s);
    if (row == TIME_ROW) return jn_time(s);
    return place < 0 ? jn_value(s, row) : place < n ? s->x[place] : s->dx[place - n];
}

static void store(const jn_list *as, void *values, size_t i, double v) {
    if (as->carrier == JN_DOUBLE) ((double *)values)[i] = v;
    else if (as->carrier == JN_INT32) ((int *)values)[i] = (int)v;
    else if (as->carrier == JN_INT64) ((int64_t *)values)[i] = (int64_t)v;
    else if (as->carrier == JN_BYTE) ((unsigned char *)values)[i] = v != 0.0;
}

static double load(const jn_list *as, const void *values, size_t i) {
    return as->carrier == JN_DOUBLE  ? ((const double *)values)[i]
           : as->carrier == JN_INT32 ? (double)((const int *)values)[i]
           : as->carrier == JN_INT64 ? (double)((const int64_t *)values)[i]
           : as->carrier == JN_BYTE  ? (double)((const unsigned char *)values)[i]
                                     : 0.0;
}

static int check_fit(jn_instance *s, const jn_list *as, int row, double v) {
    const char *name = row == TIME_ROW ? "time" : s->model->signals[row].name;
    if ((as->carrier == JN_INT32 && (v > (double)INT_MAX || v < (double)INT_MIN)) ||
        (as->carrier == JN_INT64 && (v > EXACT || v < -EXACT)))
        return jn_fail(s, "%s = %g: does not fit the type %s", name, v, as->name);
    return 0;
}

/* Computes what the row needs, once per list: outputs, or outputs and rates. */
static int ready(jn_instance *s, int row, unsigned vr, int *outputs, int *rates) {
    const int rate = row >= s->model->n_signals + jn_n_states(s);
    if (s->state == JN_INSTANTIATED)
        return jn_fail(s, "value reference %D: outputs are known from initialization mode on", (long long)vr);
    if (!*outputs && jn_exchange_refresh(s)) return -1;
    if (rate && !*rates && jn_rates(s)) return -1;
    *outputs = 1;
    *rates |= rate;
    return 0;
}

int jn_get_list(jn_instance *s, const jn_list *as, const unsigned vr[], size_t n, void *values, size_t n_values) {
    const jn_signal *rows = s->model->signals;
    size_t i, place = 0, width;
    int row, end, outputs = 0, rates = 0;
    if (check_list(s, vr, n, values, n_values)) return -1;
    for (i = 0; i < n; i++) {
        row = jn_list_row(s, as, vr[i]);
        if (row == NO_ROW) return -1;
        width = (size_t)jn_list_width(s, row);
        if (width > n_values - place) return wrong_count(s, n_values, place + width);
        if (row != TIME_ROW && (is_state(s, row) || rows[row].kind == 'y') && ready(s, row, vr[i], &outputs, &rates))
            return -1;
        for (end = row + (int)width; row < end; row++) {
            const double v = value_of(s, row);
            if (as->carrier != JN_DOUBLE && check_fit(s, as, row, v)) return -1;
            store(as, values, place++, v);
        }
    }
    return place == n_values ? 0 : wrong_count(s, n_values, place);
}

int jn_set_list(jn_instance *s, const jn_list *as, const unsigned vr[], size_t n, const void *values,
                size_t n_values) {
    size_t i, place = 0;
    int row, k;
    if (check_list(s, vr, n, values, n_values)) return -1;
    for (i = 0; i < n; i++) {
        row = jn_list_row(s, as, vr[i]);
        if (row == NO_ROW) return -1;
        if (row == TIME_ROW) return jn_fail(s, "time cannot be set; steps advance it");
        if (is_state(s, row))
            return jn_fail(s, "value reference %D is a state, which cannot be set here", (long long)vr[i]);
        if (s->state == JN_CONTINUOUS && s->model->signals[row].kind == 'p')
            return jn_fail(s, "%s is a parameter: not allowed in continuous-time mode", s->model->signals[row].name);
        if (place + (size_t)jn_list_width(s, row) > n_values)
            return wrong_count(s, n_values, place + (size_t)jn_list_width(s, row));
        for (k = 0; k < jn_list_width(s, row); k++) {
            double v = load(as, values, place++);
            if (jn_check(s, row + k, v) || check_fit(s, as, row + k, v)) return -1;
            if (s->model->signals[row].type == 'b' && v != 0.0 && v != 1.0)
                return jn_fail(s, "%s = %g: expected 0 or 1", s->model->signals[row + k].name, v);
        }
    }
    if (place != n_values) return wrong_count(s, n_values, place);
    for (i = place = 0; i < n; i++) {
        row = jn_list_row(s, as, vr[i]);
        for (k = 0; k < jn_list_width(s, row); k++) jn_apply(s, row + k, load(as, values, place++));
    }
    return 0;
}

/* ---- saved states -------------------------------------------------------------------------------------------- */

typedef struct {
    size_t size;
    unsigned char bytes[8]; /* continues past the struct */
} saved_state;

static int make_room(jn_instance *s, size_t size, void **state) {
    saved_state *saved = (saved_state *)*state;
    if (saved && saved->size == size) return 0;
    saved = (saved_state *)realloc(saved, sizeof *saved + size); /* one saved before there was a store, or after */
    if (!saved) return jn_fail(s, "no memory for a snapshot of %D bytes", (long long)size);
    saved->size = size;
    *state = saved;
    return 0;
}

int jn_state_save(jn_instance *s, void **state) {
    if (!state) return jn_fail(s, "null pointer");
    if (make_room(s, jn_snapshot_size(s), state)) return -1;
    jn_snapshot_write(s, ((saved_state *)*state)->bytes);
    return 0;
}

int jn_state_restore(jn_instance *s, const void *state) {
    const saved_state *saved = (const saved_state *)state;
    return saved ? jn_snapshot_read(s, saved->bytes, saved->size) : jn_fail(s, "null pointer");
}

int jn_state_size(jn_instance *s, const void *state, size_t *size) {
    if (!state || !size) return jn_fail(s, "null pointer");
    *size = ((const saved_state *)state)->size;
    return 0;
}

int jn_state_write(jn_instance *s, const void *state, void *bytes, size_t size) {
    const saved_state *saved = (const saved_state *)state;
    if (!saved || !bytes) return jn_fail(s, "null pointer");
    if (size < saved->size)
        return jn_fail(s, "buffer of %D bytes; expected %D or more", (long long)size, (long long)saved->size);
    memcpy(bytes, saved->bytes, saved->size);
    return 0;
}

int jn_state_read(jn_instance *s, const void *bytes, size_t size, void **state) {
    if (!bytes || !state) return jn_fail(s, "null pointer");
    if (jn_snapshot_check(s, (const unsigned char *)bytes, size) || make_room(s, size, state)) return -1;
    memcpy(((saved_state *)*state)->bytes, bytes, size);
    return 0;
}

void jn_state_free(void **state) {
    if (!state) return;
    free(*state);
    *state = NULL;
}
