/* FMI 2.0: a thin face over jn_core, for co-simulation and the calls that model exchange shares with it.
 *
 * A refused call returns fmi2Error, logs the reason and changes nothing; the instance can be used further. Only a
 * failed step makes the instance FAILED. Its state is then that before the step, and only reading, snapshots,
 * terminate, reset and free are allowed. Errors are always logged; warnings and events follow loggingOn and
 * fmi2SetDebugLogging. After fmi2Instantiate, only fmi2GetFMUstate and fmi2DeSerializeFMUstate allocate memory.
 */
#include "jn_fmi2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- allowed calls per state ----------------------------------------------------------------------- */

enum {
    BEFORE = JN_INSTANTIATED | JN_INITIALIZING,
    EXCHANGE = JN_EVENT | JN_CONTINUOUS, /* the states of a running model exchange; co-simulation has JN_STEPPING */
    READY = JN_INITIALIZING | JN_STEPPING | EXCHANGE | JN_FAILED | JN_TERMINATED,
    ANY = JN_INSTANTIATED | READY
};

static const struct {
    const char *name;
    int states;
} allowed[] = {
    {"fmi2SetDebugLogging", ANY},
    {"fmi2SetupExperiment", JN_INSTANTIATED},
    {"fmi2EnterInitializationMode", JN_INSTANTIATED},
    {"fmi2ExitInitializationMode", JN_INITIALIZING},
    {"fmi2Terminate", JN_STEPPING | EXCHANGE | JN_FAILED},
    {"fmi2Reset", ANY},
    {"fmi2GetXXX", READY},
    {"fmi2SetXXX", BEFORE | JN_STEPPING | EXCHANGE},
    {"fmi2GetFMUstate", ANY},
    {"fmi2SetFMUstate", ANY},
    {"fmi2FreeFMUstate", ANY},
    {"fmi2SerializedFMUstateSize", ANY},
    {"fmi2SerializeFMUstate", ANY},
    {"fmi2DeSerializeFMUstate", ANY},
    {"fmi2DoStep", JN_STEPPING},
    {"fmi2CancelStep", 0},
    {"fmi2GetStatus", JN_STEPPING | JN_FAILED | JN_TERMINATED},
    {"fmi2EnterEventMode", JN_CONTINUOUS},
    {"fmi2NewDiscreteStates", JN_EVENT},
    {"fmi2EnterContinuousTimeMode", JN_EVENT},
    {"fmi2CompletedIntegratorStep", JN_CONTINUOUS},
    {"fmi2SetTime", EXCHANGE},
    {"fmi2SetContinuousStates", JN_CONTINUOUS},
    {"fmi2GetContinuousStates, fmi2GetDerivatives", JN_INITIALIZING | EXCHANGE | JN_TERMINATED},
    {"fmi2GetNominalsOfContinuousStates", ANY},
    {"fmi2GetDirectionalDerivative", READY & ~JN_INITIALIZING},
    {"this call", 0},
};

static const char *const type_names[] = {"Real", "Integer", "Boolean", "Enumeration"};

/* ---- the face's part of an instance and its log ------------------------------------------------------ */

static void send(fmi2CallbackLogger logger, fmi2ComponentEnvironment environment, const char *name,
                 fmi2Status status, const char *category, const char *text) {
    char message[1100]; /* the logger takes a printf format, so each % is doubled */
    size_t n = 0;
    if (!logger) return;
    for (; *text && n + 2 < sizeof message; text++) {
        message[n++] = *text;
        if (*text == '%') message[n++] = '%';
    }
    message[n] = '\0';
    logger(environment, name, status, category, message);
}

static void say(jn_instance *s, int category, fmi2Status status, const char *text) {
    jn_face *f = jn_fmi2_face(s);
    if (f->base.logged[category]) send(f->logger, f->environment, f->name, status, jn_categories[category], text);
}

