/* See jn_store.h. */
#include "jn_store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes(const jn_instance *s) { return (size_t)s->model->n_store * sizeof *s->store; }

int jn_n_store(const jn_instance *s) { return s->store ? s->model->n_store : 0; }

void jn_free_store(jn_instance *s) {
    free(s->store);
    s->store = NULL;
}

int jn_make_store(jn_instance *s) {
    if (!s->store) s->store = (double *)malloc(2 * bytes(s)); /* the second half is the one that is kept */
    if (!s->store) return jn_fail(s, "no memory for what the model remembers");
    memset(s->store, 0, bytes(s));
    return 0;
}

int jn_use_store(jn_instance *s, const double *p) {
    if (s->model->stores && s->model->stores(p)) return jn_make_store(s);
    jn_free_store(s);
    return 0;
}

void jn_tell_store(const jn_instance *s, double *d) {
    double *place = d + s->model->d_store;
    if (!s->model->stores) return;
    place[0] = (double)((uint64_t)(uintptr_t)s->store >> 32);
    place[1] = (double)((uint64_t)(uintptr_t)s->store & 0xffffffffU);
}

void jn_remember(jn_instance *s) {
    if (s->store) s->model->remember(s->x, s->u, s->p_now, s->d);
}

void jn_keep_store(jn_instance *s) {
    if (s->store) memcpy(s->store + s->model->n_store, s->store, bytes(s));
}

void jn_restore_store(jn_instance *s) {
    if (s->store) memcpy(s->store, s->store + s->model->n_store, bytes(s));
}
