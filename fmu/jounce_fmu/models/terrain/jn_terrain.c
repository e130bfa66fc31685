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
    H_KIND, H_EDGE, H_ROWS, H_COLUMNS, H_DU, H_DV, H_X, H_Y, H_COS, H_SIN, H_HEIGHT, H_CLOSED /* not read */, H_OBSTACLES, H_FRICTION,
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
    return NULL;
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

/* ---- grids -------------------------------------------------------------------------------------------------- */

/* Cell and place in it of a coordinate in cells, held at the ends; 1 if it was beyond one. */
static int cell(double at, int n, int *i, double *f) {
    const double most = n - 1;
    const int beyond = !(at >= 0.0 && at <= most);
    at = at > most ? most : at > 0.0 ? at : 0.0;
    *i = (int)at;
    if (*i > n - 2) *i = n - 2;
    *f = at - *i;
    return beyond;
}

/* Height over u and v with its derivatives: z, u, v, uu, uv, vv. */
typedef struct { double z, u, v, uu, uv, vv; } surface;

static void bilinear(const float *row, int columns, double a, double b, double du, double dv, surface *s) {
    const double p = row[0], q = row[1], r = row[columns], t = row[columns + 1], by_u = 1.0 / du, by_v = 1.0 / dv;
    const double near = (1.0 - b) * p + b * q, far = (1.0 - b) * r + b * t;
    s->z = (1.0 - a) * near + a * far;
    s->u = (far - near) * by_u;
    s->v = ((1.0 - a) * (q - p) + a * (t - r)) * by_v;
    s->uu = s->vv = 0.0;
    s->uv = ((t - r) - (q - p)) * (by_u * by_v);
}

/* Weights of Catmull and Rom's spline and their derivatives. */
static void spline(double a, double w[3][4]) {
    const double b = a * a, c = b * a;
    w[0][0] = 0.5 * (-a + 2.0 * b - c), w[0][1] = 0.5 * (2.0 - 5.0 * b + 3.0 * c);
    w[0][2] = 0.5 * (a + 4.0 * b - 3.0 * c), w[0][3] = 0.5 * (c - b);
    w[1][0] = 0.5 * (-1.0 + 4.0 * a - 3.0 * b), w[1][1] = 0.5 * (-10.0 * a + 9.0 * b);
    w[1][2] = 0.5 * (1.0 + 8.0 * a - 9.0 * b), w[1][3] = 0.5 * (3.0 * b - 2.0 * a);
    w[2][0] = 2.0 - 3.0 * a, w[2][1] = 9.0 * a - 5.0, w[2][2] = 4.0 - 9.0 * a, w[2][3] = 3.0 * a - 1.0;
}

static int held(int i, int n) { return i < 0 ? 0 : i > n - 1 ? n - 1 : i; }

static void bicubic(const jn_terrain *t, int i, int j, double a, double b, double du, double dv, surface *s) {
    double by_u[3][4], by_v[3][4], sums[3][3] = {{0.0}};
    int k, l, m, n;
    spline(a, by_u);
    spline(b, by_v);
    for (k = 0; k < 4; k++) {
        const float *row = t->heights + (size_t)held(i + k - 1, t->rows) * (size_t)t->columns;
        double along[3] = {0.0, 0.0, 0.0};
        for (l = 0; l < 4; l++)
            for (n = 0; n < 3; n++) along[n] += by_v[n][l] * row[held(j + l - 1, t->columns)];
        for (m = 0; m < 3; m++)
            for (n = 0; n < 3 - m; n++) sums[m][n] += by_u[m][k] * along[n];
    }
    s->z = sums[0][0], s->u = sums[1][0] / du, s->v = sums[0][1] / dv;
    s->uu = sums[2][0] / (du * du), s->uv = sums[1][1] / (du * dv), s->vv = sums[0][2] / (dv * dv);
}

static double friction_of(const jn_terrain *t, int i, int j, double a, double b) {
    if (!t->friction) return t->h[H_MU];
    return t->friction[(size_t)(i + (a > 0.5)) * (size_t)t->columns + (size_t)(j + (b > 0.5))];
}

