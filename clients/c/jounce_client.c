/* The fast lane in C: length-prefixed protobuf messages with a hand-written codec (proto/jounce/v1/jounce.proto). */
#define _POSIX_C_SOURCE 200809L

#include "jounce_client.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Longest reply that is accepted [bytes]. */
#define MOST ((size_t)64 << 20)
/* Default time after which a server whose machine does not answer is gone [s]. */
#define KEEPALIVE 15.0

/* Fields of the oneofs LockstepRequest.kind and LockstepReply.kind. */
enum { ASK_STEP = 1, ASK_JOIN = 2, ASK_LEAVE = 3, ASK_SYNC = 4 };
enum { SAY_STATE = 1, SAY_JOINED = 2, SAY_LEFT = 3, SAY_ERROR = 4, SAY_EVENT = 5 };

typedef struct {
    unsigned char *at;
    size_t n, room;
    int failed;  /* out of memory; stays set */
} buffer;

typedef struct {
    char **at;
    size_t n;
} names;

typedef struct {
    double *at;
    size_t n, room;
} doubles;

struct jounce {
    int fd;
    buffer body, out, in;
    size_t taken;  /* bytes of `in` that belong to messages already read */
    names inputs, outputs;
    doubles start, values;
    char *token;
    double tick_seconds;
    uint64_t request;
    jounce_state now;
    jounce_error why;
    void (*on_event)(void *user, const jounce_event *event);
    void *user;
};

/* ---------------------------------------------------------------- writing */

static void put(buffer *b, const void *data, size_t n) {
    if (b->room - b->n < n) {
        size_t room = (b->n + n) * 2 + 256;
        unsigned char *at = realloc(b->at, room);
        if (!at) {
            b->failed = 1;
            return;
        }
        b->at = at;
        b->room = room;
    }
    if (n) memcpy(b->at + b->n, data, n);
    b->n += n;
}

static void put_varint(buffer *b, uint64_t value) {
    unsigned char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    put(b, bytes, n);
}

static void put_number(buffer *b, unsigned field, uint64_t value) {
    put_varint(b, field << 3);
    put_varint(b, value);
}

static void put_fixed(buffer *b, double value) {
    uint64_t bits;
    unsigned char bytes[8];
    int i;
    memcpy(&bits, &value, 8);
    for (i = 0; i < 8; i++) bytes[i] = (unsigned char)(bits >> (8 * i));
    put(b, bytes, 8);
}

static void put_double(buffer *b, unsigned field, double value) {
    put_varint(b, field << 3 | 1);
    put_fixed(b, value);
}

static void put_packed(buffer *b, unsigned field, const double *values, size_t n) {
    size_t i;
    put_varint(b, field << 3 | 2);
    put_varint(b, 8 * (uint64_t)n);
    for (i = 0; i < n; i++) put_fixed(b, values[i]);
}

static void put_text(buffer *b, unsigned field, const char *text) {
    size_t n = text ? strlen(text) : 0;
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    put(b, text ? text : "", n);
}

/* ---------------------------------------------------------------- reading */

typedef struct {
    const unsigned char *at, *end;
    int bad;  /* malformed; stays set */
} reader;

/* One field: its number, and its value as a number or as bytes. */
typedef struct {
    unsigned number, wire;
    uint64_t value;
    reader bytes;
} field;

