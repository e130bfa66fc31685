/* FMI 2.0 model exchange: a thin face over jn_exchange.
 *
 * There are no event indicators. Time events are the decisions of a model's controller (`decide` in jn_model.h); in event
 * mode inputs may jump and tunable parameters take effect.
 * A call returns fmi2Discard if the model cannot be evaluated at its point; a shorter step may help.
 */
#include "jn_exchange.h"
#include "jn_fmi2.h"

/* The instance, when it is for model exchange and the call is allowed in its state. */
static jn_instance *enter(fmi2Component c, jn_call which, const char *function) {
    jn_instance *s = jn_fmi2_enter(c, which, function);
    if (!s || jn_fmi2_face(s)->base.exchange) return s;
    jn_fail(s, "the instance is for co-simulation");
    jn_fmi2_refuse(s, function);
    return NULL;
}

static fmi2Status change(fmi2Component c, jn_call which, const char *function, jn_state to) {
    jn_instance *s = enter(c, which, function);
    if (!s) return fmi2Error;
    s->state = to;
    return fmi2OK;
}

fmi2Status fmi2EnterEventMode(fmi2Component c) { return change(c, ENTER_EVENT, "fmi2EnterEventMode", JN_EVENT); }

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    return change(c, ENTER_CONTINUOUS, "fmi2EnterContinuousTimeMode", JN_CONTINUOUS);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    jn_instance *s = enter(c, NEW_DISCRETE, "fmi2NewDiscreteStates");
    if (!s) return fmi2Error;
    if (!info) return jn_fmi2_null(s, "fmi2NewDiscreteStates");
    if (jn_apply_tunables(s)) return jn_fmi2_refuse(s, "fmi2NewDiscreteStates");
    info->newDiscreteStatesNeeded = info->terminateSimulation = info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = fmi2False;
    info->nextEventTimeDefined = jn_exchange_event(s, &info->nextEventTime) ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state, fmi2Boolean *event,
                                       fmi2Boolean *terminate) {
    jn_instance *s = enter(c, COMPLETED_STEP, "fmi2CompletedIntegratorStep");
    (void)no_set_state;
    if (!s) return fmi2Error;
    if (!event || !terminate) return jn_fmi2_null(s, "fmi2CompletedIntegratorStep");
    *event = *terminate = fmi2False;
    jn_exchange_completed(s);
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    jn_instance *s = enter(c, SET_TIME, "fmi2SetTime");
    if (!s) return fmi2Error;
    return jn_exchange_time(s, t) ? jn_fmi2_refuse(s, "fmi2SetTime") : fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    jn_instance *s = enter(c, SET_STATES, "fmi2SetContinuousStates");
    if (!s) return fmi2Error;
    return jn_exchange_set(s, x, n) ? jn_fmi2_refuse(s, "fmi2SetContinuousStates") : fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi2GetContinuousStates");
    if (!s) return fmi2Error;
    if ((s->start_dirty && jn_refresh(s)) || jn_exchange_get(s, s->x, x, n))
        return jn_fmi2_refuse(s, "fmi2GetContinuousStates");
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi2GetDerivatives");
    if (!s) return fmi2Error;
    if (jn_rates(s)) {
        jn_fmi2_refuse(s, "fmi2GetDerivatives");
        return fmi2Discard;
    }
    return jn_exchange_get(s, s->dx, dx, n) ? jn_fmi2_refuse(s, "fmi2GetDerivatives") : fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
    jn_instance *s = enter(c, GET_NOMINALS, "fmi2GetNominalsOfContinuousStates");
    if (!s) return fmi2Error;
    return jn_exchange_get(s, s->model->nominals, nominals, n)
               ? jn_fmi2_refuse(s, "fmi2GetNominalsOfContinuousStates")
               : fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n) {
    jn_instance *s = enter(c, GET_STATES, "fmi2GetEventIndicators");
    (void)z;
    if (!s) return fmi2Error;
    if (!n) return fmi2OK;
    jn_fail(s, "%D event indicators; expected 0", (long long)n);
    return jn_fmi2_refuse(s, "fmi2GetEventIndicators");
}
