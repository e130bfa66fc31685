/* MuJoCo called straight through its C interface, on one model file and one thread. */
#define _POSIX_C_SOURCE 199309L
#include "bench.h"

#include <mujoco/mujoco.h>

static mjModel *model;
static mjData *data;
static char error[1000];

enum { FORWARD, STEP };

static int forward(void *self) {
    (void)self;
    mj_forward(model, data);
    return 0;
}

static int step(void *self) {
    (void)self;
    mj_step(model, data);
    return data->qacc[0] - data->qacc[0] != 0.0; /* it has blown up */
}

BENCH_EXPORT const char *mujoco_open(const char *path);
BENCH_EXPORT void mujoco_set(int integrator);
BENCH_EXPORT int mujoco_steps(int n);
BENCH_EXPORT int mujoco_run(int kind, int blocks, int calls, double *wall, double *cpu);
BENCH_EXPORT void mujoco_state(double *height, double *speed, double *hub, double *gap, double *iterations);
BENCH_EXPORT void mujoco_sizes(int *nv, int *rows);

const char *mujoco_open(const char *path) {
    if (data) mj_deleteData(data);
    if (model) mj_deleteModel(model);
    data = NULL;
    model = mj_loadXML(path, NULL, error, (int)sizeof error);
    if (!model) return error;
    data = mj_makeData(model);
    mj_resetDataKeyframe(model, data, 0);
    mj_forward(model, data);
    return NULL;
}

/* mjtIntegrator from here on; starts again. */
void mujoco_set(int integrator) {
    model->opt.integrator = integrator;
    mj_resetDataKeyframe(model, data, 0);
}

int mujoco_steps(int n) {
    while (n-- > 0)
        if (step(NULL)) return 1;
    return 0;
}

int mujoco_run(int kind, int blocks, int calls, double *wall, double *cpu) {
    return bench_run(kind == FORWARD ? forward : step, NULL, blocks, calls, wall, cpu);
}

/* Chassis height and forward speed, height of the first wheel's centre, the widest gap of a closure [m], and the
 * solver's iterations in the last step. */
void mujoco_state(double *height, double *speed, double *hub, double *gap, double *iterations) {
    int i, k, wheel = mj_name2id(model, mjOBJ_BODY, "wheel_FL");
    *height = data->qpos[2];
    *speed = data->qvel[0];
    *hub = data->xipos[3 * wheel + 2];
    *iterations = data->solver_niter[0];
    *gap = 0.0;
    for (i = 0; i < model->neq; i++) {
        const double *at = model->eq_data + mjNEQDATA * i;
        double a[3], b[3], d[3];
        mju_mulMatVec3(a, data->xmat + 9 * model->eq_obj1id[i], at);
        mju_mulMatVec3(b, data->xmat + 9 * model->eq_obj2id[i], at + 3);
        for (k = 0; k < 3; k++)
            d[k] = a[k] + data->xpos[3 * model->eq_obj1id[i] + k] - b[k] - data->xpos[3 * model->eq_obj2id[i] + k];
        if (mju_norm3(d) > *gap) *gap = mju_norm3(d);
    }
}

void mujoco_sizes(int *nv, int *rows) {
    *nv = (int)model->nv;
    *rows = (int)data->nefc;
}
