/* FMI 2.0 co-simulation, values and snapshots: every list is checked whole before anything is done. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jn_fmi2.h"

typedef struct {
    size_t size;
    unsigned char bytes[8]; /* goes on past the struct */
} saved_state;

/* ---- values: the whole list is checked before anything is done ---------------------------------------- */

static const char *type_name(char type) {
    return type == 'r' ? "Real" : type == 'i' ? "Integer" : type == 'b' ? "Boolean" : "Enumeration";
}

/* Row of a value reference with the asked type ("r", "b", or "ie"), or -1 with the error filled. */
static int find_typed(jn_instance *s, fmi2ValueReference vr, const char *types) {
    int row = jn_find(s, vr);
    if (row < 0) return jn_fail(s, "value reference %D is unknown", (long long)vr);
    if (!strchr(types, s->model->signals[row].type))
        return jn_fail(s, "%s is of type %s, not %s", s->model->signals[row].name,
                       type_name(s->model->signals[row].type), type_name(types[0]));
    return row;
}

/* One of real and integer (also for booleans) is given. */
static fmi2Status get_values(fmi2Component c, const char *function, const char *types,
                             const fmi2ValueReference vr[], size_t n, double *real, int *integer) {
    jn_instance *s = jn_fmi2_enter(c, GET_VALUE, function);
    size_t i;
    int row, outputs = 0;
    if (!s) return fmi2Error;
    if (n && (!vr || (!real && !integer))) { jn_fail(s, "null array"); return jn_fmi2_refuse(s, function); }
    for (i = 0; i < n; i++) {
        row = find_typed(s, vr[i], types);
        if (row < 0) return jn_fmi2_refuse(s, function);
        outputs |= s->model->signals[row].kind == 'y';
    }
    if (outputs && jn_refresh(s)) return jn_fmi2_refuse(s, function);
    for (i = 0; integer && i < n; i++) {
        row = jn_find(s, vr[i]);
        if (jn_value(s, row) > (double)INT_MAX || jn_value(s, row) < (double)INT_MIN) {
            jn_fail(s, "%s = %g: does not fit an fmi2Integer", s->model->signals[row].name, jn_value(s, row));
            return jn_fmi2_refuse(s, function);
        }
    }
    for (i = 0; i < n; i++) {
        double v = jn_value(s, jn_find(s, vr[i]));
        if (real) real[i] = v;
        else integer[i] = (int)v;
    }
    return fmi2OK;
}

static fmi2Status set_values(fmi2Component c, const char *function, const char *types,
                             const fmi2ValueReference vr[], size_t n, const double *real, const int *integer) {
    jn_instance *s = jn_fmi2_enter(c, SET_VALUE, function);
    size_t i;
    int row;
    if (!s) return fmi2Error;
    if (n && (!vr || (!real && !integer))) { jn_fail(s, "null array"); return jn_fmi2_refuse(s, function); }
    for (i = 0; i < n; i++) {
        double v = real ? real[i] : (double)integer[i];
        row = find_typed(s, vr[i], types);
        if (row < 0 || jn_check(s, row, v)) return jn_fmi2_refuse(s, function);
        if (types[0] == 'b' && v != 0.0 && v != 1.0) {
            jn_fail(s, "%s = %g: allowed are 0 and 1", s->model->signals[row].name, v);
            return jn_fmi2_refuse(s, function);
        }
    }
    for (i = 0; i < n; i++) jn_apply(s, jn_find(s, vr[i]), real ? real[i] : (double)integer[i]);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    return get_values(c, "fmi2GetReal", "r", vr, n, value, NULL);
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]) {
    return get_values(c, "fmi2GetInteger", "ie", vr, n, NULL, value);
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[]) {
    return get_values(c, "fmi2GetBoolean", "b", vr, n, NULL, value);
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
    return set_values(c, "fmi2SetReal", "r", vr, n, value, NULL);
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]) {
    return set_values(c, "fmi2SetInteger", "ie", vr, n, NULL, value);
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]) {
    return set_values(c, "fmi2SetBoolean", "b", vr, n, NULL, value);
}