/* Beyond the edge the ground does not rise; it goes on, is the plane at H_HEIGHT, or nothing. */
static void at_edge(const jn_terrain *t, int beyond_u, int beyond_v, surface *s, jn_ground *g) {
    if (!beyond_u && !beyond_v) return;
    g->off = t->h[H_EDGE] == FAULT;
    if (t->h[H_EDGE] == FLAT) {
        memset(s, 0, sizeof *s);
        s->z = t->h[H_HEIGHT];
        return;
    }
    if (beyond_u) s->u = s->uu = s->uv = 0.0;
    if (beyond_v) s->v = s->vv = s->uv = 0.0;
}

static void query_grid(const jn_terrain *t, double x, double y, jn_ground *g) {
    const double *h = t->h, px = x - h[H_X], py = y - h[H_Y], c = h[H_COS], n = h[H_SIN];
    surface s;
    double a, b;
    int i, j, beyond_u, beyond_v;
    beyond_u = cell((c * px + n * py) / h[H_DU], t->rows, &i, &a);
    beyond_v = cell((c * py - n * px) / h[H_DV], t->columns, &j, &b);
    if (h[H_SMOOTH] != 0.0) bicubic(t, i, j, a, b, h[H_DU], h[H_DV], &s);
    else bilinear(t->heights + (size_t)i * (size_t)t->columns + j, t->columns, a, b, h[H_DU], h[H_DV], &s);
    at_edge(t, beyond_u, beyond_v && h[H_KIND] != JN_PROFILE, &s, g);
    if (beyond_v && h[H_KIND] == JN_PROFILE) s.v = s.vv = s.uv = 0.0; /* two tracks: beside them goes on what they have */
    g->height = s.z;
    g->slope[0] = c * s.u - n * s.v;
    g->slope[1] = n * s.u + c * s.v;
    g->bend[0] = c * c * s.uu - 2.0 * c * n * s.uv + n * n * s.vv;
    g->bend[1] = c * n * (s.uu - s.vv) + (c * c - n * n) * s.uv;
    g->bend[2] = n * n * s.uu + 2.0 * c * n * s.uv + c * c * s.vv;
    g->friction = friction_of(t, i, j, a, b);
}

/* ---- roads ----------------------------------------------------------------------------------------------------- */

static int segments(const jn_terrain *t) { return t->rows - 1; }

static const double *point(const jn_terrain *t, int i) { return t->line + (size_t)i * P_N; }

/* Direction of the line at point i: from its neighbour before to that behind, at the ends of the road (also
 * where it is closed, as OpenCRG has it) from or to the point itself. */
static void tangent(const jn_terrain *t, int i, double *tx, double *ty) {
    const int last = t->rows - 1;
    const double *a = point(t, i > 0 ? i - 1 : 0);
    const double *b = point(t, i < last ? i + 1 : last);
    *tx = b[P_X] - a[P_X];
    *ty = b[P_Y] - a[P_Y];
}

/* How far the place is beyond point i, along the line's direction there, times a length. */
static double beyond(const jn_terrain *t, int i, double x, double y) {
    double tx, ty;
    tangent(t, i, &tx, &ty);
    return (x - point(t, i)[P_X]) * tx + (y - point(t, i)[P_Y]) * ty;
}

/* Segment i with the place between the normals of its two ends, found from a run of segments near it. */
static int segment_of(const jn_terrain *t, int first, int last, double x, double y) {
    const int n = segments(t);
    const double *a = point(t, first), *b = point(t, last);
    const double ex = b[P_X] - a[P_X], ey = b[P_Y] - a[P_Y], square = ex * ex + ey * ey;
    double share = square > 0.0 ? ((x - a[P_X]) * ex + (y - a[P_Y]) * ey) / square : 0.0;
    int i, steps;
    share = share > 0.0 ? share < 1.0 ? share : 1.0 : 0.0;
    i = first + (int)(share * (last - first));
    if (i > n - 1) i = n - 1;
    if (beyond(t, i, x, y) >= 0.0) {
        for (steps = 0; steps < n && i < n - 1 && beyond(t, i + 1, x, y) >= 0.0; steps++) i++;
    } else {
        for (steps = 0; steps < n && i > 0 && beyond(t, i, x, y) < 0.0; steps++) i--;
    }
    return i;
}

