/* A ball that bounces, stepped by itself: between impacts its motion is exact, and an impact is met inside a tick.
 * x: height, speed.
 */
#include <math.h>
#include <stddef.h>

#include "bouncer_table.h"
#include "jn_model.h"

enum { AT_MOST = 1000 }; /* impacts in a tick */

static int derive(const double *p, double *d, jn_fault *f) {
    (void)p; (void)d; (void)f;
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    (void)d; (void)u; (void)f;
    x[0] = p[JN_P_height_start];
    x[1] = 0.0;
    return 0;
}

static int step(double h, const double *u, const double *p, const double *d, double *x, double *work, jn_fault *f) {
    const double g = p[JN_P_gravity] - u[JN_U_lift];
    int impacts;
    (void)d;
    work[0] = h;
    for (impacts = 0; impacts < AT_MOST; impacts++) {
        const double there = x[0] + x[1] * work[0] - 0.5 * g * work[0] * work[0];
        double until;
        if (there >= 0.0) {
            x[0] = there;
            x[1] -= g * work[0];
            return 0;
        }
        until = (x[1] + sqrt(x[1] * x[1] + 2.0 * g * x[0])) / g;
        x[0] = 0.0;
        x[1] = -p[JN_P_restitution] * (x[1] - g * until);
        work[0] -= until;
    }
    return jn_refuse(f, JN_ROW_Y + JN_Y_speed, x[1], "more than %d impacts in a tick", (int)AT_MOST);
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    (void)u; (void)p; (void)d; (void)ticks; (void)dx; (void)f;
    y[JN_Y_height] = x[0];
    y[JN_Y_speed] = x[1];
    return 0;
}

static const jn_model bouncer = {
    .name = "bouncer", .build_hash = jn_build_hash_text, .n_x = 2, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table, .n_signals = JN_N_SIGNALS,
    .by_reference = jn_by_reference, .derive = derive, .start = start, .step = step, .n_work = 1, .outputs = outputs,
};
const jn_model *const jn_models[] = {&bouncer, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