fmi2Status jn_fmi2_refuse(jn_instance *s, const char *function) {
    char text[600];
    snprintf(text, sizeof text, "%s: %s", function, s->error);
    say(s, LOG_ERROR, fmi2Error, text);
    return fmi2Error;
}

jn_instance *jn_fmi2_enter(fmi2Component c, jn_call which, const char *function) {
    jn_instance *s = (jn_instance *)c;
    if (!s) return NULL;
    if (allowed[which].states & (int)s->state) return s;
    jn_fail(s, allowed[which].states ? "not allowed in state \"%s\"" : "not supported by this FMU (state \"%s\")",
            jn_state_name((int)s->state));
    jn_fmi2_refuse(s, function);
    return NULL;
}

fmi2Status jn_fmi2_null(jn_instance *s, const char *function) {
    jn_fail(s, "null pointer");
    return jn_fmi2_refuse(s, function);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Not FMI. They tell a host from which sources the library was made, and at which tick the last step failed. */
FMI2_Export const char *jn_build_hash(void);
FMI2_Export long long jn_failed_tick(const void *instance);
const char *jn_build_hash(void) { return jn_build_hash_text; }
long long jn_failed_tick(const void *instance) { return ((const jn_instance *)instance)->failed_tick; }

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
    fmi2CallbackLogger logger = functions ? functions->logger : NULL;
    fmi2ComponentEnvironment environment = functions ? functions->componentEnvironment : NULL;
    const char *why = NULL;
    jn_instance *s = NULL;
    (void)visible;
    if (!name || !*name) why = "fmi2Instantiate: the instance name is empty";
    else if (type != fmi2CoSimulation && (type != fmi2ModelExchange || !jn_pick_model()->nominals))
        why = "fmi2Instantiate: this FMU is not for model exchange";
    else if (!guid || strcmp(guid, jn_guid)) why = "fmi2Instantiate: the GUID is not that of this library";
    else {
        s = jn_create(jn_pick_model(), sizeof(jn_face) + strlen(name));
        if (!s) why = "fmi2Instantiate: no memory, or the model's signal table is broken";
        else if (jn_set_folder(s, resources)) {
            jn_destroy(s);
            why = "fmi2Instantiate: no memory";
        }
    }
    if (why) {
        send(logger, environment, name ? name : "", fmi2Error, jn_categories[LOG_ERROR], why);
        return NULL;
    }
    jn_fmi2_face(s)->logger = logger;
    jn_fmi2_face(s)->environment = environment;
    jn_fmi2_face(s)->base.logged[LOG_ERROR] = 1;
    jn_fmi2_face(s)->base.logged[LOG_WARNING] = jn_fmi2_face(s)->base.logged[LOG_EVENT] = logging != 0;
    jn_fmi2_face(s)->base.type_names = type_names;
    jn_fmi2_face(s)->base.has_states = s->model->nominals != NULL;
    jn_fmi2_face(s)->base.exchange = type == fmi2ModelExchange;
    s->states = type == fmi2ModelExchange ? ANY & ~(JN_STEPPING | JN_FAILED) : ANY & ~EXCHANGE;
    memcpy(jn_fmi2_face(s)->name, name, strlen(name) + 1);
    return s;
}

