/* Loads an FMI 2 library and drives it over 1000 ticks with inputs that need no mathematical library; prints the
 * bits of all outputs every 100 ticks, one line each. Runs wherever the library does: Linux, Windows.
 *
 *   loader LIBRARY GUID
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2FunctionTypes.h"

#if defined(_WIN32)
#include <windows.h>
#define OPEN(path) LoadLibraryA(path)
#define FIND(library, name) GetProcAddress(library, name)
typedef HMODULE handle;
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW)
#define FIND(library, name) dlsym(library, name)
typedef void *handle;
#endif

#define N_Y 186U /* all but the tick count */

static handle library;

static void find(const char *name, void *place, size_t size) {
    void *address = (void *)FIND(library, name);
    if (!address) {
        fprintf(stderr, "no function %s\n", name);
        exit(2);
    }
    memcpy(place, &address, size);
}

static void must(fmi2Status status, const char *what) {
    if (status == fmi2OK) return;
    fprintf(stderr, "%s: status %d\n", what, (int)status);
    exit(3);
}

static void say(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...) {
    (void)e; (void)n; (void)s; (void)c;
    if (s > fmi2Warning) fprintf(stderr, "%s\n", m);
}

/* Between -1 and 1, up and down. */
static double triangle(int k, int period) {
    const int at = k % period, half = period / 2;
    return (double)(at < half ? at : period - at) / (double)half * 2.0 - 1.0;
}

int main(int n, char **arguments) {
    static const fmi2CallbackFunctions callbacks = {say, NULL, NULL, NULL, NULL};
    static const unsigned start_refs[2] = {100006U, 100011U}; /* init.speed, terrain.slope: checked by the caller */
    static const unsigned u_refs[6] = {1000U, 1002U, 1018U, 1034U, 1035U, 1050U};
    static const double start_values[2] = {12.0, 0.03125};
    fmi2InstantiateTYPE *instantiate;
    fmi2SetupExperimentTYPE *setup;
    fmi2EnterInitializationModeTYPE *enter;
    fmi2ExitInitializationModeTYPE *leave;
    fmi2SetRealTYPE *set;
    fmi2GetRealTYPE *get;
    fmi2DoStepTYPE *step;
    fmi2FreeInstanceTYPE *release;
    fmi2Component c;
    double u[6], y[N_Y];
    unsigned y_refs[N_Y], i;
    int k;
    if (n != 3 || !(library = OPEN(arguments[1]))) {
        fprintf(stderr, "cannot load the library\n");
        return 1;
    }
    find("fmi2Instantiate", &instantiate, sizeof instantiate);
    find("fmi2SetupExperiment", &setup, sizeof setup);
    find("fmi2EnterInitializationMode", &enter, sizeof enter);
    find("fmi2ExitInitializationMode", &leave, sizeof leave);
    find("fmi2SetReal", &set, sizeof set);
    find("fmi2GetReal", &get, sizeof get);
    find("fmi2DoStep", &step, sizeof step);
    find("fmi2FreeInstance", &release, sizeof release);
    c = instantiate("loaded", fmi2CoSimulation, arguments[2], "", &callbacks, fmi2False, fmi2False);
    if (!c) return 4;
    for (i = 0; i < N_Y; i++) y_refs[i] = 10000U + i;
    must(setup(c, fmi2False, 0, 0, fmi2False, 0), "fmi2SetupExperiment");
    must(set(c, start_refs, 2, start_values), "start values");
    must(enter(c), "fmi2EnterInitializationMode");
    must(leave(c), "fmi2ExitInitializationMode");
    for (k = 0; k < 1000; k++) {
        u[0] = 4.0 * triangle(k, 400);
        for (i = 1; i < 6; i++) u[i] = 300.0 * triangle(k + 50 * (int)i, 256);
        u[4] = k > 600 ? 500.0 : 0.0; /* a brake */
        must(set(c, u_refs, 6, u), "fmi2SetReal");
        must(step(c, 0.001 * k, 0.001, fmi2True), "fmi2DoStep");
        if (k % 100 != 99) continue;
        must(get(c, y_refs, N_Y, y), "fmi2GetReal");
        for (i = 0; i < N_Y; i++) {
            uint64_t bits;
            memcpy(&bits, y + i, sizeof bits);
            printf("%08lx%08lx ", (unsigned long)(bits >> 32), (unsigned long)(bits & 0xffffffffUL));
        }
        printf("\n");
    }
    release(c);
    return 0;
}
