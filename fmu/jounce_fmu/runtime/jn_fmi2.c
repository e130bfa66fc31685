/* FMI 2.0 co-simulation: a thin face over jn_core.
 *
 * A refused call returns fmi2Error, names the reason through the logger and changes nothing; the instance
 * goes on. Only a step that breaks down makes the instance FAILED: its state is then that before the step,
 * and reading, snapshots, terminate, reset and free are what is left. Errors are always logged; warnings and
 * events follow loggingOn and fmi2SetDebugLogging. Snapshots made by fmi2GetFMUstate are the only allocation
 * after fmi2Instantiate.
 */
#include "fmi2Functions.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_core.h"

/* ---- allowed calls per state ----------------------------------------------------------------------- */

enum {
    BEFORE = JN_INSTANTIATED | JN_INITIALIZING,
    READY = JN_INITIALIZING | JN_STEPPING | JN_FAILED | JN_TERMINATED,
    ANY = JN_INSTANTIATED | READY
};

typedef enum {
    SET_DEBUG_LOGGING, SETUP_EXPERIMENT, ENTER_INIT, EXIT_INIT, TERMINATE, RESET, GET_VALUE, SET_VALUE,
    GET_STATE, SET_STATE, FREE_STATE, STATE_SIZE, SERIALIZE, DESERIALIZE, DO_STEP, CANCEL_STEP, GET_STATUS,
    UNSUPPORTED
} call;

static const struct {
    const char *name;
    int states;
} allowed[] = {
    {"fmi2SetDebugLogging", ANY},
    {"fmi2SetupExperiment", JN_INSTANTIATED},
    {"fmi2EnterInitializationMode", JN_INSTANTIATED},
    {"fmi2ExitInitializationMode", JN_INITIALIZING},
    {"fmi2Terminate", JN_STEPPING | JN_FAILED},
    {"fmi2Reset", ANY},
    {"fmi2GetXXX", READY},
    {"fmi2SetXXX", BEFORE | JN_STEPPING},
    {"fmi2GetFMUstate", ANY},
    {"fmi2SetFMUstate", ANY},
    {"fmi2FreeFMUstate", ANY},
    {"fmi2SerializedFMUstateSize", ANY},
    {"fmi2SerializeFMUstate", ANY},
    {"fmi2DeSerializeFMUstate", ANY},
    {"fmi2DoStep", JN_STEPPING},
    {"fmi2CancelStep", 0},
    {"fmi2GetStatus", JN_STEPPING | JN_FAILED | JN_TERMINATED},
    {"this call", 0},
};

/* ---- the face's part of an instance and its log ------------------------------------------------------ */

#define CATEGORIES 3
static const char *const categories[CATEGORIES] = {"logStatusError", "logStatusWarning", "logEvents"};
enum { LOG_ERROR, LOG_WARNING, LOG_EVENT };

typedef struct {
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    int logged[CATEGORIES];
    fmi2Status last_step;
    char name[1]; /* goes on past the struct */
} face;

typedef struct {
    size_t size;
    unsigned char bytes[8]; /* goes on past the struct */
} saved_state;

static face *face_of(jn_instance *s) { return (face *)s->face; }

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
    face *f = face_of(s);
    if (f->logged[category]) send(f->logger, f->environment, f->name, status, categories[category], text);
}

static fmi2Status refuse(jn_instance *s, const char *function) {
    char text[600];
    snprintf(text, sizeof text, "%s: %s", function, s->error);
    say(s, LOG_ERROR, fmi2Error, text);
    return fmi2Error;
}

static const char *state_name(int state) {
    return state == JN_INSTANTIATED   ? "instantiated"
           : state == JN_INITIALIZING ? "initialization mode"
           : state == JN_STEPPING     ? "step mode"
           : state == JN_FAILED       ? "failed"
                                      : "terminated";
}

/* The instance, when the call is allowed in its state; otherwise NULL after logging why. */
static jn_instance *enter(fmi2Component c, call which, const char *function) {
    jn_instance *s = (jn_instance *)c;
    if (!s) return NULL;
    if (allowed[which].states & (int)s->state) return s;
    jn_fail(s, allowed[which].states ? "not allowed in state \"%s\"" : "not supported by this FMU (state \"%s\")",
            state_name((int)s->state));
    refuse(s, function);
    return NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

FMI2_Export const char *jn_build_hash(void); /* not FMI: lets a host see which sources made the library */
const char *jn_build_hash(void) { return jn_build_hash_text; }

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
    fmi2CallbackLogger logger = functions ? functions->logger : NULL;
    fmi2ComponentEnvironment environment = functions ? functions->componentEnvironment : NULL;
    const char *why = NULL;
    jn_instance *s = NULL;
    (void)resources; /* the model has no resource files, so any URI will do */
    (void)visible;
    if (!name || !*name) why = "fmi2Instantiate: the instance name is empty";
    else if (type != fmi2CoSimulation) why = "fmi2Instantiate: only co-simulation is supported";
    else if (!guid || strcmp(guid, jn_guid)) why = "fmi2Instantiate: the GUID is not that of this library";
    else {
        s = jn_create(jn_pick_model(), sizeof(face) + strlen(name));
        if (!s) why = "fmi2Instantiate: no memory, or the model's signal table is broken";
    }
    if (why) {
        send(logger, environment, name ? name : "", fmi2Error, categories[LOG_ERROR], why);
        return NULL;
    }
    face_of(s)->logger = logger;
    face_of(s)->environment = environment;
    face_of(s)->logged[LOG_ERROR] = 1;
    face_of(s)->logged[LOG_WARNING] = face_of(s)->logged[LOG_EVENT] = logging != 0;
    memcpy(face_of(s)->name, name, strlen(name) + 1);
    return s;
}