void fmi2FreeInstance(fmi2Component c) {
    if (c) jn_destroy((jn_instance *)c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[]) {
    jn_instance *s = jn_fmi2_enter(c, SET_DEBUG_LOGGING, "fmi2SetDebugLogging");
    if (!s) return fmi2Error;
    if (jn_choose_logs(s, on != 0, n, names)) return jn_fmi2_refuse(s, "fmi2SetDebugLogging");
    if (!n) jn_fmi2_face(s)->base.logged[LOG_ERROR] = 1;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
    jn_instance *s = jn_fmi2_enter(c, SETUP_EXPERIMENT, "fmi2SetupExperiment");
    (void)has_tolerance; /* the step is fixed */
    (void)tolerance;
    if (!s) return fmi2Error;
    return jn_setup(s, start, has_stop != 0, stop) ? jn_fmi2_refuse(s, "fmi2SetupExperiment") : fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    jn_instance *s = jn_fmi2_enter(c, ENTER_INIT, "fmi2EnterInitializationMode");
    if (!s) return fmi2Error;
    s->state = JN_INITIALIZING;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    jn_instance *s = jn_fmi2_enter(c, EXIT_INIT, "fmi2ExitInitializationMode");
    int k;
    if (!s) return fmi2Error;
    if (jn_finish_init(s)) return jn_fmi2_refuse(s, "fmi2ExitInitializationMode");
    if (jn_fmi2_face(s)->base.exchange) s->state = JN_EVENT;
    jn_fmi2_face(s)->last_step = fmi2OK;
    for (k = 0; jn_parameter_warning(s, k); k++) say(s, LOG_WARNING, fmi2Warning, s->error);
    say(s, LOG_EVENT, fmi2OK, "initialized");
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c) {
    jn_instance *s = jn_fmi2_enter(c, TERMINATE, "fmi2Terminate");
    if (!s) return fmi2Error;
    s->state = JN_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    jn_instance *s = jn_fmi2_enter(c, RESET, "fmi2Reset");
    if (!s) return fmi2Error;
    jn_reset(s);
    jn_fmi2_face(s)->last_step = fmi2OK;
    return fmi2OK;
}

/* ---- stepping --------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state) {
    jn_instance *s = jn_fmi2_enter(c, DO_STEP, "fmi2DoStep");
    long long n;
    (void)no_set_state;
    if (!s) return fmi2Error;
    n = jn_whole_ticks(s, t, h, 0);
    jn_fmi2_face(s)->last_step = n < 0 || jn_advance(s, n, 0) < 0 ? jn_fmi2_refuse(s, "fmi2DoStep") : fmi2OK;
    return jn_fmi2_face(s)->last_step;
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
    jn_instance *s = jn_fmi2_enter(c, GET_STATUS, "fmi2GetStatus");
    if (!s) return fmi2Error;
    if (!value) return jn_fmi2_null(s, "fmi2GetStatus");
    if (kind != fmi2DoStepStatus) return fmi2Discard;
    *value = jn_fmi2_face(s)->last_step;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
    jn_instance *s = jn_fmi2_enter(c, GET_STATUS, "fmi2GetRealStatus");
    if (!s) return fmi2Error;
    if (!value) return jn_fmi2_null(s, "fmi2GetRealStatus");
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = jn_time(s);
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
    jn_instance *s = jn_fmi2_enter(c, GET_STATUS, "fmi2GetBooleanStatus");
    if (!s) return fmi2Error;
    if (!value) return jn_fmi2_null(s, "fmi2GetBooleanStatus");
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = fmi2False; /* the model never terminates a run by itself */
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
    (void)kind; (void)value;
    return jn_fmi2_enter(c, GET_STATUS, "fmi2GetIntegerStatus") ? fmi2Discard : fmi2Error;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    (void)kind; (void)value;
    return jn_fmi2_enter(c, GET_STATUS, "fmi2GetStringStatus") ? fmi2Discard : fmi2Error;
}

fmi2Status fmi2CancelStep(fmi2Component c) {
    jn_fmi2_enter(c, CANCEL_STEP, "fmi2CancelStep");
    return fmi2Error;
}

/* ---- not advertised ------------------------------------------------------------------------------------------ */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    (void)vr; (void)n; (void)order; (void)value;
    jn_fmi2_enter(c, UNSUPPORTED, "fmi2SetRealInputDerivatives");
    return fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[]) {
    (void)vr; (void)n; (void)order; (void)value;
    jn_fmi2_enter(c, UNSUPPORTED, "fmi2GetRealOutputDerivatives");
    return fmi2Error;
}
