/* The fast lane in C: length-prefixed protobuf messages (proto/jounce/v1/jounce.proto). */
#define _POSIX_C_SOURCE 200809L

#include "jounce_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jounce_codec.h"
#include "jounce_dial.h"
#include "jounce_participant.h"

/* Longest reply that is accepted [bytes]. */
#define MOST ((size_t)64 << 20)
/* Default time after which a server whose machine does not answer is gone [s]. */
#define KEEPALIVE 15.0

/* Fields of the oneofs LockstepRequest.kind and LockstepReply.kind. */
enum { ASK_STEP = 1, ASK_JOIN = 2, ASK_LEAVE = 3, ASK_SYNC = 4 };
enum { SAY_STATE = 1, SAY_JOINED = 2, SAY_LEFT = 3, SAY_ERROR = 4, SAY_EVENT = 5 };

/* ---------------------------------------------------------------- the wire */

/* Sends `body` as the given kind of request. */
static int send_request(jounce *j, unsigned kind) {
    unsigned char length[4] = {0, 0, 0, 0};
    size_t sent = 0, n;
    int i;
    j->out.n = 0;
    put(&j->out, length, 4);
    put_varint(&j->out, kind << 3 | 2);
    put_varint(&j->out, j->body.n);
    put(&j->out, j->body.at, j->body.n);
    if (j->body.failed || j->out.failed) return lost(j, "OUT_OF_MEMORY", "the request is too long");
    n = j->out.n - 4;
    if (n > UINT32_MAX) return lost(j, "OUT_OF_MEMORY", "the request is too long");
    for (i = 0; i < 4; i++) j->out.at[i] = (unsigned char)(n >> (8 * i));
    while (sent < j->out.n) {
        ssize_t more = send(j->fd, j->out.at + sent, j->out.n - sent, MSG_NOSIGNAL);
        if (more > 0) sent += (size_t)more;
        /* The server may have sent the reason before it closed the connection, so the reply is read all the same. */
        else if (errno == EPIPE || errno == ECONNRESET) return JOUNCE_OK;
        else if (errno != EINTR) return lost(j, "UNAVAILABLE", strerror(errno));
    }
    return JOUNCE_OK;
}

/* Fills `in` up to n bytes after `taken`. It waits in poll: on a unix socket, recv is also woken up when the other side
 * reads what was sent, which costs time on both sides. */
static int receive(jounce *j, size_t n) {
    struct pollfd ready = {j->fd, POLLIN, 0};
    if (j->taken == j->in.n) {
        j->taken = j->in.n = 0;
    } else if (j->taken && j->in.n - j->taken < n) {
        memmove(j->in.at, j->in.at + j->taken, j->in.n - j->taken);
        j->in.n -= j->taken;
        j->taken = 0;
    }
    while (j->in.n - j->taken < n) {
        ssize_t more;
        if (j->in.room < j->taken + n) {
            size_t room = (j->taken + n) * 2 + 4096;
            unsigned char *at = realloc(j->in.at, room);
            if (!at) return lost(j, "OUT_OF_MEMORY", "the reply is too long");
            j->in.at = at;
            j->in.room = room;
        }
        more = poll(&ready, 1, -1) < 0 ? -1 : recv(j->fd, j->in.at + j->in.n, j->in.room - j->in.n, 0);
        if (more > 0) j->in.n += (size_t)more;
        else if (more == 0) return lost(j, "STREAM_ENDED", "the server has ended the stream");
        else if (errno != EINTR) return lost(j, "UNAVAILABLE", strerror(errno));
    }
    return JOUNCE_OK;
}

/* The next message's kind and content, as the field that holds it. */
static int read_message(jounce *j, field *last) {
    reader head, r;
    field f;
    size_t n;
    memset(last, 0, sizeof *last);
    if (receive(j, 4)) return JOUNCE_LOST;
    head.at = j->in.at + j->taken;
    head.end = head.at + 4;
    head.bad = 0;
    n = (size_t)get_fixed(&head, 4);
    if (n > MOST) return broken(j);
    if (receive(j, 4 + n)) return JOUNCE_LOST;
    r.at = j->in.at + j->taken + 4;
    r.end = r.at + n;
    r.bad = 0;
    j->taken += 4 + n;
    while (next(&r, &f)) if (f.wire == 2) *last = f;
    return r.bad ? broken(j) : JOUNCE_OK;
}