void fmi2FreeInstance(fmi2Component c) {
    if (c) jn_destroy((jn_instance *)c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[]) {
    jn_instance *s = enter(c, SET_DEBUG_LOGGING, "fmi2SetDebugLogging");
    int chosen[CATEGORIES] = {0, 0, 0}, k;
    size_t i;
    if (!s) return fmi2Error;
    for (i = 0; i < n; i++) {
        int found = 0;
        for (k = 0; names && names[i] && k < CATEGORIES; k++)
            if (!strcmp(names[i], categories[k]) || !strcmp(names[i], "logAll")) chosen[k] = found = 1;
        if (found) continue;
        jn_fail(s, "category %s; allowed are logAll, logStatusError, logStatusWarning, logEvents",
                names ? names[i] : NULL);
        return refuse(s, "fmi2SetDebugLogging");
    }
    for (k = 0; k < CATEGORIES; k++)
        if (!n || chosen[k]) face_of(s)->logged[k] = on != 0 || (!n && k == LOG_ERROR);
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
    jn_instance *s = enter(c, SETUP_EXPERIMENT, "fmi2SetupExperiment");
    (void)has_tolerance; /* the step is fixed */
    (void)tolerance;
    if (!s) return fmi2Error;
    return jn_setup(s, start, has_stop != 0, stop) ? refuse(s, "fmi2SetupExperiment") : fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    jn_instance *s = enter(c, ENTER_INIT, "fmi2EnterInitializationMode");
    if (!s) return fmi2Error;
    s->state = JN_INITIALIZING;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    jn_instance *s = enter(c, EXIT_INIT, "fmi2ExitInitializationMode");
    if (!s) return fmi2Error;
    if (jn_finish_init(s)) return refuse(s, "fmi2ExitInitializationMode");
    face_of(s)->last_step = fmi2OK;
    say(s, LOG_EVENT, fmi2OK, "initialized");
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c) {
    jn_instance *s = enter(c, TERMINATE, "fmi2Terminate");
    if (!s) return fmi2Error;
    s->state = JN_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    jn_instance *s = enter(c, RESET, "fmi2Reset");
    if (!s) return fmi2Error;
    jn_reset(s);
    face_of(s)->last_step = fmi2OK;
    return fmi2OK;
}

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

/* `typed` says what value points to: one of double, fmi2Integer (also for booleans). */
static fmi2Status get_values(fmi2Component c, const char *function, const char *types,
                             const fmi2ValueReference vr[], size_t n, double *real, int *integer) {
    jn_instance *s = enter(c, GET_VALUE, function);
    size_t i;
    int row, outputs = 0;
    if (!s) return fmi2Error;
    if (n && (!vr || (!real && !integer))) { jn_fail(s, "null array"); return refuse(s, function); }
    for (i = 0; i < n; i++) {
        row = find_typed(s, vr[i], types);
        if (row < 0) return refuse(s, function);
        outputs |= s->model->signals[row].kind == 'y';
    }
    if (outputs && jn_refresh(s)) return refuse(s, function);
    for (i = 0; integer && i < n; i++) {
        row = jn_find(s, vr[i]);
        if (jn_value(s, row) > (double)INT_MAX || jn_value(s, row) < (double)INT_MIN) {
            jn_fail(s, "%s = %g: does not fit an fmi2Integer", s->model->signals[row].name, jn_value(s, row));
            return refuse(s, function);
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
    jn_instance *s = enter(c, SET_VALUE, function);
    size_t i;
    int row;
    if (!s) return fmi2Error;
    if (n && (!vr || (!real && !integer))) { jn_fail(s, "null array"); return refuse(s, function); }
    for (i = 0; i < n; i++) {
        double v = real ? real[i] : (double)integer[i];
        row = find_typed(s, vr[i], types);
        if (row < 0 || jn_check(s, row, v)) return refuse(s, function);
        if (types[0] == 'b' && v != 0.0 && v != 1.0) {
            jn_fail(s, "%s = %g: allowed are 0 and 1", s->model->signals[row].name, v);
            return refuse(s, function);
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

static fmi2Status no_strings(fmi2Component c, size_t n, call which, const char *function) {
    jn_instance *s = enter(c, which, function);
    if (!s) return fmi2Error;
    if (!n) return fmi2OK;
    jn_fail(s, "the model has no String variables");
    return refuse(s, function);
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
    refuse(s, function);
    return NULL;
}

static fmi2Status null_argument(jn_instance *s, const char *function) {
    jn_fail(s, "null pointer");
    return refuse(s, function);
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    jn_instance *s = enter(c, GET_STATE, "fmi2GetFMUstate");
    if (!s) return fmi2Error;
    if (!state) return null_argument(s, "fmi2GetFMUstate");
    if (!*state) *state = new_saved_state(s, "fmi2GetFMUstate");
    if (!*state) return fmi2Error;
    jn_snapshot_write(s, ((saved_state *)*state)->bytes);
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    jn_instance *s = enter(c, SET_STATE, "fmi2SetFMUstate");
    saved_state *saved = (saved_state *)state;
    if (!s) return fmi2Error;
    if (!saved) return null_argument(s, "fmi2SetFMUstate");
    if (jn_snapshot_read(s, saved->bytes, saved->size)) return refuse(s, "fmi2SetFMUstate");
    face_of(s)->last_step = s->state == JN_FAILED ? fmi2Error : fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    jn_instance *s = enter(c, FREE_STATE, "fmi2FreeFMUstate");
    if (!s) return fmi2Error;
    if (!state) return fmi2OK;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    jn_instance *s = enter(c, STATE_SIZE, "fmi2SerializedFMUstateSize");
    if (!s) return fmi2Error;
    if (!state || !size) return null_argument(s, "fmi2SerializedFMUstateSize");
    *size = ((saved_state *)state)->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    jn_instance *s = enter(c, SERIALIZE, "fmi2SerializeFMUstate");
    saved_state *saved = (saved_state *)state;
    if (!s) return fmi2Error;
    if (!saved || !bytes) return null_argument(s, "fmi2SerializeFMUstate");
    if (size < saved->size) {
        jn_fail(s, "buffer of %D bytes; allowed are %D or more", (long long)size, (long long)saved->size);
        return refuse(s, "fmi2SerializeFMUstate");
    }
    memcpy(bytes, saved->bytes, saved->size);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    jn_instance *s = enter(c, DESERIALIZE, "fmi2DeSerializeFMUstate");
    if (!s) return fmi2Error;
    if (!bytes || !state) return null_argument(s, "fmi2DeSerializeFMUstate");
    if (jn_snapshot_check(s, (const unsigned char *)bytes, size)) return refuse(s, "fmi2DeSerializeFMUstate");
    if (!*state) *state = new_saved_state(s, "fmi2DeSerializeFMUstate");
    if (!*state) return fmi2Error;
    memcpy(((saved_state *)*state)->bytes, bytes, size);
    return fmi2OK;
}

/* ---- stepping --------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state) {
    jn_instance *s = enter(c, DO_STEP, "fmi2DoStep");
    long long n;
    (void)no_set_state;
    if (!s) return fmi2Error;
    n = jn_whole_ticks(s, t, h);
    face_of(s)->last_step = n < 0 || jn_advance(s, n) ? refuse(s, "fmi2DoStep") : fmi2OK;
    return face_of(s)->last_step;
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
    jn_instance *s = enter(c, GET_STATUS, "fmi2GetStatus");
    if (!s) return fmi2Error;
    if (!value) return null_argument(s, "fmi2GetStatus");
    if (kind != fmi2DoStepStatus) return fmi2Discard;
    *value = face_of(s)->last_step;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
    jn_instance *s = enter(c, GET_STATUS, "fmi2GetRealStatus");
    if (!s) return fmi2Error;
    if (!value) return null_argument(s, "fmi2GetRealStatus");
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = jn_time(s);
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
    jn_instance *s = enter(c, GET_STATUS, "fmi2GetBooleanStatus");
    if (!s) return fmi2Error;
    if (!value) return null_argument(s, "fmi2GetBooleanStatus");
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = fmi2False; /* the model never ends a run by itself */
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
    (void)kind; (void)value;
    return enter(c, GET_STATUS, "fmi2GetIntegerStatus") ? fmi2Discard : fmi2Error;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    (void)kind; (void)value;
    return enter(c, GET_STATUS, "fmi2GetStringStatus") ? fmi2Discard : fmi2Error;
}

fmi2Status fmi2CancelStep(fmi2Component c) {
    enter(c, CANCEL_STEP, "fmi2CancelStep");
    return fmi2Error;
}

/* ---- not advertised ------------------------------------------------------------------------------------------ */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real dv[],
                                        fmi2Real result[]) {
    (void)unknown; (void)n_unknown; (void)known; (void)n_known; (void)dv; (void)result;
    enter(c, UNSUPPORTED, "fmi2GetDirectionalDerivative");
    return fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    (void)vr; (void)n; (void)order; (void)value;
    enter(c, UNSUPPORTED, "fmi2SetRealInputDerivatives");
    return fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[]) {
    (void)vr; (void)n; (void)order; (void)value;
    enter(c, UNSUPPORTED, "fmi2GetRealOutputDerivatives");
    return fmi2Error;
}
