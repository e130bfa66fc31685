/* C client of the jounce lockstep service: a participant on the server's fast lane (docs/service.md).
 *
 * It needs jounce_client.c, which includes the other headers of this folder, C99 and POSIX sockets, and no protobuf
 * library. Another program creates the session over gRPC, passes on its id and token, and deletes the session when all
 * participants have left. A participant may be used by one thread at a time. Simulated time is an integer tick; values
 * are doubles in the unit and frame of the signal table (SI, ISO 8855).
 */
#ifndef JOUNCE_CLIENT_H
#define JOUNCE_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return values of the calls. */
enum {
    JOUNCE_OK = 0,
    JOUNCE_REFUSED = 1, /* nothing was applied and the participant goes on: the call may be repeated */
    JOUNCE_LOST = 2     /* the connection is lost: join again with the participant token */
};

/* What the session does when the participant is late or gone: LatePolicy of the wire. */
enum { JOUNCE_BLOCK = 1, JOUNCE_HOLD_LAST = 2, JOUNCE_SAFE_VALUE = 3, JOUNCE_FAIL = 4 };

/* Kinds of events: EventKind of the wire. The last four are notices, which come only if jounce_terms.notices names them. */
enum {
    JOUNCE_PAUSED = 1, JOUNCE_RESUMED = 2, JOUNCE_RESET = 3, JOUNCE_RESTORED = 4, JOUNCE_DRAINING = 8,
    JOUNCE_RECORDING_ENDED = 9,
    JOUNCE_FAILED = 6, JOUNCE_EVICTED = 10, JOUNCE_MISSED = 11, JOUNCE_BARRIER_TIMEOUT = 12
};

/* Something that has happened in the session. All of it is valid during the call of jounce_terms.on_event only. */
typedef struct {
    int kind;
    int64_t tick;                    /* clock [ticks] */
    uint64_t epoch;
    const char *text;                /* of notices: description, else "" */
    const char *const *participants; /* of notices: the participants concerned */
    size_t n_participants;
} jounce_event;

/* How to take part. Start from JOUNCE_TERMS: zero, NULL and negative times mean the server's default. */
typedef struct {
    const char *session_id, *token;  /* join token or session token */
    const char *name;                /* unique in the session */
    const char *const *owns;         /* inputs to own: scalars or vectors by name */
    size_t n_owns;
    const char *const *wants;        /* outputs wanted in each state; "*" for all */
    size_t n_wants;
    uint32_t period, phase;          /* [ticks]; due at phase, phase + period, ... */
    double barrier_timeout;          /* [s] that a step waits for others; 0 = without limit */
    int late;                        /* policy */
    double late_after;               /* [s] */
    double lease;                    /* [s] */
    uint32_t max_age;                /* [ticks], for JOUNCE_HOLD_LAST */
    const double *safe;              /* for JOUNCE_SAFE_VALUE, in the order of jounce_input_name */
    size_t n_safe;
    const char *const *first_order;  /* owned inputs, extrapolated along the line through their last two values */
    size_t n_first_order;
    const char *participant_token;   /* to rejoin after JOUNCE_LOST; all else must be as in the first join */
    double keepalive;                /* [s] after which a server whose machine does not answer is gone; 0 = never,
                                      * negative = 15 */
    int take_over;                   /* 1: replaces a connected participant of that name; needs the session token */
    const int *notices;              /* kinds of notices to ask for */
    size_t n_notices;
    /* Called with each event that a call of this participant reads, or NULL. It must not call back into this
     * participant, but for jounce_now and the like. */
    void (*on_event)(void *user, const jounce_event *event);
    void *user;
} jounce_terms;

#define JOUNCE_TERMS {0, 0, 0, 0, 0, 0, 0, 1, 0, -1.0, 0, -1.0, -1.0, 0, 0, 0, 0, 0, 0, -1.0, 0, 0, 0, 0, 0}

/* State of the participant. */
typedef struct {
    int64_t tick;           /* clock [ticks] */
    int64_t due;            /* tick for which the inputs of the next step are */
    int64_t sim_ns;         /* simulated time since tick 0 [ns] */
    uint64_t epoch;         /* [1]; rises at resets and restores */
    uint64_t overruns;      /* late ticks of a paced session [1] */
    uint64_t missed;        /* due ticks that passed without this participant [1] */
    size_t n_held;          /* participants whose inputs were held or safe values since the previous state [1] */
    uint64_t n_events;      /* events so far [1]: pauses, resumes, resets, restores, notices */
    const double *outputs;  /* in the order of jounce_output_name; valid until the next call */
} jounce_state;

/* Reason for which a call failed. Texts that do not fit are cut. */
typedef struct {
    char reason[48];        /* stable upper-case word for programs; UNAVAILABLE or STREAM_ENDED for JOUNCE_LOST */
    char field[96], given[96], allowed[160], message[256];
    int64_t expected_tick;  /* tick and epoch that the session expects in the next message */
    uint64_t expected_epoch;
} jounce_error;

typedef struct jounce jounce;

/* Connects to "unix:/path" or "host:port" and joins. NULL on failure, with the reason in `error` (may be NULL). */
jounce *jounce_join(const char *address, const jounce_terms *terms, jounce_error *error);

/* Delivers n inputs, in the order of jounce_input_name, for the due tick; waits for the state at the next due tick.
 * After TOO_LATE call jounce_sync. After WRONG_EPOCH the session was reset, and jounce_now gives its present state. */
int jounce_step(jounce *participant, const double *inputs, size_t n);

/* The same for event-driven partners: `next_tick`, after the due tick, is the tick at which to be due next, once, instead
 * of the next one by period and phase. */
int jounce_step_until(jounce *participant, const double *inputs, size_t n, int64_t next_tick);

/* Waits until the clock is at the due tick, and gets the state; needed after a rejoin or TOO_LATE. */
int jounce_sync(jounce *participant);

/* Reads the events that have come, and waits up to `milliseconds` for the first; negative waits without limit. For a
 * participant that awaits no state: every other call reads events, too. */
int jounce_poll(jounce *participant, int milliseconds);

/* Leaves the session: the clock no longer waits for this participant. jounce_free must still be called. */
int jounce_leave(jounce *participant);

/* Closes the connection and frees everything; takes NULL. */
void jounce_free(jounce *participant);

/* The last known state: of the last step, sync, reset or restore, or of the join. */
const jounce_state *jounce_now(const jounce *participant);

/* Reason for which the last call failed. */
const jounce_error *jounce_why(const jounce *participant);

/* Numbers of scalars, and their names (NULL past the end). */
size_t jounce_n_inputs(const jounce *participant);
size_t jounce_n_outputs(const jounce *participant);
const char *jounce_input_name(const jounce *participant, size_t i);
const char *jounce_output_name(const jounce *participant, size_t i);

/* Values of the owned inputs when the participant joined, or at the last reset or restore. */
const double *jounce_start_inputs(const jounce *participant);

/* Tick length [s], and the secret token to rejoin with. */
double jounce_tick_seconds(const jounce *participant);
const char *jounce_participant_token(const jounce *participant);

#ifdef __cplusplus
}
#endif
#endif
