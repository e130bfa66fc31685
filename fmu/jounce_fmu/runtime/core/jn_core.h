/* One instance of a model: stepping, inputs, parameters, outputs and snapshots. The FMI faces build on it.
 *
 * Functions that return int return 0 on success. Otherwise s->error names the signal, the value and what is
 * allowed, and the instance is unchanged; only jn_advance may also set the state to JN_FAILED.
 */
#ifndef JN_CORE_H
#define JN_CORE_H

#include <stddef.h>

#include "jn_model.h"

#define JN_RK4 1.0 /* values of the parameter `integrator` */
#define JN_ROSENBROCK 2.0

/* One bit each, so that a set of states fits into an int. */
typedef enum {
    JN_INSTANTIATED = 1,
    JN_INITIALIZING = 2,
    JN_STEPPING = 4,
    JN_FAILED = 8, /* a step failed; x and the tick are those before that step */
    JN_TERMINATED = 16,
    JN_EVENT = 32,      /* this and the following are used by some faces only */
    JN_CONFIGURING = 64,
    JN_CONTINUOUS = 128
} jn_state;

typedef struct jn_instance {
    const jn_model *model;
    void *face; /* the FMI face's part of the allocation */
    jn_state state;
    int states; /* the states that this face has: a snapshot taken in another one is refused */
    long long ticks;
    long long failed_tick; /* the tick of the last failed step */
    double start_time, stop_time; /* s; stop_time is infinite when there is none */
    double tick_length;           /* s, valid from the end of initialization */
    int start_dirty;              /* p or u changed before the first step: derive and start must run again */
    int params_dirty;             /* a tunable parameter changed: it takes effect at the next step */
    int outputs_dirty;
    int inputs_dirty; /* some inputs were set since jn_judge */
    int hint; /* last row found: most lookups follow the order of the table */
    double *u, *p, *p_now, *d, *x, *y;                 /* p as set, p_now in effect */
    double *d_old, *x_old, *p_old, *x_stage, *dx, *dx2; /* work */
    double *known; /* the rates at x, where the outputs have told them */
    double *d_x, *d_u, *d_rate, *d_y; /* tangents of x, u, dx, y */
    double *matrix; /* of the implicit step, column by column, for models with a Jacobian */
    int *pivot;
    double *work; /* scratch of models that step themselves */
    char *folder; /* of the resources, or NULL */
    jn_resource *resource;
    double *store; /* and behind it the one that is kept; see jn_store.h */
    char error[512];
} jn_instance;

const jn_model *jn_pick_model(void);
jn_instance *jn_create(const jn_model *model, size_t face_bytes); /* NULL: no memory, or a broken signal table */
void jn_destroy(jn_instance *s);
/* Keeps where the resources are: a path in UTF-8, or a URI with the scheme file. -1 without memory. */
int jn_set_folder(jn_instance *s, const char *place);
/* Opens the resource that these parameters ask for, in place of the one in use. */
int jn_open_resource(jn_instance *s, const double *p);
void jn_reset(jn_instance *s);

int jn_find(jn_instance *s, unsigned vr); /* row, or -1 */
int jn_check(jn_instance *s, int row, double value);
/* Checks the inputs in use together: a direction must not be zero or point too far down, and an input that a parameter
 * has switched on must be within its bounds. */
int jn_judge(jn_instance *s);
void jn_apply(jn_instance *s, int row, double value); /* only after jn_check */
int jn_refresh(jn_instance *s);                       /* makes y valid */
int jn_knows_rates(const jn_instance *s);             /* whether s->known is valid for what is set now */
double jn_value(const jn_instance *s, int row);

int jn_setup(jn_instance *s, double start_time, int has_stop, double stop_time);
int jn_finish_init(jn_instance *s);
/* Puts the k-th warning about the parameters into s->error and returns 1; 0 when there are no more. */
int jn_parameter_warning(jn_instance *s, int k);
double jn_time(const jn_instance *s);
enum { JN_MOST_TICKS = 1000000 }; /* of one call, which takes less than a minute */
/* Number of ticks in the step h [s] at time t [s]; 0 for the remainder of a summed time. -1 and an error if h is not a
 * whole number of ticks, if t is not the instance's time, or if h is longer than one call may be. With `part` a step
 * that is too long is allowed. */
long long jn_whole_ticks(jn_instance *s, double t, double h, int part);
/* Makes states 0 that have decayed so far that they have no effect. They would end as subnormal numbers and stay that for
 * ever, and many processors take a hundred cycles for each operation on one. */
void jn_drop_tiny(const jn_model *m, double *x);
int jn_apply_tunables(jn_instance *s); /* puts changed tunable parameters into effect */
/* Advances by n ticks and returns how many were taken, or -1. Without `part` it takes all or none. With `part` it takes
 * at most JN_MOST_TICKS, and stops before a tick that fails unless that is the first; the next call then fails at once
 * and says why. */
long long jn_advance(jn_instance *s, long long n, int part);

size_t jn_snapshot_size(const jn_instance *s);
void jn_snapshot_write(const jn_instance *s, unsigned char *blob);
int jn_snapshot_check(jn_instance *s, const unsigned char *blob, size_t size);
int jn_snapshot_read(jn_instance *s, const unsigned char *blob, size_t size);

/* Formats s->error and returns -1. Conversions are "%s" (const char *), "%d" (int), "%D" (long long) and "%g" (double:
 * the shortest exact text, with a decimal point in any locale). */
int jn_fail(jn_instance *s, const char *format, ...);
void jn_clear_fault(jn_fault *f);
int jn_fail_fault(jn_instance *s, const char *where, jn_fault *f); /* jn_fail with the model's reason */
int jn_finite(double value);
/* Index of the first number that is not finite in a vector of the instance, or -1. */
int jn_first_nonfinite(const double *v, int n);

#endif
