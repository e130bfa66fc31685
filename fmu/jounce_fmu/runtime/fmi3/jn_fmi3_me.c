/* FMI 3.0 model exchange: a thin face over jn_exchange, with the rules of jn_fmi2_me.c. */
#include "jn_exchange.h"
#include "jn_fmi3.h"

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    (void)visible;
    return jn_fmi3_make(name, token, resources, logging, environment, log, MODEL_EXCHANGE);
}

/* The instance, when it is for model exchange and the call is allowed in its state. */
static jn_instance *enter(fmi3Instance c, jn_call3 which, const char *function) {
    return jn_fmi3_enter_kind(c, which, function, 1);
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
    jn_instance *s = enter(c, ENTER_CONTINUOUS, "fmi3EnterContinuousTimeMode");
    if (!s) return fmi3Error;
    s->state = JN_CONTINUOUS;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state, fmi3Boolean *event,
                                       fmi3Boolean *terminate) {
    jn_instance *s = enter(c, COMPLETED_STEP, "fmi3CompletedIntegratorStep");
    (void)no_set_state;
    if (!s) return fmi3Error;
    if (!event || !terminate) return jn_fmi3_null(s, "fmi3CompletedIntegratorStep");
    *event = *terminate = fmi3False;
    jn_exchange_completed(s);
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t) {
    jn_instance *s = enter(c, SET_TIME, "fmi3SetTime");
    if (!s) return fmi3Error;
    return jn_exchange_time(s, t) ? jn_fmi3_refuse(s, "fmi3SetTime") : fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n) {
    jn_instance *s = enter(c, SET_STATES, "fmi3SetContinuousStates");
    if (!s) return fmi3Error;
    return jn_exchange_set(s, x, n) ? jn_fmi3_refuse(s, "fmi3SetContinuousStates") : fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi3GetContinuousStates");
    if (!s) return fmi3Error;
    if ((s->start_dirty && jn_refresh(s)) || jn_exchange_get(s, s->x, x, n))
        return jn_fmi3_refuse(s, "fmi3GetContinuousStates");
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 dx[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi3GetContinuousStateDerivatives");
    if (!s) return fmi3Error;
    if (jn_rates(s)) {
        jn_fmi3_refuse(s, "fmi3GetContinuousStateDerivatives");
        return fmi3Discard;
    }
    return jn_exchange_get(s, s->dx, dx, n) ? jn_fmi3_refuse(s, "fmi3GetContinuousStateDerivatives") : fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t n) {
    jn_instance *s = enter(c, GET_SIZES, "fmi3GetNominalsOfContinuousStates");
    if (!s) return fmi3Error;
    return jn_exchange_get(s, s->model->nominals, nominals, n)
               ? jn_fmi3_refuse(s, "fmi3GetNominalsOfContinuousStates")
               : fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi3GetEventIndicators");
    (void)z;
    if (!s) return fmi3Error;
    if (!n) return fmi3OK;
    jn_fail(s, "%D event indicators; expected 0", (long long)n);
    return jn_fmi3_refuse(s, "fmi3GetEventIndicators");
}

static fmi3Status size(fmi3Instance c, const char *function, size_t *n, int states) {
    jn_instance *s = enter(c, GET_SIZES, function);
    if (!s) return fmi3Error;
    if (!n) return jn_fmi3_null(s, function);
    *n = states ? (size_t)jn_n_states(s) : 0;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n) {
    return size(c, "fmi3GetNumberOfEventIndicators", n, 0);
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n) {
    return size(c, "fmi3GetNumberOfContinuousStates", n, 1);
}