/* u and v of a place with respect to segment i, and their derivatives. */
typedef struct { double u, v, u_x, u_y, v_x, v_y, u_xx, u_xy, u_yy; } curved;

static void locate(const jn_terrain *t, int i, double x, double y, curved *c) {
    const double *p = point(t, i), *q = point(t, i + 1), dx = q[P_X] - p[P_X], dy = q[P_Y] - p[P_Y];
    const double length = sqrt(dx * dx + dy * dy), ex = dx / length, ey = dy / length, du = t->h[H_DU];
    const double rx = x - p[P_X], ry = y - p[P_Y];
    double tx, ty, k0, k1, s, a, b, n, d, u_s, u_v, u_sv, u_vv;
    tangent(t, i, &tx, &ty);
    k0 = (ex * ty - ey * tx) / (ex * tx + ey * ty);
    tangent(t, i + 1, &tx, &ty);
    k1 = (ex * ty - ey * tx) / (ex * tx + ey * ty);
    s = (rx * ex + ry * ey) / length;
    c->v = ex * ry - ey * rx;
    a = k0 / length;
    b = (k0 - k1) / length;
    n = s - -c->v * k0 / length;
    d = (1.0 - c->v * k1 / length) - -c->v * k0 / length;
    c->u = i + n / d;
    /* derivatives by s length and v, in units of du */
    u_s = du / (d * length);
    u_v = du * (a * d - n * b) / (d * d);
    u_sv = -du * b / (d * d * length);
    u_vv = -2.0 * du * b * (a * d - n * b) / (d * d * d);
    c->u_x = u_s * ex - u_v * ey;
    c->u_y = u_s * ey + u_v * ex;
    c->v_x = -ey;
    c->v_y = ex;
    c->u_xx = -2.0 * u_sv * ex * ey + u_vv * ey * ey;
    c->u_xy = u_sv * (ex * ex - ey * ey) - u_vv * ex * ey;
    c->u_yy = 2.0 * u_sv * ex * ey + u_vv * ex * ex;
}

static int bucket(double at, double from, double size, int n) {
    const double k = floor((at - from) / size);
    return k >= n ? n - 1 : k >= 0.0 ? (int)k : 0;
}

/* The nearest segment: of the runs in the place's bucket the one with the smallest |v|, the first of equals; one that
 * has the place between the normals of its ends comes before one that ends before it. */
static void nearest(const jn_terrain *t, double x, double y, curved *best) {
    const double *h = t->h;
    const int at = bucket(y, h[H_BUCKET_Y], h[H_BUCKET], t->buckets_y) * t->buckets_x +
                   bucket(x, h[H_BUCKET_X], h[H_BUCKET], t->buckets_x);
    int found = -1;
    uint32_t k;
    for (k = t->first[at]; k < t->first[at + 1]; k++) {
        int whole;
        curved now;
        const int i = segment_of(t, (int)t->runs[2 * k], (int)t->runs[2 * k + 1], x, y);
        locate(t, i, x, y, &now);
        whole = now.u >= i && now.u <= i + 1;
        if (whole < found || (whole == found && !(fabs(now.v) < fabs(best->v)))) continue;
        *best = now;
        found = whole;
    }
}

int jn_terrain_place(const jn_terrain *t, double x, double y, jn_place *at) {
    const double du = t->h[H_DU];
    curved c;
    if (t->h[H_KIND] != JN_ROAD) return 0;
    memset(&c, 0, sizeof c);
    nearest(t, x, y, &c);
    at->u = t->h[H_START] + du * c.u;
    at->v = c.v;
    at->u_by[0] = c.u_x, at->u_by[1] = c.u_y;
    at->v_by[0] = c.v_x, at->v_by[1] = c.v_y;
    return 1;
}