/* Sends `body` and reads until the reply, which must be of kind `wanted`; events before it are applied. */
static int ask(jounce *j, unsigned kind, unsigned wanted) {
    if (j->fd < 0) return JOUNCE_LOST;
    if (send_request(j, kind)) return JOUNCE_LOST;
    for (;;) {
        field last;
        if (read_message(j, &last)) return JOUNCE_LOST;
        if (last.number == SAY_EVENT && wanted != SAY_JOINED) {
            if (read_event(j, last.bytes)) return JOUNCE_LOST;
            continue;
        }
        if (last.number == SAY_ERROR) {
            read_error(j, last.bytes);
            return JOUNCE_REFUSED;
        }
        if (last.number != wanted) return broken(j);
        if (wanted == SAY_JOINED) return read_joined(j, last.bytes);
        return wanted == SAY_STATE ? read_state(j, last.bytes) : JOUNCE_OK;
    }
}

/* ---------------------------------------------------------------- the calls */

static void put_join(buffer *b, const jounce_terms *t) {
    size_t i;
    for (i = 0; i < t->n_notices; i++) put_number(b, 17, (uint64_t)(t->notices[i] < 0 ? 0 : t->notices[i]));
    put_text(b, 1, t->session_id);
    put_text(b, 2, t->token);
    put_text(b, 3, t->name);
    for (i = 0; i < t->n_owns; i++) put_text(b, 4, t->owns[i]);
    for (i = 0; i < t->n_wants; i++) put_text(b, 5, t->wants[i]);
    put_number(b, 6, t->period);
    put_number(b, 7, t->phase);
    if (t->barrier_timeout >= 0.0) put_double(b, 8, t->barrier_timeout);
    put_number(b, 9, (uint64_t)(t->late < 0 ? 0 : t->late));
    if (t->late_after >= 0.0) put_double(b, 10, t->late_after);
    put_number(b, 11, t->max_age);
    put_packed(b, 12, t->safe, t->n_safe);
    for (i = 0; i < t->n_first_order; i++) put_text(b, 13, t->first_order[i]);
    if (t->lease >= 0.0) put_double(b, 14, t->lease);
    put_text(b, 15, t->participant_token);
    put_number(b, 16, t->take_over != 0);
}

jounce *jounce_join(const char *address, const jounce_terms *terms, jounce_error *error) {
    jounce *j = calloc(1, sizeof *j);
    int code;
    if (!j) {
        if (error) {
            memset(error, 0, sizeof *error);
            snprintf(error->reason, sizeof error->reason, "OUT_OF_MEMORY");
        }
        return NULL;
    }
    j->on_event = terms->on_event;
    j->user = terms->user;
    if (!strncmp(address, "fast:", 5)) address += 5;
    if (!strncmp(address, "unix:", 5)) j->fd = dial_unix(address + 5);
    else j->fd = dial_tcp(address, terms->keepalive < 0.0 ? KEEPALIVE : terms->keepalive);
    if (j->fd < 0) {
        code = lost(j, "UNAVAILABLE", strerror(errno));
        snprintf(j->why.field, sizeof j->why.field, "address");
        snprintf(j->why.given, sizeof j->why.given, "%s", address);
        snprintf(j->why.allowed, sizeof j->why.allowed, "unix:/path or host:port");
    } else {
        put_join(&j->body, terms);
        code = ask(j, ASK_JOIN, SAY_JOINED);
    }
    if (code == JOUNCE_OK) return j;
    if (error) *error = j->why;
    jounce_free(j);
    return NULL;
}

