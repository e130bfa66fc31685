/* The plug between a model and the runtime: flat double arrays, one signal table, no vehicle.
 *
 * A library links one model. Its files define the symbols declared at the end of this header:
 *   <model>_table.c   jn_guid, jn_table and so on  (emitted by jounce_fmu.build.table_c)
 *   jn_build_hash.c   jn_build_hash_text           (written by jounce_fmu.build.library)
 *   the model         jn_models, jn_variant_supported
 */
#ifndef JN_MODEL_H
#define JN_MODEL_H

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* Filled by a model function that returns non-zero. */
typedef struct {
    int signal;     /* row in the signal table, or -1 */
    double value;   /* the value at fault, shown when signal >= 0 */
    char text[240]; /* what is wrong and what is expected */
} jn_fault;

/* One row of the signal table: rows are u, then y, then p, each in vector order. */
typedef struct {
    const char *name;
    unsigned vr;
    char kind;  /* 'u' input, 'y' output, 'p' parameter */
    char type;  /* 'r' Real, 'i' Integer, 'b' Boolean, 'e' Enumeration (values 1..n); all are doubles inside */
    int fixed;  /* parameter settable only until initialization ends */
    int index;  /* place in u, y or p */
    double start, min, max; /* inclusive bounds, infinite where there is none */
    int more;   /* components of the same vector signal that follow: 2, 1, 0 for x, y, z; 0 for a scalar */
    double nominal;   /* size of values that are normal: 1e-9 of it is rounding at a bound of 0 */
    int switched_by;  /* input: place in p of the parameter that must be `switched_at` for it to be used; -1: always */
    double switched_at;
    double least_up;  /* of a direction, x y z of any length: least z of its unit vector; 0 for any other signal */
} jn_signal;

typedef struct jn_model {
    const char *name, *build_hash;
    int n_x, n_u, n_y, n_p, n_d;
    int p_tick, p_integrator; /* place in p, or -1: none (then 1 ms, RK4). Integrator 1 is RK4, 2 ROSENBROCK. */
    const jn_signal *signals;
    int n_signals;
    const int *by_reference; /* the rows in the order of their value references */
    /* All return 0 when ok; otherwise they fill the fault. None may keep state or write its inputs. */
    int (*derive)(const double *p, double *d, jn_fault *f);
    int (*start)(const double *p, const double *d, const double *u, double *x, jn_fault *f);
    int (*rhs)(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f); /* tau: time since the start of the tick, s; NULL where there is a step */
    int (*outputs)(const double *x, const double *u, const double *p, const double *d, long long ticks,
                   double *y, jn_fault *f);
    /* One tick of h [s] from x to x by the model itself, with n_work doubles of scratch that keep nothing between calls;
     * x after a fault does not matter. Such a model has no rhs, no integrator and no model exchange. Or NULL. */
    int (*step)(double h, const double *u, const double *p, const double *d, double *x, double *work, jn_fault *f);
    int n_work;
    /* After a start and after each tick: back onto the manifold (quaternions), and what the next tick must
     * remember of the inputs in the last n_memory states, whose rates are zero. Or NULL. */
    void (*finish)(double *x, const double *u, const double *p);
    int n_memory;
    const double *nominals; /* of the states before the memory, all > 0, and a 0; or NULL: no model exchange */
    const unsigned *state_references; /* of the states before the memory, or NULL where nominals is */
    /* How rates and outputs move when states and inputs move by d_x and d_u, parameters fixed, at the start of a
     * tick; d_rate or d_y may be NULL. Or NULL: no derivatives. */
    int (*directional)(const double *x, const double *u, const double *p, const double *d, const double *d_x,
                       const double *d_u, double *d_rate, double *d_y, jn_fault *f);
    /* The same for `finish`, from the states before it; NULL where that is. */
    void (*finish_forward)(const double *x, const double *u, const double *p, const double *d_u, double *d_x);
    /* For ROSENBROCK, at the start of a tick: d rhs / d x without the memory, column by column, and d rhs / d tau.
     * Or NULL. */
    int (*jacobian)(const double *x, const double *u, const double *p, const double *d, double *columns,
                    double *by_time, jn_fault *f);
    /* Fill the fault with the k-th warning about the parameters and return 1; 0 when there
     * are no more. Logged as warnings at the end of initialization. Or NULL. */
    int (*doubt)(const double *p, int k, jn_fault *f);
    /* After each tick: may `outputs` be called at this state? A tick that ends where it may not has failed, so that a
     * step that succeeded can be read. Or NULL. */
    int (*readable)(const double *x, const double *u, const double *p, const double *d, jn_fault *f);
} jn_model;

extern const char jn_guid[];            /* hash of the interface, as in modelDescription.xml */
extern const jn_signal jn_table[];
extern const int jn_by_reference[];
extern const double jn_nominals[];           /* this and the next are emitted for a table that names its states */
extern const unsigned jn_state_references[];
extern const char jn_build_hash_text[]; /* 64 hex digits: sha256 of the sources */

extern const jn_model *const jn_models[]; /* variants, plainest first, ended by NULL; all of equal sizes */
int jn_variant_supported(int variant);    /* may this processor run jn_models[variant]? */

#endif
