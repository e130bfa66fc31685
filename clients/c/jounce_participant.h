/* What a participant knows of its session, and what the server's messages change of it: part of jounce_client.c. */
#ifndef JOUNCE_PARTICIPANT_H
#define JOUNCE_PARTICIPANT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jounce_client.h"
#include "jounce_codec.h"

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

#endif
