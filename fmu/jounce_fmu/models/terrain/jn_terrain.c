/* See jn_terrain.h. The layout of the file is that of jounce.terrain.packed. */
#include "jn_terrain.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_file.h"
#include "jn_sha256.h"
#define JN_LANES 1
#include "jn_lanes.h"

#define PI 3.14159265358979323846

enum { VERSION = 1, START = 64, ALIGNED = 64 };

/* Numbers of the header. */
enum {
    H_KIND, H_EDGE, H_ROWS, H_COLUMNS, H_DU, H_DV, H_X, H_Y, H_COS, H_SIN, H_HEIGHT, H_CLOSED, H_OBSTACLES, H_FRICTION,
    H_MU, H_AREAS, H_BUCKETS_X, H_BUCKETS_Y, H_BUCKET_X, H_BUCKET_Y, H_BUCKET, H_RUNS, H_SMOOTH, H_START, H_N = 32
};
enum { CLAMP = 1, FLAT = 2, FAULT = 3 }; /* edges */
enum { HALF_ROUND = 1, BUMP, TRAPEZOID, SINE };
/* Numbers of an obstacle: local x along `cos, sin`; of an area of friction. */
enum { O_KIND, O_X, O_Y, O_COS, O_SIN, O_HALF_WIDTH, O_REACH, O_STEEP, O_A, O_B, O_C, O_D, O_E, O_N = 16 };
enum { A_X, A_Y, A_COS, A_SIN, A_HALF_LENGTH, A_HALF_WIDTH, A_MU, A_N = 8 };
enum { P_X, P_Y, P_SLOPE, P_BANK, P_N }; /* of a point of the reference line */

struct jn_terrain {
    jn_resource resource;
    jn_file file;
    const double *h;
    int rows, columns, obstacles, areas, buckets_x, buckets_y;
    const float *heights, *friction; /* friction: or NULL */
    const double *v, *line, *obstacle, *area;
    const uint32_t *first, *runs;
};

/* ---- the file ---------------------------------------------------------------------------------------------- */

static const unsigned char magic[8] = {'J', 'N', 'T', 'E', 'R', 'R', '\r', '\n'};

static size_t aligned(size_t at) { return (at + ALIGNED - 1) / ALIGNED * ALIGNED; }

/* The next array of n numbers of that size; NULL beyond the end of the file. */
static const void *array(const jn_file *file, size_t *at, size_t n, size_t size) {
    const size_t from = aligned(*at);
    if (n > SIZE_MAX / 64 || from > file->size || n * size > file->size - from) return NULL;
    *at = from + n * size;
    return file->bytes + from;
}

static int is_count(double v, double least, double most) { return v >= least && v <= most && v == floor(v); }

/* Whether numbers of the header can be used. */
static int is_sound(const double *h) {
    const double most = 1e9;
    int i;
    for (i = 0; i < H_N; i++)
        if (h[i] - h[i] != 0.0) return 0;
    return is_count(h[H_KIND], 1, 3) && is_count(h[H_EDGE], 1, 3) && is_count(h[H_ROWS], 2, most) &&
           is_count(h[H_COLUMNS], 2, most) && h[H_DU] > 0.0 && (h[H_KIND] == JN_ROAD || h[H_DV] > 0.0) &&
           h[H_ROWS] * h[H_COLUMNS] <= most && is_count(h[H_OBSTACLES], 0, most) && is_count(h[H_AREAS], 0, most) &&
           (h[H_KIND] != JN_ROAD || (is_count(h[H_BUCKETS_X], 1, most) && is_count(h[H_BUCKETS_Y], 1, most) &&
                                     h[H_BUCKETS_X] * h[H_BUCKETS_Y] <= most && h[H_BUCKET] > 0.0 &&
                                     is_count(h[H_RUNS], 1, most)));
}

static int all_finite(const float *single, size_t n, const double *v, size_t m) {
    double all = 0.0;
    size_t i;
    for (i = 0; i < n; i++) all += single[i] - single[i];
    for (i = 0; i < m; i++) all += v[i] - v[i];
    return all == 0.0;
}