static void query_road(const jn_terrain *t, double x, double y, jn_ground *g) {
    const double du = t->h[H_DU];
    const double *p, *q;
    curved c;
    surface s;
    double a, b, v, slope, bank, bank_u;
    int i, j, low = 0, high = t->columns - 1, beyond_u, beyond_v;
    memset(&c, 0, sizeof c);
    nearest(t, x, y, &c);
    beyond_u = cell(c.u, t->rows, &i, &a);
    v = c.v < t->v[0] ? t->v[0] : c.v > t->v[high] ? t->v[high] : c.v;
    beyond_v = v != c.v;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (t->v[middle] <= v) low = middle;
        else high = middle;
    }
    j = low;
    b = (v - t->v[j]) / (t->v[j + 1] - t->v[j]);
    bilinear(t->heights + (size_t)i * (size_t)t->columns + j, t->columns, a, b, du, t->v[j + 1] - t->v[j], &s);
    p = point(t, i), q = point(t, i + 1);
    slope = (q[P_SLOPE] - p[P_SLOPE]) / du;
    bank_u = (q[P_BANK] - p[P_BANK]) / du;
    bank = p[P_BANK] + a * (q[P_BANK] - p[P_BANK]);
    s.z += p[P_SLOPE] + a * (q[P_SLOPE] - p[P_SLOPE]) + v * bank;
    s.u += slope + v * bank_u;
    s.v += bank;
    s.uv += bank_u;
    at_edge(t, beyond_u, beyond_v, &s, g);
    g->height = s.z;
    g->slope[0] = s.u * c.u_x + s.v * c.v_x;
    g->slope[1] = s.u * c.u_y + s.v * c.v_y;
    g->bend[0] = 2.0 * s.uv * c.u_x * c.v_x + s.u * c.u_xx;
    g->bend[1] = s.uv * (c.u_x * c.v_y + c.u_y * c.v_x) + s.u * c.u_xy;
    g->bend[2] = 2.0 * s.uv * c.u_y * c.v_y + s.u * c.u_yy;
    g->friction = friction_of(t, i, j, a, b);
}

/* ---- obstacles and friction ------------------------------------------------------------------------------------ */

/* Height of an obstacle along its own x, with two derivatives. */
static void profile(const double *o, double s, double w, double *z, double *d, double *dd) {
    const double side = s < 0.0 ? -1.0 : 1.0, r = s * side, a = o[O_A], steep = o[O_STEEP];
    *z = *d = *dd = 0.0;
    if (o[O_KIND] == HALF_ROUND) { /* a the radius; where it is steeper, its tangent of that slope */
        const double root = sqrt(1.0 + steep * steep), from = a * steep / root;
        if (r < from) {
            *z = sqrt(a * a - r * r);
            *d = -s / *z;
            *dd = -a * a / (*z * *z * *z);
        } else if (r < a * root / steep) {
            *z = a / root - steep * (r - from);
            *d = -steep * side;
        }
    } else if (o[O_KIND] == BUMP) { /* a the height, b the length */
        const double k = 2.0 * PI / o[O_B];
        if (r < 0.5 * o[O_B]) {
            *z = 0.5 * a * (1.0 + jn_cos_1(k * s));
            *d = -0.5 * a * k * jn_sin_1(k * s);
            *dd = -0.5 * a * k * k * jn_cos_1(k * s);
        }
    } else if (o[O_KIND] == TRAPEZOID) { /* a the height, b, c, d the lengths of rise, top and fall */
        if (s > 0.0 && s < o[O_B]) *z = a * s / o[O_B], *d = a / o[O_B];
        else if (s >= o[O_B] && s <= o[O_B] + o[O_C]) *z = a;
        else if (s > 0.0 && s < o[O_B] + o[O_C] + o[O_D])
            *z = a * (o[O_B] + o[O_C] + o[O_D] - s) / o[O_D], *d = -a / o[O_D];
    } else if (s > 0.0 && s < o[O_C]) { /* a the amplitude, b the length of a wave, c of all; d, e phases left, right */
        const double k = 2.0 * PI / o[O_B], at = k * s + (w > 0.0 ? o[O_D] : o[O_E]), end = o[O_C] - s;
        const double near = s < end ? s : end, way = s < end ? 1.0 : -1.0, f = near < o[O_B] ? near / o[O_B] : 1.0;
        const double f_d = near < o[O_B] ? way / o[O_B] : 0.0;
        *z = f * a * jn_sin_1(at);
        *d = a * (f * k * jn_cos_1(at) + f_d * jn_sin_1(at));
        *dd = a * (2.0 * f_d * k * jn_cos_1(at) - f * k * k * jn_sin_1(at));
    }
}

