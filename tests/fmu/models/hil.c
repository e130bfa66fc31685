/* A hardware-in-the-loop target in miniature: the FMU's sources linked into one program that counts allocations,
 * measures the stack and runs ticks for an instruction counter. FMI 2 and FMI 3 faces, driven alike.
 *
 *   hil alloc          number of allocations from instantiation on, and of bytes at instantiation
 *   hil stack          bytes of stack that all calls together reached
 *   hil ticks LANES N  N ticks of a hard manoeuvre on LANES (1, or 4 where the processor has them)
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double_wishbone_table.h"
#include "fmi2Functions.h"
#include "fmi3Functions.h"
#include "jn_model.h"

#define INPUTS 1000U
#define OUTPUTS 10000U
#define PARAMETERS 100000U
#define REALS (JN_N_Y - 1) /* the last output is the tick count */

/* ---- the counting allocator --------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static volatile int armed;
static volatile long allocations, frees, bytes;

void *malloc(size_t n) { allocations += armed; bytes += (long)n; return __libc_malloc(n); }
void *calloc(size_t a, size_t b) { allocations += armed; bytes += (long)(a * b); return __libc_calloc(a, b); }
void *realloc(void *p, size_t n) { allocations += armed; bytes += (long)n; return __libc_realloc(p, n); }
void *memalign(size_t a, size_t n) { allocations += armed; bytes += (long)n; return __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { return memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) { return (*p = memalign(a, n)) ? 0 : 12; }
void free(void *p) { frees += armed && p; __libc_free(p); }

/* ---- the manoeuvre ------------------------------------------------------------------------------------- */

static unsigned u_refs[JN_N_U], y_refs[REALS];
static double u[JN_N_U], y[REALS];
static long refused;

static void quiet2(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...) {
    (void)e; (void)n; (void)c; (void)m;
    refused += s > fmi2Warning;
}

static void quiet3(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) {
    (void)e; (void)c; (void)m;
    refused += s > fmi3Warning;
}

static void must(int status, const char *what) {
    if (!status) return;
    fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
}

/* Slalom over bumps with drive and brakes; terrain from the inputs. */
static void drive(int k) {
    const double t = 0.001 * k;
    int w, i;
    for (i = 0; i < JN_N_U; i++) u[i] = jn_table[i].start;
    u[JN_U_steering_wheel_angle] = 3.0 * sin(4.0 * t);
    u[JN_U_steering_wheel_rate] = 12.0 * cos(4.0 * t);
    for (w = 0; w < 4; w++) {
        double *at = u + w * (JN_U_wheel_FR_drive_torque - JN_U_wheel_FL_drive_torque);
        at[JN_U_wheel_FL_drive_torque] = 400.0 * sin(9.0 * t + w);
        at[JN_U_wheel_FL_brake_torque] = k / 100 % 2 ? 800.0 : 0.0;
        at[JN_U_wheel_FL_terrain_height] = 0.04 * sin(20.0 * t + 2.0 * w);
        at[JN_U_wheel_FL_terrain_normal_x] = 0.1 * cos(20.0 * t + 2.0 * w);
    }
}

static void prepare(void) {
    int i;
    for (i = 0; i < JN_N_U; i++) u_refs[i] = INPUTS + (unsigned)i;
    for (i = 0; i < REALS; i++) y_refs[i] = OUTPUTS + (unsigned)i;
    drive(0);
}

/* What a real-time task does each tick. */
__attribute__((noinline)) void hil_tick(fmi2Component c, int k) {
    must(fmi2SetReal(c, u_refs, JN_N_U, u), "fmi2SetReal");
    must(fmi2DoStep(c, 0.001 * k, 0.001, fmi2True), "fmi2DoStep");
    must(fmi2GetReal(c, y_refs, REALS, y), "fmi2GetReal");
}

static fmi2Component make2(void) {
    static const fmi2CallbackFunctions callbacks = {quiet2, NULL, NULL, NULL, NULL};
    return fmi2Instantiate("hil", fmi2CoSimulation, jn_guid, "", &callbacks, fmi2False, fmi2True);
}

static void begin2(fmi2Component c) {
    const unsigned refs[2] = {PARAMETERS + JN_P_init_speed, PARAMETERS + JN_P_terrain_source};
    const double speed = 15.0;
    const int external = 2;
    must(fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), "fmi2SetupExperiment");
    must(fmi2SetReal(c, refs, 1, &speed), "fmi2SetReal");
    must(fmi2SetInteger(c, refs + 1, 1, &external), "fmi2SetInteger");
    must(fmi2EnterInitializationMode(c), "fmi2EnterInitializationMode");
    must(fmi2ExitInitializationMode(c), "fmi2ExitInitializationMode");
}