static fmi2Status no_strings(fmi2Component c, size_t n, jn_call which, const char *function) {
    jn_instance *s = jn_fmi2_enter(c, which, function);
    if (!s) return fmi2Error;
    if (!n) return fmi2OK;
    jn_fail(s, "the model has no String variables");
    return jn_fmi2_refuse(s, function);
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[]) {
    (void)vr; (void)value;
    return no_strings(c, n, GET_VALUE, "fmi2GetString");
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]) {
    (void)vr; (void)value;
    return no_strings(c, n, SET_VALUE, "fmi2SetString");
}

/* ---- snapshots ------------------------------------------------------------------------------------------ */

static saved_state *new_saved_state(jn_instance *s, const char *function) {
    size_t size = jn_snapshot_size(s);
    saved_state *saved = (saved_state *)malloc(sizeof *saved + size);
    if (saved) { saved->size = size; return saved; }
    jn_fail(s, "no memory for a snapshot of %D bytes", (long long)size);
    jn_fmi2_refuse(s, function);
    return NULL;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    jn_instance *s = jn_fmi2_enter(c, GET_STATE, "fmi2GetFMUstate");
    if (!s) return fmi2Error;
    if (!state) return jn_fmi2_null(s, "fmi2GetFMUstate");
    if (!*state) *state = new_saved_state(s, "fmi2GetFMUstate");
    if (!*state) return fmi2Error;
    jn_snapshot_write(s, ((saved_state *)*state)->bytes);
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    jn_instance *s = jn_fmi2_enter(c, SET_STATE, "fmi2SetFMUstate");
    saved_state *saved = (saved_state *)state;
    if (!s) return fmi2Error;
    if (!saved) return jn_fmi2_null(s, "fmi2SetFMUstate");
    if (jn_snapshot_read(s, saved->bytes, saved->size)) return jn_fmi2_refuse(s, "fmi2SetFMUstate");
    jn_fmi2_face(s)->last_step = s->state == JN_FAILED ? fmi2Error : fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    jn_instance *s = jn_fmi2_enter(c, FREE_STATE, "fmi2FreeFMUstate");
    if (!s) return fmi2Error;
    if (!state) return fmi2OK;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    jn_instance *s = jn_fmi2_enter(c, STATE_SIZE, "fmi2SerializedFMUstateSize");
    if (!s) return fmi2Error;
    if (!state || !size) return jn_fmi2_null(s, "fmi2SerializedFMUstateSize");
    *size = ((saved_state *)state)->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    jn_instance *s = jn_fmi2_enter(c, SERIALIZE, "fmi2SerializeFMUstate");
    saved_state *saved = (saved_state *)state;
    if (!s) return fmi2Error;
    if (!saved || !bytes) return jn_fmi2_null(s, "fmi2SerializeFMUstate");
    if (size < saved->size) {
        jn_fail(s, "buffer of %D bytes; allowed are %D or more", (long long)size, (long long)saved->size);
        return jn_fmi2_refuse(s, "fmi2SerializeFMUstate");
    }
    memcpy(bytes, saved->bytes, saved->size);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    jn_instance *s = jn_fmi2_enter(c, DESERIALIZE, "fmi2DeSerializeFMUstate");
    if (!s) return fmi2Error;
    if (!bytes || !state) return jn_fmi2_null(s, "fmi2DeSerializeFMUstate");
    if (jn_snapshot_check(s, (const unsigned char *)bytes, size)) return jn_fmi2_refuse(s, "fmi2DeSerializeFMUstate");
    if (!*state) *state = new_saved_state(s, "fmi2DeSerializeFMUstate");
    if (!*state) return fmi2Error;
    memcpy(((saved_state *)*state)->bytes, bytes, size);
    return fmi2OK;
}
