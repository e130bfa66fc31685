/* The package's own model and core, called straight: no FMI, no Python. Compiled with the package's sources. */
#define _POSIX_C_SOURCE 199309L
#include "bench.h"

#include <string.h>

#include "jn_core.h"

typedef struct {
    jn_instance *s;
    double *u, *y, *dx;
    jn_fault fault;
} subject;

enum { RHS, OUTPUTS, STEP, STEP_OUTPUTS, STEP_ALL };

static int rhs(void *self) {
    subject *b = (subject *)self;
    const jn_instance *s = b->s;
    return s->model->rhs(0.0, s->x, s->u, s->p_now, s->d, b->dx, &b->fault);
}

static int outputs(void *self) {
    subject *b = (subject *)self;
    const jn_instance *s = b->s;
    return s->model->outputs(s->x, s->u, s->p_now, s->d, s->ticks, b->y, NULL, &b->fault);
}

static int step(void *self) { return jn_advance(((subject *)self)->s, 1, 0) < 0; }

static int step_outputs(void *self) {
    subject *b = (subject *)self;
    if (jn_advance(b->s, 1, 0) < 0 || jn_refresh(b->s)) return 1;
    memcpy(b->y, b->s->y, (size_t)b->s->model->n_y * sizeof *b->y);
    return 0;
}

/* All inputs are checked and applied, too. */
static int step_all(void *self) {
    subject *b = (subject *)self;
    int row;
    for (row = 0; row < b->s->model->n_u; row++) {
        if (jn_check(b->s, row, b->u[row])) return 1;
        jn_apply(b->s, row, b->u[row]);
    }
    return step_outputs(self);
}

static const bench_call calls_of[] = {rhs, outputs, step, step_outputs, step_all};
static subject subjects[8];
static double room[8][3][4096];
static int n_subjects;

BENCH_EXPORT int core_variants(void);
BENCH_EXPORT int core_open(int variant, const char *place, int n, const char *const *names, const double *values);
BENCH_EXPORT int core_run(int id, int kind, int blocks, int calls, double *wall, double *cpu);
BENCH_EXPORT double core_output(int id, const char *name);
BENCH_EXPORT const char *core_error(int id);

int core_variants(void) {
    int n = 0;
    while (jn_models[n] && jn_variant_supported(n)) n++;
    return n;
}

static int set(jn_instance *s, const char *name, double value) {
    int row;
    for (row = 0; row < s->model->n_signals; row++)
        if (!strcmp(s->model->signals[row].name, name)) {
            if (jn_check(s, row, value)) return 1;
            jn_apply(s, row, value);
            return 0;
        }
    return jn_fail(s, "no signal %s", name);
}

/* An initialized instance of a variant, with these inputs and parameters; its id, or -1. `place`: URI of its resource. */
int core_open(int variant, const char *place, int n, const char *const *names, const double *values) {
    subject *b = &subjects[n_subjects];
    int i;
    if (n_subjects == 8 || !(b->s = jn_create(jn_models[variant], 0))) return -1;
    b->u = room[n_subjects][0];
    b->y = room[n_subjects][1];
    b->dx = room[n_subjects][2];
    if (*place && jn_set_folder(b->s, place)) return -1;
    for (i = 0; i < n; i++)
        if (set(b->s, names[i], values[i])) return -1;
    if (jn_setup(b->s, 0.0, 0, 0.0)) return -1;
    b->s->state = JN_INITIALIZING;
    if (jn_finish_init(b->s)) return -1;
    memcpy(b->u, b->s->u, (size_t)b->s->model->n_u * sizeof *b->u);
    return n_subjects++;
}

int core_run(int id, int kind, int blocks, int calls, double *wall, double *cpu) {
    return bench_run(calls_of[kind], &subjects[id], blocks, calls, wall, cpu);
}

double core_output(int id, const char *name) {
    jn_instance *s = subjects[id].s;
    int row;
    for (row = s->model->n_u; row < s->model->n_u + s->model->n_y; row++)
        if (!strcmp(s->model->signals[row].name, name) && !jn_refresh(s)) return jn_value(s, row);
    return 0.0 / 0.0;
}

const char *core_error(int id) { return subjects[id < 0 ? n_subjects : id].s->error; }
