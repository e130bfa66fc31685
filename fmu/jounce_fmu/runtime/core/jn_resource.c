/* See jn_resource.h. */
#include "jn_resource.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS = 2, HASH = 8 };

static const char scheme[] = "file:";

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int is_drive(const char *text) { return ((text[0] | 32) >= 'a' && (text[0] | 32) <= 'z') && text[1] == ':'; }

/* Length of a beginning in lower case that the text has in any case; 0 if it has not. */
static size_t begins(const char *text, const char *with) {
    size_t k;
    for (k = 0; with[k]; k++)
        if (text[k] != with[k] && (text[k] | 32) != with[k]) return 0;
    return k;
}

/* The path of a URI in place: file:/path, file:///path, file://localhost/path, with %XX; of Windows without the slash
 * before the letter of the drive; file://host/path is //host/path, which Windows takes for that of another machine. */
static void to_path(char *text) {
    char *from = text + strlen(scheme), *to = text;
    if (!strncmp(from, "//", 2)) {
        if (from[2] == '/' || is_drive(from + 2)) from += 2;
        else if (begins(from + 2, "localhost/")) from += strlen("//localhost");
    }
    for (; *from; from++) {
        if (*from == '%' && digit(from[1]) >= 0 && digit(from[2]) >= 0 && (digit(from[1]) || digit(from[2]))) {
            *to++ = (char)(16 * digit(from[1]) + digit(from[2]));
            from += 2;
        } else *to++ = *from;
    }
    *to = '\0';
    if (*text == '/' && is_drive(text + 1)) memmove(text, text + 1, strlen(text));
}

int jn_set_folder(jn_instance *s, const char *place) {
    if (!place || !*place || !s->model->open) return 0;
    s->folder = (char *)malloc(strlen(place) + 1);
    if (!s->folder) return -1;
    strcpy(s->folder, place);
    if (begins(place, scheme)) to_path(s->folder);
    return 0;
}

int jn_open_resource(jn_instance *s, const double *p) {
    jn_resource *r = NULL;
    jn_fault f;
    jn_clear_fault(&f);
    if (!s->model->open) return 0;
    if (s->model->open(s->folder, p, &r, &f)) return jn_fail_fault(s, "no resource", &f);
    if (s->resource) s->model->close(s->resource);
    s->resource = r;
    return 0;
}

/* Address and hash of a resource, or zeros; halves of an address are exact in doubles. */
static void describe(const jn_resource *r, double *place) {
    int i;
    memset(place, 0, JN_RESOURCE_NUMBERS * sizeof *place);
    if (!r) return;
    place[0] = (double)((uint64_t)(uintptr_t)r >> 32);
    place[1] = (double)((uint64_t)(uintptr_t)r & 0xffffffffU);
    for (i = 0; i < HASH; i++)
        place[ADDRESS + i] = (double)((uint32_t)r->id[4 * i] << 24 | (uint32_t)r->id[4 * i + 1] << 16 |
                                      (uint32_t)r->id[4 * i + 2] << 8 | r->id[4 * i + 3]);
}

void jn_tell_resource(const jn_instance *s, double *d) {
    if (s->model->open) describe(s->resource, d + s->model->d_resource);
}

const void *jn_resource_of(const double *place) {
    return (const void *)(uintptr_t)((uint64_t)place[0] << 32 | (uint64_t)place[1]);
}

double *jn_store_of(const double *place) { return (double *)(uintptr_t)((uint64_t)place[0] << 32 | (uint64_t)place[1]); }

void jn_hide_address(double *place) { memset(place, 0, ADDRESS * sizeof *place); }

int jn_is_none(const double *place) {
    int i;
    for (i = 0; i < HASH; i++)
        if (place[ADDRESS + i] != 0.0) return 0;
    return 1;
}

int jn_match_resource(jn_instance *s, const unsigned char *p, const unsigned char *place) {
    const jn_model *m = s->model;
    double wanted[JN_RESOURCE_NUMBERS], here[JN_RESOURCE_NUMBERS];
    jn_resource *kept = s->resource;
    int bad = 0;
    if (!m->open) return 0;
    memcpy(wanted, place, sizeof wanted);
    if (jn_is_none(wanted)) return 0;
    if (!kept) { /* of a fresh instance: what the snapshot's parameters ask for */
        double *values = (double *)malloc((size_t)m->n_p * sizeof *values);
        if (!values) return jn_fail(s, "snapshot: no memory");
        memcpy(values, p, (size_t)m->n_p * sizeof *values);
        bad = jn_open_resource(s, values);
        free(values);
        if (bad) return -1;
        if (!s->resource) return jn_fail(s, "snapshot: its parameters ask for no resource");
    }
    describe(s->resource, here);
    if (!memcmp(here + ADDRESS, wanted + ADDRESS, HASH * sizeof *here)) return 0;
    if (!kept) {
        m->close(s->resource);
        s->resource = NULL;
    }
    return jn_fail(s, "snapshot: made with another resource than this instance has (SHA-256)");
}
