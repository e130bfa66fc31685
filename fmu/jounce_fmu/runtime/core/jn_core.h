/* One instance of a model: stepping, inputs, parameters, outputs and snapshots. The FMI faces sit on top.
 *
 * Functions returning int give 0 when ok. Otherwise s->error holds a text naming the signal, the value and
 * what is allowed, and the instance is unchanged; only jn_advance may in addition make the state JN_FAILED.
 */
#ifndef JN_CORE_H
#define JN_CORE_H

#include <stddef.h>

#include "jn_model.h"

/* Bits, so that a set of states is one word. */
typedef enum {
    JN_INSTANTIATED = 1,
    JN_INITIALIZING = 2,
    JN_STEPPING = 4,
    JN_FAILED = 8, /* a step broke down; x and the tick are those before that step */
    JN_TERMINATED = 16,
    JN_EVENT = 32,      /* the next are known to some faces only */
    JN_CONFIGURING = 64,
    JN_CONTINUOUS = 128
} jn_state;

typedef struct jn_instance {
    const jn_model *model;
    void *face; /* the FMI face's own part of the one allocation */
    jn_state state;
    int states; /* those this face knows: a snapshot taken in another one is refused */
    long long ticks;
    double start_time, stop_time; /* stop_time is infinite when there is none */
    double tick_length;           /* s, valid from the end of initialization */
    int start_dirty;              /* p or u changed before stepping: derive and start are due */
    int params_dirty;             /* a tunable parameter changed: it takes effect at the next step */
    int outputs_dirty;
    int inputs_dirty; /* set since they were judged together */
    int hint; /* last row found: lookups mostly run in table order */
    double *u, *p, *p_now, *d, *x, *y;                 /* p as set, p_now in effect */
    double *d_old, *x_old, *p_old, *x_stage, *dx, *dx2; /* work */
    double *d_x, *d_u, *d_rate, *d_y; /* tangents of x, u, dx, y */
    double *matrix; /* of the implicit step, by columns, for models with a Jacobian */
    int *pivot;
    double *work; /* of models that step themselves */
    char error[512];
} jn_instance;

const jn_model *jn_pick_model(void);
jn_instance *jn_create(const jn_model *model, size_t face_bytes); /* NULL: no memory or a broken table */
void jn_destroy(jn_instance *s);
void jn_reset(jn_instance *s);

int jn_find(jn_instance *s, unsigned vr); /* row, or -1 */
int jn_check(jn_instance *s, int row, double value);
/* -1 and an error where inputs that are used cannot be together: directions without one, and at the start, where
 * parameters choose what is used, all that is out of bounds. */
int jn_judge(jn_instance *s);
void jn_apply(jn_instance *s, int row, double value); /* only after jn_check */
int jn_refresh(jn_instance *s);                       /* outputs valid */
double jn_value(const jn_instance *s, int row);

int jn_setup(jn_instance *s, double start_time, int has_stop, double stop_time);
int jn_finish_init(jn_instance *s);
int jn_parameter_warning(jn_instance *s, int k); /* 1 with s->error filled: the k-th warning about the parameters */
double jn_time(const jn_instance *s);
enum { JN_MOST_TICKS = 1000000 }; /* of one call: under a minute, after which the caller is asked again */
/* How many ticks h is, none for what summing leaves over; -1 and an error when it is not a whole number of them, the
 * clock disagrees, or it is longer than a call may be, which with `part` is no error. */
long long jn_whole_ticks(jn_instance *s, double t, double h, int part);
int jn_apply_tunables(jn_instance *s); /* changed tunable parameters in effect */
/* n ticks; how many were taken, or -1. All or none, but with `part`: then those before the one that breaks down, if any
 * (a next call meets it at once, and says why), and JN_MOST_TICKS at most. */
long long jn_advance(jn_instance *s, long long n, int part);

size_t jn_snapshot_size(const jn_instance *s);
void jn_snapshot_write(const jn_instance *s, unsigned char *blob);
int jn_snapshot_check(jn_instance *s, const unsigned char *blob, size_t size);
int jn_snapshot_read(jn_instance *s, const unsigned char *blob, size_t size);

/* s->error = text with the pieces "%s" (const char *), "%d" (int), "%D" (long long) and "%g" (double, shortest
 * exact, with a point in any locale). Always returns -1. */
int jn_fail(jn_instance *s, const char *format, ...);
void jn_clear_fault(jn_fault *f);
int jn_fail_fault(jn_instance *s, const char *where, jn_fault *f); /* jn_fail with the model's reason */
int jn_finite(double value);
/* Place of the first number that is not finite in a vector of the instance, or -1. */
int jn_first_nonfinite(const double *v, int n);

#endif
