/* Opens a terrain file again and again with changed bytes and a right SHA-256, and asks what is taken for the ground.
 *
 *   terrain_fuzz FILE SCRATCH COUNT SEED    prints how many were taken and refused; ends with 1 at a number that is none
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_sha256.h"
#include "jn_terrain.h"

enum { START = 64, HEADER = 256, PLACES = 24, LONG = 32 };

static uint64_t state;

static uint64_t draw(void) { /* xorshift64* (Vigna 2016) */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717ULL;
}

static double odd(void) {
    static const double numbers[] = {0.0,   -0.0, 1.0,   -1.0,  0.5,   2.0,    3.0,   1e-300, 1e300, -1e300, 1e9, 1e18,
                                     1e-12, 1e5,  -1e-9, 4e9,   65536, 2.5e6,  255.0, 1.5,    1e6,   -1e6};
    const uint64_t k = draw() % (sizeof numbers / sizeof *numbers + 3);
    double v;
    uint64_t bits = k % 3 == 0 ? 0x7ff8000000000000ULL : k % 3 == 1 ? 0x7ff0000000000000ULL : draw();
    memcpy(&v, &bits, sizeof v);
    return k < sizeof numbers / sizeof *numbers ? numbers[k] : v;
}

/* Some bytes of the contents: numbers of the header and of the arrays, whole numbers, single bits, or a cut. */
static size_t change(unsigned char *bytes, size_t size) {
    int changes = 1 + (int)(draw() % 3);
    while (changes--) {
        const uint64_t kind = draw() % 12;
        const size_t at = kind < 6 ? START + 8 * (draw() % 24) : START + (draw() % (size - START - 8)) / 4 * 4;
        const double v = odd();
        const float f = (float)(fabs(v) < 1e38 ? v : NAN);
        const uint32_t n = (uint32_t)(draw() % 5 ? draw() % 200 : draw());
        if (kind < 8) memcpy(bytes + at, &v, sizeof v);
        else if (kind < 9) memcpy(bytes + at, &f, sizeof f);
        else if (kind < 10) memcpy(bytes + at, &n, sizeof n);
        else if (kind < 11) bytes[at] ^= (unsigned char)(1U << draw() % 8);
        else if (size > START + HEADER + 16) size -= draw() % (size - START - HEADER - 8);
    }
    return size;
}

static void sign(unsigned char *bytes, size_t size) {
    const uint64_t named = size;
    memcpy(bytes + 16, &named, sizeof named);
    jn_sha256(bytes + START, size - START, bytes + 24);
}

static int is_number(double v) { return v - v == 0.0; }

/* Whether all that a vehicle asks of it are numbers. */
static int answers(const jn_terrain *t) {
    double x[LONG], y[LONG], z[LONG];
    char text[120];
    jn_patch patch;
    int k, i, good = 1;
    for (k = 0; k < PLACES; k++) {
        const double far = k % 4 ? 60.0 : 1e7;
        jn_ground g;
        jn_place place;
        for (i = 0; i < LONG; i++) {
            x[i] = far * ((double)(draw() >> 11) * 0x1p-53 - 0.4);
            y[i] = far * ((double)(draw() >> 11) * 0x1p-53 - 0.5);
        }
        jn_terrain_query(t, x[0], y[0], &g);
        good &= is_number(g.height) && is_number(g.slope[0]) && is_number(g.slope[1]) && g.friction >= 0.0 && g.friction <= 2.0;
        if (jn_terrain_place(t, x[1], y[1], &place)) good &= is_number(place.u) && is_number(place.v);
        jn_terrain_heights(t, x, y, LONG, k % 2 ? 4 : 1, z);
        for (i = 0; i < LONG; i++) good &= is_number(z[i]);
        memset(&patch, 0, sizeof patch);
        patch.x = x[2], patch.y = y[2], patch.half[0][0] = 0.5, patch.half[1][1] = 0.2;
        z[0] = jn_terrain_highest(t, &patch);
        good &= z[0] == z[0];
    }
    (void)jn_terrain_edge(t, 1.0, text, sizeof text);
    for (k = 0; k < LONG; k++) (void)jn_terrain_beside(t, x[k], y[k], text, sizeof text);
    return good;
}

int main(int argc, char **argv) {
    unsigned char *whole, *bytes;
    char why[200];
    long size, count, k, taken = 0, refused = 0;
    int wrong = 0;
    FILE *file = argc == 5 ? fopen(argv[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < START + HEADER) return 2;
    rewind(file);
    whole = (unsigned char *)malloc((size_t)size), bytes = (unsigned char *)malloc((size_t)size);
    if (!whole || !bytes || fread(whole, 1, (size_t)size, file) != (size_t)size) return 2;
    fclose(file);
    count = atol(argv[3]), state = (uint64_t)atol(argv[4]) * 2654435769U + 1;
    for (k = 0; k < count && !wrong; k++) {
        size_t n;
        jn_terrain *t;
        memcpy(bytes, whole, (size_t)size);
        n = k ? change(bytes, (size_t)size) : (size_t)size;
        sign(bytes, n);
        if (!(file = fopen(argv[2], "wb")) || fwrite(bytes, 1, n, file) != n || fclose(file)) return 2;
        t = jn_terrain_open(argv[2], why, sizeof why);
        if (!t) {
            refused++;
            if (!*why) return 3;
            continue;
        }
        taken++;
        if (!answers(t)) {
            fprintf(stderr, "change %ld of seed %s, left in %s, gave a number that is none\n", k, argv[4], argv[2]);
            wrong = 1;
        }
        jn_terrain_close(t);
    }
    printf("%ld %ld\n", taken, refused);
    free(whole);
    free(bytes);
    return wrong;
}
