/* Messages of protobuf, field by field: part of jounce_client.c. */
#ifndef JOUNCE_CODEC_H
#define JOUNCE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void free_names(names *n) {
    while (n->n) free(n->at[--n->n]);
    free(n->at);
}

static void get_cut(const field *f, char *to, size_t room) {
    size_t n = f->wire == 2 ? (size_t)(f->bytes.end - f->bytes.at) : 0;
    if (n >= room) n = room - 1;
    if (n) memcpy(to, f->bytes.at, n);
    to[n] = 0;
}

#endif
