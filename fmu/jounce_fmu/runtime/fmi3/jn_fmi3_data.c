/* FMI 3.0: values, derivatives and snapshots. */
#include "jn_derivative.h"
#include "jn_fmi3.h"

/* ---- values ---------------------------------------------------------------------------------------------- */

static fmi3Status get(fmi3Instance c, const char *function, const jn_list *as, const fmi3ValueReference vr[],
                      size_t n, void *values, size_t n_values) {
    jn_instance *s = jn_fmi3_enter(c, GET_VALUE, function);
    if (!s) return fmi3Error;
    return jn_get_list(s, as, vr, n, values, n_values) ? jn_fmi3_refuse(s, function) : fmi3OK;
}

static fmi3Status set(fmi3Instance c, const char *function, const jn_list *as, const fmi3ValueReference vr[],
                      size_t n, const void *values, size_t n_values) {
    jn_instance *s = jn_fmi3_enter(c, SET_VALUE, function);
    if (!s) return fmi3Error;
    return jn_set_list(s, as, vr, n, values, n_values) ? jn_fmi3_refuse(s, function) : fmi3OK;
}

/* Defines the two functions of type T, for signals whose types are named by `letters`. */
#define PAIR(T, letters, carrier)                                                                                  \
    static const jn_list as_##T = {#T, letters, carrier};                                                          \
    fmi3Status fmi3Get##T(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##T values[], size_t m) {   \
        return get(c, "fmi3Get" #T, &as_##T, vr, n, values, m);                                                    \
    }                                                                                                              \
    fmi3Status fmi3Set##T(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##T values[],         \
                          size_t m) {                                                                              \
        return set(c, "fmi3Set" #T, &as_##T, vr, n, values, m);                                                    \
    }

PAIR(Float64, "r", JN_DOUBLE)
PAIR(Int64, "ie", JN_INT64)
PAIR(Boolean, "b", JN_BYTE) /* as bytes: a bool that is neither 0 nor 1 is refused, and not undefined behaviour */
PAIR(Float32, "", JN_NOTHING)
PAIR(Int8, "", JN_NOTHING)
PAIR(UInt8, "", JN_NOTHING)
PAIR(Int16, "", JN_NOTHING)
PAIR(UInt16, "", JN_NOTHING)
PAIR(Int32, "", JN_NOTHING)
PAIR(UInt32, "", JN_NOTHING)
PAIR(UInt64, "", JN_NOTHING)
PAIR(String, "", JN_NOTHING)

static const jn_list as_binary = {"Binary", "", JN_NOTHING};

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t n_values) {
    (void)sizes;
    return get(c, "fmi3GetBinary", &as_binary, vr, n, values, n_values);
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values) {
    (void)sizes;
    return set(c, "fmi3SetBinary", &as_binary, vr, n, values, n_values);
}

/* ---- derivatives ----------------------------------------------------------------------------------------- */

static fmi3Status derivative(fmi3Instance c, const char *function, const jn_sensitivity *q, int adjoint) {
    const int has = c && ((jn_instance *)c)->model->directional;
    jn_instance *s = jn_fmi3_enter(c, has ? SENSITIVITY : UNSUPPORTED, function);
    int bad;
    if (!s) return fmi3Error;
    bad = adjoint ? jn_adjoint(s, &as_Float64, q) : jn_directional(s, &as_Float64, q);
    if (bad) jn_fmi3_refuse(s, function);
    return !bad ? fmi3OK : bad > 0 ? fmi3Discard : fmi3Error;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                        const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 result[], size_t n_result) {
    const jn_sensitivity q = {unknown, n_unknown, known, n_known, seed, n_seed, result, n_result};
    return derivative(c, "fmi3GetDirectionalDerivative", &q, 0);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                    const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[],
                                    size_t n_seed, fmi3Float64 result[], size_t n_result) {
    const jn_sensitivity q = {unknown, n_unknown, known, n_known, seed, n_seed, result, n_result};
    return derivative(c, "fmi3GetAdjointDerivative", &q, 1);
}

/* ---- snapshots ------------------------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) {
    jn_instance *s = jn_fmi3_enter(c, GET_STATE, "fmi3GetFMUState");
    if (!s) return fmi3Error;
    return jn_state_save(s, state) ? jn_fmi3_refuse(s, "fmi3GetFMUState") : fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
    jn_instance *s = jn_fmi3_enter(c, SET_STATE, "fmi3SetFMUState");
    if (!s) return fmi3Error;
    return jn_state_restore(s, state) ? jn_fmi3_refuse(s, "fmi3SetFMUState") : fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
    if (!jn_fmi3_enter(c, FREE_STATE, "fmi3FreeFMUState")) return fmi3Error;
    jn_state_free(state);
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
    jn_instance *s = jn_fmi3_enter(c, STATE_SIZE, "fmi3SerializedFMUStateSize");
    if (!s) return fmi3Error;
    return jn_state_size(s, state, size) ? jn_fmi3_refuse(s, "fmi3SerializedFMUStateSize") : fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
    jn_instance *s = jn_fmi3_enter(c, SERIALIZE, "fmi3SerializeFMUState");
    if (!s) return fmi3Error;
    return jn_state_write(s, state, bytes, size) ? jn_fmi3_refuse(s, "fmi3SerializeFMUState") : fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
    jn_instance *s = jn_fmi3_enter(c, DESERIALIZE, "fmi3DeserializeFMUState");
    if (!s) return fmi3Error;
    return jn_state_read(s, bytes, size, state) ? jn_fmi3_refuse(s, "fmi3DeserializeFMUState") : fmi3OK;
}
