/* Snapshots: a blob without pointers, which is a header of 128 bytes and then u, p, p in effect, d, x
 * and the store, where it is in use, as doubles. */
#include <stdint.h>
#include <string.h>

#include "jn_core.h"
#include "jn_resource.h"
#include "jn_store.h"

#define MAGIC 0x314E534AU /* "JSN1" on a little-endian machine; a blob of the other byte order does not match */
#define VERSION 1U
#define FLAG_START_DIRTY 1U
#define FLAG_PARAMS_DIRTY 2U
#define FLAG_STORE 4U

typedef struct {
    uint32_t magic, version, n_u, n_p, n_d, n_x, state, flags;
    int64_t ticks;
    double start_time, stop_time;
    char build_hash[64];
    uint64_t checksum; /* covers all other bytes of the blob */
} header;

static size_t payload_count(const jn_model *m) { return (size_t)(m->n_u + 2 * m->n_p + m->n_d + m->n_x); }

size_t jn_snapshot_size(const jn_instance *s) {
    return sizeof(header) + (payload_count(s->model) + (size_t)jn_n_store(s)) * sizeof(double);
}

/* FNV-1a over 64-bit words (Fowler, Noll, Vo), with a shift after each word; skips the checksum itself. */
static uint64_t checksum(const unsigned char *blob, size_t size) {
    uint64_t h = 14695981039346656037ULL, word;
    size_t i;
    for (i = 0; i + 8 <= size; i += 8) {
        if (i == offsetof(header, checksum)) continue;
        memcpy(&word, blob + i, 8);
        h = (h ^ word) * 1099511628211ULL;
        h ^= h >> 29;
    }
    return h;
}

static void put(unsigned char **to, const double *from, int n) {
    if (n) memcpy(*to, from, (size_t)n * sizeof *from);
    *to += (size_t)n * sizeof *from;
}

static void take(const unsigned char **from, double *to, int n) {
    if (n) memcpy(to, *from, (size_t)n * sizeof *to);
    *from += (size_t)n * sizeof *to;
}

void jn_snapshot_write(const jn_instance *s, unsigned char *blob) {
    const jn_model *m = s->model;
    unsigned char *to = blob + sizeof(header);
    header h;
    memset(&h, 0, sizeof h);
    h.magic = MAGIC;
    h.version = VERSION;
    h.n_u = (uint32_t)m->n_u;
    h.n_p = (uint32_t)m->n_p;
    h.n_d = (uint32_t)m->n_d;
    h.n_x = (uint32_t)m->n_x;
    h.state = (uint32_t)s->state;
    h.flags = (s->start_dirty ? FLAG_START_DIRTY : 0U) | (s->params_dirty ? FLAG_PARAMS_DIRTY : 0U) |
              (s->store ? FLAG_STORE : 0U);
    h.ticks = s->ticks;
    h.start_time = s->start_time;
    h.stop_time = s->stop_time;
    memcpy(h.build_hash, jn_build_hash_text, sizeof h.build_hash);
    put(&to, s->u, m->n_u);
    put(&to, s->p, m->n_p);
    put(&to, s->p_now, m->n_p);
    put(&to, s->d, m->n_d);
    if (m->open) jn_hide_address((double *)(void *)(to - (size_t)m->n_d * sizeof(double)) + m->d_resource);
    if (m->stores) jn_hide_address((double *)(void *)(to - (size_t)m->n_d * sizeof(double)) + m->d_store);
    put(&to, s->x, m->n_x);
    put(&to, s->store, jn_n_store(s));
    memcpy(blob, &h, sizeof h);
    h.checksum = checksum(blob, jn_snapshot_size(s));
    memcpy(blob, &h, sizeof h);
}

int jn_snapshot_check(jn_instance *s, const unsigned char *blob, size_t size) {
    const jn_model *m = s->model;
    size_t i, n = payload_count(m), wanted;
    header h;
    if (size < sizeof h) return jn_fail(s, "snapshot of %D bytes: shorter than its header", (long long)size);
    memcpy(&h, blob, sizeof h);
    if (h.magic != MAGIC) return jn_fail(s, "snapshot: not made by this runtime (magic number)");
    if (h.version != VERSION)
        return jn_fail(s, "snapshot of version %d: expected %d", (int)h.version, (int)VERSION);
    if (memcmp(h.build_hash, jn_build_hash_text, sizeof h.build_hash))
        return jn_fail(s, "snapshot: made by another build of the model (build hash)");
    if (m->stores && (h.flags & FLAG_STORE)) n += (size_t)m->n_store;
    wanted = sizeof h + n * sizeof(double);
    if (size != wanted || h.n_u != (uint32_t)m->n_u || h.n_p != (uint32_t)m->n_p ||
        h.n_d != (uint32_t)m->n_d || h.n_x != (uint32_t)m->n_x)
        return jn_fail(s, "snapshot of %D bytes: expected %D for this model", (long long)size,
                       (long long)wanted);
    if (h.checksum != checksum(blob, size)) return jn_fail(s, "snapshot: damaged (checksum)");
    if (!(h.state & (uint32_t)s->states) || (h.state & (h.state - 1)))
        return jn_fail(s, "snapshot: taken in a state (%d) that this kind of instance does not have", (int)h.state);
    if (h.ticks < 0 || !jn_finite(h.start_time) || h.stop_time != h.stop_time)
        return jn_fail(s, "snapshot: its ticks or times are not valid");
    for (i = 0; i < n; i++) {
        double v;
        memcpy(&v, blob + sizeof h + i * sizeof v, sizeof v);
        if (!jn_finite(v)) return jn_fail(s, "snapshot: number %D is not finite", (long long)i);
    }
    return 0;
}

int jn_snapshot_read(jn_instance *s, const unsigned char *blob, size_t size) {
    const jn_model *m = s->model;
    const unsigned char *from = blob + sizeof(header);
    header h;
    if (jn_snapshot_check(s, blob, size)) return -1;
    memcpy(&h, blob, sizeof h);
    if (jn_match_resource(s, from + (size_t)(m->n_u + m->n_p) * sizeof(double),
                          from + (size_t)(m->n_u + 2 * m->n_p + m->d_resource) * sizeof(double)))
        return -1;
    if (!(h.flags & FLAG_STORE)) jn_free_store(s);
    else if (jn_make_store(s)) return -1;
    take(&from, s->u, m->n_u);
    take(&from, s->p, m->n_p);
    take(&from, s->p_now, m->n_p);
    take(&from, s->d, m->n_d);
    if (m->open && !jn_is_none(s->d + m->d_resource)) jn_tell_resource(s, s->d);
    jn_tell_store(s, s->d);
    take(&from, s->x, m->n_x);
    take(&from, s->store, jn_n_store(s));
    s->state = (jn_state)h.state;
    s->ticks = h.ticks;
    s->start_time = h.start_time;
    s->stop_time = h.stop_time;
    s->start_dirty = (h.flags & FLAG_START_DIRTY) != 0;
    s->params_dirty = (h.flags & FLAG_PARAMS_DIRTY) != 0;
    s->outputs_dirty = s->inputs_dirty = 1;
    if (m->p_tick >= 0) s->tick_length = s->p_now[m->p_tick];
    return 0;
}
