/* What the two files of the FMI 2.0 face share: the calls, the face's part of an instance, refusal. */
#ifndef JN_FMI2_H
#define JN_FMI2_H

#include "fmi2Functions.h"
#include "jn_face.h"

typedef enum {
    SET_DEBUG_LOGGING, SETUP_EXPERIMENT, ENTER_INIT, EXIT_INIT, TERMINATE, RESET, GET_VALUE, SET_VALUE,
    GET_STATE, SET_STATE, FREE_STATE, STATE_SIZE, SERIALIZE, DESERIALIZE, DO_STEP, CANCEL_STEP, GET_STATUS,
    ENTER_EVENT, NEW_DISCRETE, ENTER_CONTINUOUS, COMPLETED_STEP, SET_TIME, SET_STATES, GET_STATES, GET_NOMINALS,
    SENSITIVITY,
    UNSUPPORTED
} jn_call;

typedef struct {
    jn_base base;
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    fmi2Status last_step;
    char name[1]; /* continues past the struct */
} jn_face;

static inline jn_face *jn_fmi2_face(jn_instance *s) { return (jn_face *)s->face; }

/* The instance, when the call is allowed in its state; otherwise NULL after logging why. */
jn_instance *jn_fmi2_enter(fmi2Component c, jn_call which, const char *function);
/* Log s->error under the function's name; always fmi2Error. */
fmi2Status jn_fmi2_refuse(jn_instance *s, const char *function);
fmi2Status jn_fmi2_null(jn_instance *s, const char *function);

#endif