static uint64_t get_varint(reader *r) {
    uint64_t value = 0;
    unsigned shift;
    for (shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    r->bad = 1;
    return 0;
}

static uint64_t get_fixed(reader *r, unsigned n) {
    uint64_t value = 0;
    unsigned i;
    if ((size_t)(r->end - r->at) < n) {
        r->bad = 1;
        return 0;
    }
    for (i = 0; i < n; i++) value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

static int next(reader *r, field *f) {
    uint64_t tag;
    memset(f, 0, sizeof *f);
    if (r->bad || r->at == r->end) return 0;
    tag = get_varint(r);
    f->number = (unsigned)(tag >> 3);
    f->wire = (unsigned)(tag & 7);
    if (f->wire == 0) {
        f->value = get_varint(r);
    } else if (f->wire == 1 || f->wire == 5) {
        f->value = get_fixed(r, f->wire == 1 ? 8 : 4);
    } else if (f->wire == 2) {
        uint64_t n = get_varint(r);
        if (n > (uint64_t)(r->end - r->at)) r->bad = 1;
        if (r->bad) return 0;
        f->bytes.at = r->at;
        f->bytes.end = r->at += n;
    } else {
        r->bad = 1;
    }
    return !r->bad;
}

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* Appends packed doubles, or a single one. */
static void get_doubles(reader *r, field *f, doubles *to) {
    size_t n = f->wire == 2 ? (size_t)(f->bytes.end - f->bytes.at) / 8 : 1;
    if (f->wire == 2 ? (f->bytes.end - f->bytes.at) % 8 != 0 : f->wire != 1) r->bad = 1;
    if (!r->bad && to->room - to->n < n) {
        double *at = realloc(to->at, (to->n + n) * sizeof *at);
        if (!at) {
            r->bad = 1;
        } else {
            to->at = at;
            to->room = to->n + n;
        }
    }
    if (r->bad) return;
    if (f->wire == 1) to->at[to->n++] = as_double(f->value);
    else while (n--) to->at[to->n++] = as_double(get_fixed(&f->bytes, 8));
}

static char *get_text(reader *r, const field *f) {
    size_t n = f->wire == 2 ? (size_t)(f->bytes.end - f->bytes.at) : 0;
    char *text = malloc(n + 1);
    if (!text) {
        r->bad = 1;
        return NULL;
    }
    if (n) memcpy(text, f->bytes.at, n);
    text[n] = 0;
    return text;
}

static void get_name(reader *r, const field *f, names *to) {
    char **at = realloc(to->at, (to->n + 1) * sizeof *at);
    if (!at) {
        r->bad = 1;
        return;
    }
    to->at = at;
    to->at[to->n] = get_text(r, f);
    if (to->at[to->n]) to->n++;
}

static void get_cut(const field *f, char *to, size_t room) {
    size_t n = f->wire == 2 ? (size_t)(f->bytes.end - f->bytes.at) : 0;
    if (n >= room) n = room - 1;
    if (n) memcpy(to, f->bytes.at, n);
    to[n] = 0;
}

/* ---------------------------------------------------------------- messages */

static int lost(jounce *j, const char *reason, const char *message) {
    if (j->fd >= 0) close(j->fd);
    j->fd = -1;
    memset(&j->why, 0, sizeof j->why);
    snprintf(j->why.reason, sizeof j->why.reason, "%s", reason);
    snprintf(j->why.message, sizeof j->why.message, "%s", message);
    return JOUNCE_LOST;
}

static int broken(jounce *j) { return lost(j, "UNEXPECTED_REPLY", "the server broke the protocol"); }

static void read_error(jounce *j, reader r) {
    field f;
    memset(&j->why, 0, sizeof j->why);
    while (next(&r, &f)) switch (f.number) {
        case 1: get_cut(&f, j->why.reason, sizeof j->why.reason); break;
        case 2: get_cut(&f, j->why.field, sizeof j->why.field); break;
        case 3: get_cut(&f, j->why.given, sizeof j->why.given); break;
        case 4: get_cut(&f, j->why.allowed, sizeof j->why.allowed); break;
        case 5: get_cut(&f, j->why.message, sizeof j->why.message); break;
        case 8: j->why.expected_tick = (int64_t)f.value; break;
        case 9: j->why.expected_epoch = f.value; break;
    }
}

static int read_joined(jounce *j, reader r) {
    field f;
    while (next(&r, &f)) switch (f.number) {
        case 1: j->now.epoch = f.value; break;
        case 2: j->now.due = (int64_t)f.value; break;
        case 3: j->now.tick = (int64_t)f.value; break;
        case 4: j->now.sim_ns = (int64_t)f.value; break;
        case 5: j->tick_seconds = as_double(f.value); break;
        case 6: get_name(&r, &f, &j->inputs); break;
        case 7: get_name(&r, &f, &j->outputs); break;
        case 8: get_doubles(&r, &f, &j->start); break;
        case 9: get_doubles(&r, &f, &j->values); break;
        case 10: free(j->token); j->token = get_text(&r, &f); break;
        case 11: j->request = f.value; break;
    }
    if (r.bad || j->start.n != j->inputs.n || j->values.n != j->outputs.n) return broken(j);
    j->now.outputs = j->values.at;
    return JOUNCE_OK;
}

static int read_state(jounce *j, reader r) {
    jounce_state s = {0, 0, 0, 0, 0, 0, 0, 0, NULL};
    field f;
    j->values.n = 0;
    j->request = 0;
    while (next(&r, &f)) switch (f.number) {
        case 1: s.epoch = f.value; break;
        case 2: s.tick = s.due = (int64_t)f.value; break;
        case 3: s.sim_ns = (int64_t)f.value; break;
        case 4: get_doubles(&r, &f, &j->values); break;
        case 5: j->request = f.value; break;
        case 6: s.overruns = f.value; break;
        case 7: s.missed = f.value; break;
        case 8: s.n_held++; break;
    }
    if (r.bad || j->values.n != j->outputs.n) return broken(j);
    s.n_events = j->now.n_events;
    s.outputs = j->values.at;
    j->now = s;
    return JOUNCE_OK;
}

static int is_notice(int kind) {
    return kind == JOUNCE_FAILED || kind == JOUNCE_EVICTED || kind == JOUNCE_MISSED || kind == JOUNCE_BARRIER_TIMEOUT;
}

/* A new epoch replaces the state; a pause, a resume and a notice do not. */
static int apply_event(jounce *j, reader r, const jounce_event *event) {
    reader again = r;
    jounce_state s = j->now;
    field f;
    s.tick = s.due = s.sim_ns = 0;
    s.epoch = event->epoch;
    j->now.n_events++;
    if (is_notice(event->kind) || s.epoch == j->now.epoch) return JOUNCE_OK;
    j->values.n = j->start.n = 0;
    j->request = 0;
    while (next(&again, &f)) switch (f.number) {
        case 3: s.tick = (int64_t)f.value; break;
        case 4: s.due = (int64_t)f.value; break;
        case 5: s.sim_ns = (int64_t)f.value; break;
        case 6: get_doubles(&again, &f, &j->values); break;
        case 7: get_doubles(&again, &f, &j->start); break;
    }
    if (again.bad || j->values.n != j->outputs.n || j->start.n != j->inputs.n) return broken(j);
    s.n_events = j->now.n_events;
    s.n_held = 0;
    s.outputs = j->values.at;
    j->now = s;
    return JOUNCE_OK;
}

static void free_names(names *n) {
    while (n->n) free(n->at[--n->n]);
    free(n->at);
}

static int read_event(jounce *j, reader r) {
    reader again = r;
    jounce_event event = {0, 0, 0, "", NULL, 0};
    names about = {NULL, 0};
    char *text = NULL;
    field f;
    int code;
    while (next(&r, &f)) switch (f.number) {
        case 1: event.kind = (int)f.value; break;
        case 2: event.epoch = f.value; break;
        case 3: event.tick = (int64_t)f.value; break;
        case 8: free(text); text = get_text(&r, &f); break;
        case 9: get_name(&r, &f, &about); break;
    }
    code = r.bad ? broken(j) : apply_event(j, again, &event);
    if (code == JOUNCE_OK && j->on_event) {
        if (text) event.text = text;
        event.participants = (const char *const *)about.at;
        event.n_participants = about.n;
        j->on_event(j->user, &event);
    }
    free(text);
    free_names(&about);
    return code;
}

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

static int dial_unix(const char *path) {
    struct sockaddr_un to;
    int fd;
    memset(&to, 0, sizeof to);
    to.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int at_least_one(double value) { return value < 1.0 ? 1 : value > 86400e3 ? 86400000 : (int)(value + 0.5); }

/* jounce_proto/keepalive.py, in C. */
static void keep_alive(int fd, double seconds) {
    int yes = 1, idle = at_least_one(seconds / 3.0), wait = at_least_one(seconds * 2.0 / 3.0);
    if (seconds <= 0.0) return;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
#ifdef TCP_KEEPIDLE
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
#endif
#ifdef TCP_KEEPINTVL
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &wait, sizeof wait);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &yes, sizeof yes);
#endif
#ifdef TCP_USER_TIMEOUT
    {
        int all = at_least_one(seconds * 1e3);
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &all, sizeof all);
    }
#endif
    (void)idle;
    (void)wait;
}

static int dial_tcp(const char *address, double keepalive) {
    const char *colon = strrchr(address, ':');
    struct addrinfo hints, *found = NULL, *one;
    char host[256];
    size_t n = colon ? (size_t)(colon - address) : 0;
    int fd = -1, yes = 1;
    errno = EINVAL;
    if (!colon || n >= sizeof host) return -1;
    if (n > 1 && address[0] == '[' && address[n - 1] == ']') {
        address++;
        n -= 2;
    }
    memcpy(host, address, n);
    host[n] = 0;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, colon + 1, &hints, &found)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    for (one = found; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen)) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        /* A step must not wait for TCP's acknowledgement of the previous one. */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        keep_alive(fd, keepalive);
    }
    return fd;
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
