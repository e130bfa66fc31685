/* FMI 3.0: a thin face over jn_core, for co-simulation and the calls that model exchange shares with it.
 *
 * As in the FMI 2 face, a refused call returns fmi3Error and changes nothing, and only a failed step makes the instance
 * FAILED. Unlike there, nothing is logged with loggingOn = false (FMI 3.0, 2.3.1), except the reason for which an
 * instance could not be made.
 *
 * The model has no discrete states, so at an event only inputs may jump. With eventModeUsed the importer sets them in
 * event mode, without it in step mode; the results are the same bits. There are no structural parameters:
 * configuration mode can be entered and left, and nothing can be set in it. doStep calls no intermediate update. If the
 * importer allows early return, a step that fails after some ticks returns at the last whole tick; the next step then
 * fails at once, with the reason.
 */
#include "jn_exchange.h"
#include "jn_fmi3.h"

#include <stdio.h>
#include <string.h>

/* ---- allowed calls per state ----------------------------------------------------------------------------- */

enum {
    BEFORE = JN_INSTANTIATED | JN_INITIALIZING,
    RUNNING = JN_STEPPING | JN_EVENT | JN_CONTINUOUS, /* JN_STEPPING is of co-simulation, JN_CONTINUOUS of exchange */
    VALUES = BEFORE | RUNNING | JN_FAILED | JN_TERMINATED,
    ANY = VALUES | JN_CONFIGURING
};

static const struct {
    const char *name;
    int states;
} allowed[] = {
    {"fmi3SetDebugLogging", ANY},
    {"fmi3EnterInitializationMode", JN_INSTANTIATED},
    {"fmi3ExitInitializationMode", JN_INITIALIZING},
    {"fmi3EnterEventMode", JN_STEPPING | JN_CONTINUOUS}, /* JN_STEPPING only with eventModeUsed */
    {"fmi3UpdateDiscreteStates", JN_EVENT},
    {"fmi3EnterStepMode", JN_EVENT},
    {"fmi3EnterConfigurationMode", JN_INSTANTIATED}, /* later states need tunable structural parameters */
    {"fmi3ExitConfigurationMode", JN_CONFIGURING},
    {"fmi3Terminate", RUNNING | JN_FAILED},
    {"fmi3Reset", ANY},
    {"fmi3GetXXX", VALUES}, /* in JN_INSTANTIATED only start values: no outputs */
    {"fmi3SetXXX", BEFORE | RUNNING},
    {"fmi3GetFMUState", ANY},
    {"fmi3SetFMUState", ANY},
    {"fmi3FreeFMUState", ANY},
    {"fmi3SerializedFMUStateSize", ANY},
    {"fmi3SerializeFMUState", ANY},
    {"fmi3DeserializeFMUState", ANY},
    {"fmi3DoStep", JN_STEPPING},
    {"fmi3EnterContinuousTimeMode", JN_EVENT},
    {"fmi3CompletedIntegratorStep", JN_CONTINUOUS},
    {"fmi3SetTime", JN_EVENT | JN_CONTINUOUS},
    {"fmi3SetContinuousStates", JN_CONTINUOUS},
    {"fmi3GetContinuousStates and the like", JN_INITIALIZING | JN_EVENT | JN_CONTINUOUS | JN_TERMINATED},
    {"fmi3GetNumberOfContinuousStates and the like", VALUES},
    {"fmi3GetDirectionalDerivative, fmi3GetAdjointDerivative", RUNNING | JN_FAILED | JN_TERMINATED},
    {"this call", 0},
};

static const char *const type_names[] = {"Float64", "Int64", "Boolean", "Enumeration"};

/* ---- log --------------------------------------------------------------------------------------------------- */

static void send(fmi3LogMessageCallback log, fmi3InstanceEnvironment environment, fmi3Status status, int category,
                 const char *function, const char *text) {
    char message[1300]; /* "#" begins a value reference in a message, so each one is doubled */
    size_t n = 0, k;
    if (!log) return;
    for (k = 0; k < 2; k++) {
        const char *piece = k ? text : function;
        for (; *piece && n + 4 < sizeof message; piece++) {
            message[n++] = *piece;
            if (*piece == '#') message[n++] = '#';
        }
        if (!k) { message[n++] = ':'; message[n++] = ' '; }
    }
    message[n] = '\0';
    log(environment, status, jn_categories[category], message);
}

static void say(jn_instance *s, int category, fmi3Status status, const char *function, const char *text) {
    jn_face3 *f = jn_fmi3_face(s);
    if (f->base.logged[category]) send(f->log, f->environment, status, category, function, text);
}

