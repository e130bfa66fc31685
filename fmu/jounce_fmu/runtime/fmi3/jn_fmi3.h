/* What the files of the FMI 3.0 face share: the calls, the face's part of an instance, refusal. */
#ifndef JN_FMI3_H
#define JN_FMI3_H

#include "fmi3Functions.h"
#include "jn_face.h"

typedef enum {
    SET_DEBUG_LOGGING, ENTER_INIT, EXIT_INIT, ENTER_EVENT, UPDATE_DISCRETE, ENTER_STEP, ENTER_CONFIG, EXIT_CONFIG,
    TERMINATE, RESET, GET_VALUE, SET_VALUE, GET_STATE, SET_STATE, FREE_STATE, STATE_SIZE, SERIALIZE, DESERIALIZE,
    DO_STEP, ENTER_CONTINUOUS, COMPLETED_STEP, SET_TIME, SET_STATES, GET_STATES, GET_SIZES, SENSITIVITY,
    UNSUPPORTED
} jn_call3;

typedef struct {
    jn_base base;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
    int early_return; /* the importer allows a step to end early */
} jn_face3;

static inline jn_face3 *jn_fmi3_face(jn_instance *s) { return (jn_face3 *)s->face; }

/* The instance, when the call is allowed in its state; otherwise NULL after logging why. */
jn_instance *jn_fmi3_enter(fmi3Instance c, jn_call3 which, const char *function);
/* The same for a call of one kind of instance only: model exchange (1) or co-simulation (0). */
jn_instance *jn_fmi3_enter_kind(fmi3Instance c, jn_call3 which, const char *function, int exchange);
/* Log s->error under the function's name; always fmi3Error. */
fmi3Status jn_fmi3_refuse(jn_instance *s, const char *function);
fmi3Status jn_fmi3_null(jn_instance *s, const char *function);

typedef enum { CO_SIMULATION, CO_SIMULATION_WITH_EVENTS, MODEL_EXCHANGE } jn_kind3;
/* An instance, or NULL after logging why not. */
jn_instance *jn_fmi3_make(const char *name, const char *token, const char *resources, int logging,
                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, jn_kind3 kind);
/* Log why there is no instance; always NULL. */
fmi3Instance jn_fmi3_no_instance(fmi3LogMessageCallback log, fmi3InstanceEnvironment environment, const char *why);

#endif
