/* The interface between a model and the runtime: flat arrays of doubles and one signal table. The runtime does not know
 * the vehicle.
 *
 * A library holds one model. The following files define the symbols declared at the end of this header:
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
    int signal;     /* row of the signal at fault in the signal table, or -1 */
    double value;   /* its value, shown when signal >= 0 */
    char text[240]; /* what is wrong and what is expected */
} jn_fault;

/* Fills the fault, its text by a format of printf; returns 1. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int jn_refuse(jn_fault *f, int signal, double value, const char *format, ...);

/* One row of the signal table. The rows of u come first, then those of y, then those of p, each in vector order. */
typedef struct {
    const char *name;
    unsigned vr;
    char kind;  /* 'u' input, 'y' output, 'p' parameter */
    char type;  /* 'r' Real, 'i' Integer, 'b' Boolean, 'e' Enumeration (values 1..n); all are doubles inside */
    int fixed;  /* parameter settable only until initialization ends */
    int index;  /* place in u, y or p */
    double start, min, max; /* inclusive bounds, infinite where there is none */
    int more;   /* components of the same vector signal that follow: 2, 1, 0 for x, y, z; 0 for a scalar */
    double nominal;   /* typical size of its values: at a bound of 0 the allowance for rounding is 1e-9 of it */
    int switched_by;  /* of an input that is used only if p[switched_by] == switched_at; -1: always used */
    double switched_at;
    double least_up;  /* of a direction, a vector of any length: smallest z of its unit vector; 0 for other signals */
    double least_nonzero; /* of an input that may be 0: its least other value; else 0 */
} jn_signal;

/* Read-only data of a model beside its parameters, such as a file among the FMU's resources. */
typedef struct {
    unsigned char id[32]; /* hash of the contents; a model's own struct continues behind it */
} jn_resource;

enum { JN_RESOURCE_NUMBERS = 10 }; /* places in d that tell of a resource: its address in two parts, its hash in eight */

typedef struct jn_model {
    const char *name, *build_hash;
    int n_x, n_u, n_y, n_p, n_d;
    int p_tick, p_integrator; /* indices in p, or -1: none (then 1 ms and RK4). Integrator 1 is RK4, 2 is ROSENBROCK. */
    const jn_signal *signals;
    int n_signals;
    const int *by_reference; /* the rows, sorted by value reference */
    /* These functions return 0 on success; otherwise they fill the fault. They keep no state and do not write their
     * inputs. */
    int (*derive)(const double *p, double *d, jn_fault *f);
    int (*start)(const double *p, const double *d, const double *u, double *x, jn_fault *f);
    int (*rhs)(double tau, const double *x, const double *u, const double *p, const double *d, double *dx,
               jn_fault *f); /* tau: time since the start of the tick, s; NULL where there is a step */
    /* dx: NULL, or room for the rates that rhs gives here at tau 0. A model whose outputs know them fills it, bit for bit;
     * otherwise it leaves dx alone. */
    int (*outputs)(const double *x, const double *u, const double *p, const double *d, long long ticks,
                   double *y, double *dx, jn_fault *f);
    /* Advances x by one tick of h [s], with n_work doubles of scratch that need not be kept between calls; after a
     * fault x is discarded. A model with `step` has no rhs, no integrator and no model exchange. Or NULL. */
    int (*step)(double h, const double *u, const double *p, const double *d, double *x, double *work, jn_fault *f);
    int n_work;
    /* Called before each tick: takes into the states what has jumped in the inputs since the last one. Or NULL. */
    int (*begin)(const double *u, const double *p, const double *d, double *x, jn_fault *f);
    /* Called after the start and after each tick: projects x onto the manifold (unit quaternions), and stores what
     * the next tick must know of the inputs in the last n_memory states, whose rates are zero. Or NULL. */
    void (*finish)(double *x, const double *u, const double *p);
    int n_memory;
    const double *nominals; /* of the states before the memory, all > 0, closed by a 0; or NULL: no model exchange */
    const unsigned *state_references; /* of the states before the memory; NULL if nominals is NULL */
    /* Tangents d_rate and d_y of rates and outputs for the tangents d_x and d_u of states and inputs, with parameters
     * fixed, at the start of a tick; d_rate or d_y may be NULL. Or NULL: no derivatives. */
    int (*directional)(const double *x, const double *u, const double *p, const double *d, const double *d_x,
                       const double *d_u, double *d_rate, double *d_y, jn_fault *f);
    /* Tangent of `finish`, given the states before it: changes d_x in place. NULL if `finish` is NULL. */
    void (*finish_forward)(const double *x, const double *u, const double *p, const double *d_u, double *d_x);
    /* For ROSENBROCK, at the start of a tick: d rhs / d x without the memory, column by column, and d rhs / d tau.
     * Or NULL: no ROSENBROCK. */
    int (*jacobian)(const double *x, const double *u, const double *p, const double *d, double *columns,
                    double *by_time, jn_fault *f);
    /* Fill the fault with the k-th warning about the parameters and return 1; 0 when there
     * are no more. Logged as warnings at the end of initialization. Or NULL. */
    int (*parameter_warning)(const double *p, const double *d, int k, jn_fault *f);
    /* Called after each tick: returns 0 if `outputs` can be evaluated at this state. Otherwise the tick has failed, so
     * that the outputs of a successful step can always be read. Or NULL. */
    int (*readable)(const double *x, const double *u, const double *p, const double *d, jn_fault *f);
    /* A controller that decides at whole multiples of `period` [s], or at the first call after one: `decide` writes what it
     * decides at time t [s] into the memory. Called at the start, where it decides in any case and may set states as well,
     * and after each tick or at each event; it changes nothing unless `jn_is_due`. Or both NULL. */
    double (*period)(const double *p);
    void (*decide)(double t, const double *u, const double *p, const double *d, double *x);
    /* Opens the resource that the parameters ask for in the folder of resources (or the file, where that is one; NULL:
     * there is none); *r stays NULL if they ask for none. `jn_resource_of` finds it in d, at the place d_resource,
     * where the runtime puts it before `derive`. Or NULL: no resources. */
    int (*open)(const char *folder, const double *p, jn_resource **r, jn_fault *f);
    void (*close)(jn_resource *r);
    int d_resource;
    /* Whether the parameters ask for a store: n_store numbers that a model remembers beside its states. They are zeros
     * before the start, `remember` changes them after the start and after each tick that has not failed, and a snapshot
     * has them. `jn_store_of` finds them in d, at the two places from d_store on. Or NULL: no store. */
    int (*stores)(const double *p);
    void (*remember)(const double *x, const double *u, const double *p, const double *d);
    int n_store, d_store;
} jn_model;

/* The resource that d tells of at this place, or NULL. */
const void *jn_resource_of(const double *place);
/* The store that d tells of at this place, or NULL. */
double *jn_store_of(const double *place);

/* Whether a controller that decided at one time has to at time t: a multiple of its period has come since. */
int jn_is_due(double t, double decided, double period);

extern const char jn_guid[];            /* hash of the interface, as in modelDescription.xml */
extern const jn_signal jn_table[];
extern const int jn_by_reference[];
extern const double jn_nominals[];           /* this and the next are emitted only if the table names the states */
extern const unsigned jn_state_references[];
extern const char jn_build_hash_text[]; /* 64 hex digits: sha256 of the sources */

extern const jn_model *const jn_models[]; /* variants of equal sizes, plainest first, closed by NULL */
int jn_variant_supported(int variant);    /* whether this processor can run jn_models[variant] */

#endif