/* Refuses a call without asking the server; `given` and `allowed` are as in jounce_error. */
static int refuse(jounce *j, const char *reason, const char *field, long long given, const char *allowed) {
    memset(&j->why, 0, sizeof j->why);
    snprintf(j->why.reason, sizeof j->why.reason, "%s", reason);
    snprintf(j->why.field, sizeof j->why.field, "%s", field);
    snprintf(j->why.given, sizeof j->why.given, "%lld", given);
    snprintf(j->why.allowed, sizeof j->why.allowed, "%s", allowed);
    return JOUNCE_REFUSED;
}

/* `next_tick` 0 is the next tick by period and phase. */
static int step(jounce *j, const double *inputs, size_t n, int64_t next_tick) {
    if (n != j->inputs.n) {
        char allowed[32];
        snprintf(allowed, sizeof allowed, "%lu", (unsigned long)j->inputs.n);
        return refuse(j, "WRONG_LENGTH", "inputs", (long long)n, allowed);
    }
    j->body.n = 0;
    put_number(&j->body, 1, j->now.epoch);
    put_number(&j->body, 2, (uint64_t)j->now.due);
    put_number(&j->body, 3, j->request + 1);
    put_packed(&j->body, 4, inputs, n);
    if (next_tick) put_number(&j->body, 5, (uint64_t)next_tick);
    return ask(j, ASK_STEP, SAY_STATE);
}

int jounce_step(jounce *j, const double *inputs, size_t n) {
    return step(j, inputs, n, 0);
}

int jounce_step_until(jounce *j, const double *inputs, size_t n, int64_t next_tick) {
    if (next_tick <= j->now.due) {
        char allowed[48];
        snprintf(allowed, sizeof allowed, "%lld or more", (long long)j->now.due + 1);
        return refuse(j, "BAD_FIELD", "next_tick", (long long)next_tick, allowed);
    }
    return step(j, inputs, n, next_tick);
}

int jounce_sync(jounce *j) {
    j->body.n = 0;
    return ask(j, ASK_SYNC, SAY_STATE);
}

int jounce_leave(jounce *j) {
    int code;
    j->body.n = 0;
    code = ask(j, ASK_LEAVE, SAY_LEFT);
    if (code == JOUNCE_OK) lost(j, "STREAM_ENDED", "the participant has left");
    return code;
}

int jounce_poll(jounce *j, int milliseconds) {
    struct pollfd ready = {j->fd, POLLIN, 0};
    if (j->fd < 0) return JOUNCE_LOST;
    for (;;) {
        field last;
        int some = j->in.n > j->taken ? 1 : poll(&ready, 1, milliseconds);
        if (some < 0 && errno != EINTR) return lost(j, "UNAVAILABLE", strerror(errno));
        if (some < 0) continue;
        if (!some) return JOUNCE_OK;
        if (read_message(j, &last)) return JOUNCE_LOST;
        if (last.number == SAY_ERROR) {
            read_error(j, last.bytes);
            return JOUNCE_REFUSED;
        }
        if (last.number != SAY_EVENT) return broken(j);
        if (read_event(j, last.bytes)) return JOUNCE_LOST;
        milliseconds = 0;
    }
}

void jounce_free(jounce *j) {
    if (!j) return;
    if (j->fd >= 0) close(j->fd);
    free_names(&j->inputs);
    free_names(&j->outputs);
    free(j->body.at);
    free(j->out.at);
    free(j->in.at);
    free(j->start.at);
    free(j->values.at);
    free(j->token);
    free(j);
}

const jounce_state *jounce_now(const jounce *j) { return &j->now; }
const jounce_error *jounce_why(const jounce *j) { return &j->why; }
size_t jounce_n_inputs(const jounce *j) { return j->inputs.n; }
size_t jounce_n_outputs(const jounce *j) { return j->outputs.n; }
const char *jounce_input_name(const jounce *j, size_t i) { return i < j->inputs.n ? j->inputs.at[i] : NULL; }
const char *jounce_output_name(const jounce *j, size_t i) { return i < j->outputs.n ? j->outputs.at[i] : NULL; }
const double *jounce_start_inputs(const jounce *j) { return j->start.at; }
double jounce_tick_seconds(const jounce *j) { return j->tick_seconds; }
const char *jounce_participant_token(const jounce *j) { return j->token ? j->token : ""; }