static void add_obstacle(const double *o, double x, double y, jn_ground *g) {
    const double px = x - o[O_X], py = y - o[O_Y], c = o[O_COS], n = o[O_SIN], reach = o[O_REACH];
    double s, w, inside, z, d, dd;
    if (px > reach || px < -reach || py > reach || py < -reach) return;
    s = c * px + n * py;
    w = c * py - n * px;
    inside = o[O_HALF_WIDTH] - fabs(w);
    if (!(inside > 0.0)) return;
    profile(o, s, w, &z, &d, &dd);
    if (fabs(z) > o[O_STEEP] * inside) { /* its sides */
        const double rise = (z > 0.0 ? 1.0 : -1.0) * o[O_STEEP], over = w > 0.0 ? -rise : rise;
        g->height += rise * inside;
        g->slope[0] -= over * n;
        g->slope[1] += over * c;
        return;
    }
    g->height += z;
    g->slope[0] += d * c;
    g->slope[1] += d * n;
    g->bend[0] += dd * c * c;
    g->bend[1] += dd * c * n;
    g->bend[2] += dd * n * n;
}

void jn_terrain_query(const jn_terrain *t, double x, double y, jn_ground *g) {
    int k;
    g->off = 0;
    if (t->h[H_KIND] == JN_ROAD) query_road(t, x, y, g);
    else query_grid(t, x, y, g);
    for (k = 0; k < t->obstacles; k++) add_obstacle(t->obstacle + k * O_N, x, y, g);
    for (k = 0; k < t->areas; k++) {
        const double *a = t->area + k * A_N, px = x - a[A_X], py = y - a[A_Y];
        if (fabs(a[A_COS] * px + a[A_SIN] * py) <= a[A_HALF_LENGTH] &&
            fabs(a[A_COS] * py - a[A_SIN] * px) <= a[A_HALF_WIDTH])
            g->friction = a[A_MU];
    }
}

/* The grid's heights alone. */
static void grid_heights(const jn_terrain *t, const double *x, const double *y, int n, double *z) {
    const double *h = t->h, c = h[H_COS], s = h[H_SIN], x0 = h[H_X], y0 = h[H_Y], du = h[H_DU], dv = h[H_DV];
    const int profile = h[H_KIND] == JN_PROFILE, level = h[H_EDGE] == FLAT;
    int k;
    for (k = 0; k < n; k++) {
        const double px = x[k] - x0, py = y[k] - y0;
        const float *row;
        double a, b, near, far;
        int i, j, beyond = cell((c * px + s * py) / du, t->rows, &i, &a);
        if (cell((c * py - s * px) / dv, t->columns, &j, &b) && !profile) beyond = 1;
        row = t->heights + (size_t)i * (size_t)t->columns + j;
        near = (1.0 - b) * row[0] + b * row[1];
        far = (1.0 - b) * row[t->columns] + b * row[t->columns + 1];
        z[k] = beyond && level ? h[H_HEIGHT] : (1.0 - a) * near + a * far;
    }
}

void jn_terrain_heights(const jn_terrain *t, const double *x, const double *y, int n, double *z) {
    double low_x = x[0], high_x = x[0], low_y = y[0], high_y = y[0];
    jn_ground g;
    int k, o;
    if (t->h[H_KIND] == JN_ROAD || t->h[H_SMOOTH] != 0.0) {
        for (k = 0; k < n; k++) {
            jn_terrain_query(t, x[k], y[k], &g);
            z[k] = g.height;
        }
        return;
    }
    grid_heights(t, x, y, n, z);
    for (k = 1; k < n && t->obstacles; k++) {
        low_x = fmin(low_x, x[k]), high_x = fmax(high_x, x[k]);
        low_y = fmin(low_y, y[k]), high_y = fmax(high_y, y[k]);
    }
    for (o = 0; o < t->obstacles; o++) {
        const double *at = t->obstacle + o * O_N, reach = at[O_REACH];
        if (low_x - at[O_X] > reach || high_x - at[O_X] < -reach || low_y - at[O_Y] > reach || high_y - at[O_Y] < -reach)
            continue;
        for (k = 0; k < n; k++) {
            memset(&g, 0, sizeof g);
            g.height = z[k];
            add_obstacle(at, x[k], y[k], &g);
            z[k] = g.height;
        }
    }
}