fmi3Status jn_fmi3_refuse(jn_instance *s, const char *function) {
    say(s, LOG_ERROR, fmi3Error, function, s->error);
    return fmi3Error;
}

fmi3Instance jn_fmi3_no_instance(fmi3LogMessageCallback log, fmi3InstanceEnvironment environment, const char *why) {
    send(log, environment, fmi3Error, LOG_ERROR, "fmi3Instantiate", why);
    return NULL;
}

jn_instance *jn_fmi3_enter(fmi3Instance c, jn_call3 which, const char *function) {
    jn_instance *s = (jn_instance *)c;
    if (!s) return NULL;
    if (allowed[which].states & (int)s->state) return s;
    jn_fail(s, allowed[which].states ? "not allowed in state \"%s\"" : "not supported by this FMU (state \"%s\")",
            jn_state_name((int)s->state));
    jn_fmi3_refuse(s, function);
    return NULL;
}

jn_instance *jn_fmi3_enter_kind(fmi3Instance c, jn_call3 which, const char *function, int exchange) {
    jn_instance *s = jn_fmi3_enter(c, which, function);
    if (!s || jn_fmi3_face(s)->base.exchange == exchange) return s;
    jn_fail(s, "the instance is for %s", exchange ? "co-simulation" : "model exchange");
    jn_fmi3_refuse(s, function);
    return NULL;
}