static void all2(fmi2Component c, int n, fmi2FMUstate *state, char *blob, size_t size) {
    const double bad = NAN;
    int k;
    begin2(c);
    for (k = 0; k < n; k++) {
        drive(k);
        hil_tick(c, k);
    }
    must(fmi2GetFMUstate(c, state), "fmi2GetFMUstate");
    must(fmi2SerializeFMUstate(c, *state, blob, size), "fmi2SerializeFMUstate");
    must(fmi2SetFMUstate(c, *state), "fmi2SetFMUstate");
    refused = 0;
    must(!fmi2SetReal(c, u_refs, 1, &bad), "a refused number");
    must(!fmi2DoStep(c, 0.001 * n, 0.0003, fmi2True), "a refused step");
    must(refused != 2, "two logged refusals");
    must(fmi2Terminate(c), "fmi2Terminate");
    must(fmi2Reset(c), "fmi2Reset");
}

static void all3(fmi3Instance c, int n) {
    const unsigned speed_ref = PARAMETERS + JN_P_init_speed;
    const double speed = 15.0;
    double t;
    fmi3Boolean event, end, early;
    int k;
    must(fmi3SetFloat64(c, &speed_ref, 1, &speed, 1), "fmi3SetFloat64");
    must(fmi3EnterInitializationMode(c, fmi3False, 0, 0, fmi3False, 0), "fmi3EnterInitializationMode");
    must(fmi3ExitInitializationMode(c), "fmi3ExitInitializationMode");
    for (k = 0; k < n; k++) {
        must(fmi3SetFloat64(c, u_refs, 1, u, 1), "fmi3SetFloat64");
        must(fmi3DoStep(c, 0.001 * k, 0.001, fmi3True, &event, &end, &early, &t), "fmi3DoStep");
        must(fmi3GetFloat64(c, y_refs, 1, y, 3), "fmi3GetFloat64");
    }
    must(fmi3Terminate(c), "fmi3Terminate");
    must(fmi3Reset(c), "fmi3Reset");
}

static void everything(long *at_start, long *later) {
    fmi2Component c;
    fmi3Instance three;
    fmi2FMUstate state = NULL;
    size_t size;
    char *blob;
    prepare();
    bytes = 0;
    c = make2();
    *at_start = bytes;
    three = fmi3InstantiateCoSimulation("hil", jn_guid, "", fmi3False, fmi3True, fmi3False, fmi3False, NULL, 0,
                                        NULL, quiet3, NULL);
    if (!c || !three) exit(2);
    begin2(c);
    must(fmi2GetFMUstate(c, &state), "fmi2GetFMUstate"); /* the standard lets the first save allocate */
    must(fmi2SerializedFMUstateSize(c, state, &size), "fmi2SerializedFMUstateSize");
    blob = (char *)malloc(size);
    must(fmi2Reset(c), "fmi2Reset");
    armed = 1;
    all2(c, 300, &state, blob, size);
    all3(three, 300);
    armed = 0;
    *later = allocations + frees;
    free(blob);
    must(fmi2FreeFMUstate(c, &state), "fmi2FreeFMUstate");
    fmi2FreeInstance(c);
    fmi3FreeInstance(three);
}

/* ---- the stack ------------------------------------------------------------------------------------------ */

#define STACK (256 * 1024)
static unsigned char *painted;

static void *idle(void *unused) { return unused; }

static void *work(void *unused) {
    long a, b;
    everything(&a, &b);
    return unused;
}

static long deepest(void *(*what)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    long untouched = 0;
    memset(painted, 0xA5, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, painted, STACK);
    must(pthread_create(&thread, &attributes, what, NULL), "pthread_create");
    pthread_join(thread, NULL);
    while (untouched < STACK && painted[untouched] == 0xA5) untouched++;
    return STACK - untouched;
}

/* ---- which variant ----------------------------------------------------------------------------------------- */

static int most_lanes = 4;
int __real_jn_variant_supported(int variant);
int __wrap_jn_variant_supported(int variant) {
    return variant == 0 || (most_lanes > 1 && __real_jn_variant_supported(variant));
}

int main(int n, char **arguments) {
    long at_start, later;
    int k;
    if (n == 2 && !strcmp(arguments[1], "alloc")) {
        everything(&at_start, &later);
        printf("%ld %ld\n", later, at_start);
    } else if (n == 2 && !strcmp(arguments[1], "stack")) {
        painted = (unsigned char *)aligned_alloc(4096, STACK);
        printf("%ld\n", deepest(work) - deepest(idle));
    } else if (n == 4 && !strcmp(arguments[1], "ticks")) {
        fmi2Component c;
        most_lanes = atoi(arguments[2]);
        prepare();
        c = make2();
        begin2(c);
        for (k = 0; k < atoi(arguments[3]); k++) {
            drive(k);
            hil_tick(c, k);
        }
        printf("%.17g\n", y[0]);
        fmi2FreeInstance(c);
    } else return 3;
    return 0;
}
