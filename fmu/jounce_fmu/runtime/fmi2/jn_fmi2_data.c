/* FMI 2.0: values, derivatives and snapshots. */
#include "jn_derivative.h"
#include "jn_fmi2.h"

/* ---- values ---------------------------------------------------------------------------------------------- */

static const jn_list real = {"Real", "r", JN_DOUBLE}, integer = {"Integer", "ie", JN_INT32},
                     boolean = {"Boolean", "b", JN_INT32}, string = {"String", "", JN_NOTHING};

static fmi2Status get(fmi2Component c, const char *function, const jn_list *as, const fmi2ValueReference vr[],
                      size_t n, void *values) {
    jn_instance *s = jn_fmi2_enter(c, GET_VALUE, function);
    if (!s) return fmi2Error;
    return jn_get_list(s, as, vr, n, values, n) ? jn_fmi2_refuse(s, function) : fmi2OK;
}

static fmi2Status set(fmi2Component c, const char *function, const jn_list *as, const fmi2ValueReference vr[],
                      size_t n, const void *values) {
    jn_instance *s = jn_fmi2_enter(c, SET_VALUE, function);
    if (!s) return fmi2Error;
    return jn_set_list(s, as, vr, n, values, n) ? jn_fmi2_refuse(s, function) : fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    return get(c, "fmi2GetReal", &real, vr, n, value);
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]) {
    return get(c, "fmi2GetInteger", &integer, vr, n, value);
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[]) {
    return get(c, "fmi2GetBoolean", &boolean, vr, n, value);
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[]) {
    return get(c, "fmi2GetString", &string, vr, n, value);
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
    return set(c, "fmi2SetReal", &real, vr, n, value);
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]) {
    return set(c, "fmi2SetInteger", &integer, vr, n, value);
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]) {
    return set(c, "fmi2SetBoolean", &boolean, vr, n, value);
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]) {
    return set(c, "fmi2SetString", &string, vr, n, value);
}

/* ---- derivatives ----------------------------------------------------------------------------------------- */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                        fmi2Real result[]) {
    const jn_sensitivity q = {unknown, n_unknown, known, n_known, seed, n_known, result, n_unknown};
    const int has = c && ((jn_instance *)c)->model->directional;
    jn_instance *s = jn_fmi2_enter(c, has ? SENSITIVITY : UNSUPPORTED, "fmi2GetDirectionalDerivative");
    int bad;
    if (!s) return fmi2Error;
    bad = jn_directional(s, &real, &q);
    if (bad) jn_fmi2_refuse(s, "fmi2GetDirectionalDerivative");
    return !bad ? fmi2OK : bad > 0 ? fmi2Discard : fmi2Error;
}

/* ---- snapshots ------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    jn_instance *s = jn_fmi2_enter(c, GET_STATE, "fmi2GetFMUstate");
    if (!s) return fmi2Error;
    return jn_state_save(s, state) ? jn_fmi2_refuse(s, "fmi2GetFMUstate") : fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    jn_instance *s = jn_fmi2_enter(c, SET_STATE, "fmi2SetFMUstate");
    if (!s) return fmi2Error;
    if (jn_state_restore(s, state)) return jn_fmi2_refuse(s, "fmi2SetFMUstate");
    jn_fmi2_face(s)->last_step = s->state == JN_FAILED ? fmi2Error : fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    if (!jn_fmi2_enter(c, FREE_STATE, "fmi2FreeFMUstate")) return fmi2Error;
    jn_state_free(state);
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    jn_instance *s = jn_fmi2_enter(c, STATE_SIZE, "fmi2SerializedFMUstateSize");
    if (!s) return fmi2Error;
    return jn_state_size(s, state, size) ? jn_fmi2_refuse(s, "fmi2SerializedFMUstateSize") : fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    jn_instance *s = jn_fmi2_enter(c, SERIALIZE, "fmi2SerializeFMUstate");
    if (!s) return fmi2Error;
    return jn_state_write(s, state, bytes, size) ? jn_fmi2_refuse(s, "fmi2SerializeFMUstate") : fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    jn_instance *s = jn_fmi2_enter(c, DESERIALIZE, "fmi2DeSerializeFMUstate");
    if (!s) return fmi2Error;
    return jn_state_read(s, bytes, size, state) ? jn_fmi2_refuse(s, "fmi2DeSerializeFMUstate") : fmi2OK;
}