fmi3Status jn_fmi3_null(jn_instance *s, const char *function) {
    jn_fail(s, "null pointer");
    return jn_fmi3_refuse(s, function);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

const char *fmi3GetVersion(void) { return fmi3Version; }

/* 1 for the token of the interface with arrays, 0 for that with scalars, -1 for any other. */
static int arrays_of_token(const char *token) {
    size_t n = strlen(jn_guid);
    if (!token || strncmp(token, jn_guid, n)) return -1;
    return !token[n] ? 1 : !strcmp(token + n, "scalars") ? 0 : -1;
}

jn_instance *jn_fmi3_make(const char *name, const char *token, const char *resources, int logging,
                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, jn_kind3 kind) {
    const int arrays = arrays_of_token(token);
    const char *why = NULL;
    jn_instance *s = NULL;
    jn_face3 *f;
    if (!name || !name[strspn(name, " \t\r\n")]) why = "the name is empty";
    else if (arrays < 0) why = "the instantiation token is not that of this library";
    else if (kind == MODEL_EXCHANGE && !jn_pick_model()->nominals) why = "this FMU is not for model exchange";
    else {
        s = jn_create(jn_pick_model(), sizeof(jn_face3));
        if (!s) why = "no memory, or the model's signal table is broken";
        else if (jn_set_folder(s, resources)) {
            jn_destroy(s);
            why = "no memory";
        }
    }
    if (why) return (jn_instance *)jn_fmi3_no_instance(log, environment, why);
    s->states = kind == MODEL_EXCHANGE  ? ANY & ~(JN_STEPPING | JN_FAILED)
                : kind == CO_SIMULATION ? ANY & ~(JN_EVENT | JN_CONTINUOUS)
                                        : ANY & ~JN_CONTINUOUS;
    f = jn_fmi3_face(s);
    f->log = log;
    f->environment = environment;
    f->base.type_names = type_names;
    f->base.arrays = arrays;
    f->base.has_time = 1;
    f->base.has_states = s->model->nominals != NULL;
    f->base.exchange = kind == MODEL_EXCHANGE;
    f->base.logged[LOG_ERROR] = f->base.logged[LOG_WARNING] = f->base.logged[LOG_EVENT] = logging;
    return s;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early_return,
                                         const fmi3ValueReference intermediate[], size_t n_intermediate,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update) {
    jn_instance *s;
    (void)visible;
    (void)intermediate;
    (void)update;
    s = jn_fmi3_make(name, token, resources, logging, environment, log, events ? CO_SIMULATION_WITH_EVENTS : CO_SIMULATION);
    if (!s) return NULL;
    jn_fmi3_face(s)->early_return = early_return;
    if (n_intermediate) { /* not refused: some importers ask for them in spite of providesIntermediateUpdate = false */
        jn_fail(s, "%D required intermediate variables are ignored: there are no intermediate updates",
                (long long)n_intermediate);
        say(s, LOG_WARNING, fmi3Warning, "fmi3InstantiateCoSimulation", s->error);
    }
    return s;
}

void fmi3FreeInstance(fmi3Instance c) {
    if (c) jn_destroy((jn_instance *)c);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String names[]) {
    jn_instance *s = jn_fmi3_enter(c, SET_DEBUG_LOGGING, "fmi3SetDebugLogging");
    if (!s) return fmi3Error;
    return jn_choose_logs(s, on, n, names) ? jn_fmi3_refuse(s, "fmi3SetDebugLogging") : fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
    jn_instance *s = jn_fmi3_enter(c, ENTER_INIT, "fmi3EnterInitializationMode");
    (void)has_tolerance; /* the step is fixed */
    (void)tolerance;
    if (!s) return fmi3Error;
    if (jn_setup(s, start, has_stop, stop)) return jn_fmi3_refuse(s, "fmi3EnterInitializationMode");
    s->state = JN_INITIALIZING;
    return fmi3OK;
}

/* Changes the state and does nothing else. */
static fmi3Status change(fmi3Instance c, jn_call3 which, const char *function, jn_state to) {
    jn_instance *s = jn_fmi3_enter(c, which, function);
    if (!s) return fmi3Error;
    s->state = to;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
    jn_instance *s = jn_fmi3_enter(c, EXIT_INIT, "fmi3ExitInitializationMode");
    int k;
    if (!s) return fmi3Error;
    if (jn_finish_init(s)) return jn_fmi3_refuse(s, "fmi3ExitInitializationMode");
    if (s->states & JN_EVENT) s->state = JN_EVENT;
    for (k = 0; jn_parameter_warning(s, k); k++) say(s, LOG_WARNING, fmi3Warning, "fmi3ExitInitializationMode", s->error);
    say(s, LOG_EVENT, fmi3OK, "fmi3ExitInitializationMode", "initialized");
    return fmi3OK;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
    return change(c, ENTER_CONFIG, "fmi3EnterConfigurationMode", JN_CONFIGURING);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
    return change(c, EXIT_CONFIG, "fmi3ExitConfigurationMode", JN_INSTANTIATED);
}

fmi3Status fmi3Terminate(fmi3Instance c) { return change(c, TERMINATE, "fmi3Terminate", JN_TERMINATED); }

fmi3Status fmi3Reset(fmi3Instance c) {
    jn_instance *s = jn_fmi3_enter(c, RESET, "fmi3Reset");
    if (!s) return fmi3Error;
    jn_reset(s);
    return fmi3OK;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterEventMode(fmi3Instance c) {
    jn_instance *s = jn_fmi3_enter(c, ENTER_EVENT, "fmi3EnterEventMode");
    if (!s) return fmi3Error;
    if (!(s->states & JN_EVENT)) {
        jn_fail(s, "the instance was made with eventModeUsed = false");
        return jn_fmi3_refuse(s, "fmi3EnterEventMode");
    }
    s->state = JN_EVENT;
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance c) {
    jn_instance *s = jn_fmi3_enter_kind(c, ENTER_STEP, "fmi3EnterStepMode", 0);
    if (!s) return fmi3Error;
    s->state = JN_STEPPING;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *need_update, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event_time) {
    jn_instance *s = jn_fmi3_enter(c, UPDATE_DISCRETE, "fmi3UpdateDiscreteStates");
    if (!s) return fmi3Error;
    if (!need_update || !terminate || !nominals_changed || !values_changed || !next_event_defined || !next_event_time)
        return jn_fmi3_null(s, "fmi3UpdateDiscreteStates");
    if (jn_fmi3_face(s)->base.exchange && jn_apply_tunables(s)) return jn_fmi3_refuse(s, "fmi3UpdateDiscreteStates");
    *need_update = *terminate = *nominals_changed = *values_changed = *next_event_defined = fmi3False;
    *next_event_time = 0.0;
    if (jn_fmi3_face(s)->base.exchange) *next_event_defined = jn_exchange_event(s, next_event_time) != 0;
    return fmi3OK;
}

/* ---- stepping ------------------------------------------------------------------------------------------------- */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state,
                      fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_time) {
    jn_instance *s = jn_fmi3_enter(c, DO_STEP, "fmi3DoStep");
    long long n, done;
    (void)no_set_state;
    if (!s) return fmi3Error;
    if (!event_needed || !terminate || !early_return || !last_time) return jn_fmi3_null(s, "fmi3DoStep");
    n = jn_whole_ticks(s, t, h, jn_fmi3_face(s)->early_return);
    done = n < 0 ? -1 : jn_advance(s, n, jn_fmi3_face(s)->early_return);
    *event_needed = *terminate = fmi3False;
    *early_return = done >= 0 && done < n;
    *last_time = jn_time(s);
    return done < 0 ? jn_fmi3_refuse(s, "fmi3DoStep") : fmi3OK;
}