/* Finds the arrays; 0 if the file ends before. */
static int find_arrays(jn_terrain *t) {
    const double *h = t->h;
    const size_t cells = (size_t)(h[H_ROWS] * h[H_COLUMNS]), rows = (size_t)h[H_ROWS];
    size_t at = START + H_N * sizeof(double), i, buckets;
    t->rows = (int)h[H_ROWS], t->columns = (int)h[H_COLUMNS];
    t->obstacles = (int)h[H_OBSTACLES], t->areas = (int)h[H_AREAS];
    t->buckets_x = (int)h[H_BUCKETS_X], t->buckets_y = (int)h[H_BUCKETS_Y];
    t->heights = (const float *)array(&t->file, &at, cells, sizeof(float));
    if (!t->heights) return 0;
    if (h[H_FRICTION] != 0.0 && !(t->friction = (const float *)array(&t->file, &at, cells, sizeof(float)))) return 0;
    t->obstacle = (const double *)array(&t->file, &at, (size_t)t->obstacles * O_N, sizeof(double));
    t->area = (const double *)array(&t->file, &at, (size_t)t->areas * A_N, sizeof(double));
    if (!t->obstacle || !t->area) return 0;
    if (!all_finite(t->heights, cells, t->obstacle, (size_t)t->obstacles * O_N) ||
        !all_finite(t->friction, t->friction ? cells : 0, t->area, (size_t)t->areas * A_N))
        return 0;
    if (h[H_KIND] != JN_ROAD) return 1;
    buckets = (size_t)t->buckets_x * (size_t)t->buckets_y;
    t->v = (const double *)array(&t->file, &at, (size_t)t->columns, sizeof(double));
    t->line = (const double *)array(&t->file, &at, rows * P_N, sizeof(double));
    t->first = (const uint32_t *)array(&t->file, &at, buckets + 1, sizeof(uint32_t));
    t->runs = (const uint32_t *)array(&t->file, &at, 2 * (size_t)h[H_RUNS], sizeof(uint32_t));
    if (!t->v || !t->line || !t->first || !t->runs) return 0;
    if (!all_finite(NULL, 0, t->v, (size_t)t->columns) || !all_finite(NULL, 0, t->line, rows * P_N)) return 0;
    for (i = 0; i < buckets; i++)
        if (t->first[i] >= t->first[i + 1] || t->first[i + 1] > (uint32_t)h[H_RUNS]) return 0;
    for (i = 0; i < 2 * (size_t)h[H_RUNS]; i++)
        if (t->runs[i] >= rows) return 0;
    return 1;
}

#include "jn_terrain_sound.inc"

static const char *check(jn_terrain *t) {
    const jn_file *file = &t->file;
    uint32_t version;
    uint64_t size;
    if (file->size < START || memcmp(file->bytes, magic, sizeof magic)) return "not a packed terrain (.jnt)";
    memcpy(&version, file->bytes + 8, sizeof version);
    memcpy(&size, file->bytes + 16, sizeof size);
    if (version != VERSION) return "of another version than this model reads (1), or of another byte order";
    if (size != file->size || file->size < START + H_N * sizeof(double)) return "cut or too long: its size is not the one it names";
    jn_sha256(file->bytes + START, file->size - START, t->resource.id);
    if (memcmp(t->resource.id, file->bytes + 24, sizeof t->resource.id)) return "damaged: its SHA-256 is not that of its contents";
    t->h = (const double *)(const void *)(file->bytes + START);
    if (!is_sound(t->h) || !find_arrays(t)) return "its header and its arrays do not fit together";
    return unsound(t);
}

jn_terrain *jn_terrain_open(const char *path, char *why, size_t n) {
    jn_terrain *t = (jn_terrain *)calloc(1, sizeof *t);
    const char *wrong;
    if (!t) { snprintf(why, n, "no memory"); return NULL; }
    if (jn_file_open(path, &t->file, why, n)) { free(t); return NULL; }
    wrong = check(t);
    if (!wrong) return t;
    snprintf(why, n, "%s", wrong);
    jn_terrain_close(t);
    return NULL;
}

void jn_terrain_close(jn_terrain *t) {
    if (!t) return;
    jn_file_close(&t->file);
    free(t);
}

int jn_terrain_kind(const jn_terrain *t) { return (int)t->h[H_KIND]; }

int jn_terrain_has_friction(const jn_terrain *t) { return t->friction || t->areas; }

/* The ground at a place. Without `bends` second derivatives are not to be used. */
static void query(const jn_terrain *t, double x, double y, int bends, jn_ground *g);

#include "jn_terrain_obstacles.inc"
#include "jn_terrain_lanes.inc"
#include "jn_terrain_grid.inc"
#include "jn_terrain_road.inc"

static void query(const jn_terrain *t, double x, double y, int bends, jn_ground *g) {
    int k;
    memset(g, 0, sizeof *g);
    if (t->h[H_KIND] == JN_ROAD) query_road(t, x, y, bends, g);
    else query_grid(t, x, y, g);
    for (k = 0; k < t->obstacles; k++) add_obstacle(t->obstacle + k * O_N, x, y, g);
    g->friction = friction_there_1(t, x, y, g->friction);
}

void jn_terrain_query(const jn_terrain *t, double x, double y, jn_ground *g) { query(t, x, y, 1, g); }

void jn_terrain_under_1(const jn_terrain *t, const double *x, const double *y, double *rows) { places_1(t, x, y, rows); }

#undef JN_LANES
#ifdef JN_FOUR_LANES
#define JN_LANES 4
#include "jn_lanes.h"
#include "jn_terrain_lanes.inc"

void jn_terrain_under_4(const jn_terrain *t, const double *x, const double *y, double *rows) { places_4(t, x, y, rows); }
#endif

#include "jn_terrain_heights.inc"
#include "jn_terrain_edges.inc"
