/* A master that loads a built FMU library and steps it: what FMI costs on top of the core. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

static fmi2Component instance;
static fmi2DoStepTYPE *do_step;
static fmi2GetRealTYPE *get_real;
static fmi2SetRealTYPE *set_real;
static char error[600];
static double tick;
static long long ticks;
static size_t n_in, n_out;
static fmi2ValueReference in_vr[4096], out_vr[4096];
static fmi2Real in_values[4096], out_values[4096];

static void log_message(fmi2ComponentEnvironment e, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...) {
    (void)e; (void)name; (void)category;
    if (status != fmi2OK) snprintf(error, sizeof error, "%s", message);
}

static int step(void *self) {
    (void)self;
    return do_step(instance, (double)ticks++ * tick, tick, fmi2True) != fmi2OK;
}

static int step_outputs(void *self) {
    return step(self) || get_real(instance, out_vr, n_out, out_values) != fmi2OK;
}

static int step_all(void *self) {
    return set_real(instance, in_vr, n_in, in_values) != fmi2OK || step_outputs(self);
}

BENCH_EXPORT const char *fmu_open(const char *path, const char *guid, double h, size_t inputs, const unsigned *in,
                                  size_t outputs, const unsigned *out, size_t n, const unsigned *vr,
                                  const double *values);
BENCH_EXPORT int fmu_run(int kind, int blocks, int calls, double *wall, double *cpu);

/* NULL, or what went wrong. vr and values are set before initialization; the inputs' values are then held. */
const char *fmu_open(const char *path, const char *guid, double h, size_t inputs, const unsigned *in, size_t outputs,
                     const unsigned *out, size_t n, const unsigned *vr, const double *values) {
    static const fmi2CallbackFunctions functions = {log_message, calloc, free, NULL, NULL};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fmi2InstantiateTYPE *instantiate;
    fmi2SetupExperimentTYPE *setup;
    fmi2EnterInitializationModeTYPE *enter, *leave;
    if (!library) return dlerror();
    *(void **)&instantiate = dlsym(library, "fmi2Instantiate");
    *(void **)&setup = dlsym(library, "fmi2SetupExperiment");
    *(void **)&enter = dlsym(library, "fmi2EnterInitializationMode");
    *(void **)&leave = dlsym(library, "fmi2ExitInitializationMode");
    *(void **)&do_step = dlsym(library, "fmi2DoStep");
    *(void **)&get_real = dlsym(library, "fmi2GetReal");
    *(void **)&set_real = dlsym(library, "fmi2SetReal");
    instance = instantiate("bench", fmi2CoSimulation, guid, "", &functions, fmi2False, fmi2False);
    if (!instance || inputs > 4096 || outputs > 4096) return error;
    memcpy(in_vr, in, (n_in = inputs) * sizeof *in);
    memcpy(out_vr, out, (n_out = outputs) * sizeof *out);
    tick = h;
    if (setup(instance, fmi2False, 0.0, 0.0, fmi2False, 0.0) != fmi2OK ||
        set_real(instance, vr, n, values) != fmi2OK || enter(instance) != fmi2OK || leave(instance) != fmi2OK ||
        get_real(instance, in_vr, n_in, in_values) != fmi2OK)
        return error;
    return NULL;
}

int fmu_run(int kind, int blocks, int calls, double *wall, double *cpu) {
    static const bench_call calls_of[] = {step, step_outputs, step_all};
    return bench_run(calls_of[kind], NULL, blocks, calls, wall, cpu);
}
