/* A vehicle on the impulse engine: parameters to numbers, inputs to a tick, states to outputs. impulse_model.h is emitted
 * per vehicle (jounce.models.impulse.emit). x: the engine's states, the angle of the steering wheel, the powertrain's
 * states, the impulses with which sweeps begin.
 */
#include <math.h>
#include <string.h>

#include "impulse.h"
#include "impulse_table.h"
#include "jn_model.h"
#include "impulse_model.h"
#include "impulse_tables.inc"
#include "impulse_rows.inc"
#include "impulse_road.inc"
#include "impulse_factor.inc"
#include "impulse_tick.inc"
#include "impulse_pgs.inc"
#include "impulse_step.inc"

enum { STEER = IMP_N_STATES, TRAIN, WARM = TRAIN + (IMP_POWERED ? 5 : 0), N_X = WARM + IMP_N_ROWS };
enum { SOLVER_DIRECT = 1, SOLVER_SWEEPS };
#if IMP_POWERED
#include "impulse_powertrain.inc"
#endif

#include "impulse_derive.inc"
#include "impulse_outputs.inc"
#include "impulse_limits.inc"

/* What the inputs mean for a tick. */
typedef struct {
    double motor[2 * IMP_N_MOTORS + 2], friction[IMP_N_CONTACTS + 1], torque[IMP_N_SPINS + 1];
} told;

#if IMP_POWERED
enum { TRAIN_SPEED, TRAIN_GEAR, TRAIN_SHIFTS, TRAIN_ENGINE, TRAIN_TORQUE, N_TRAIN }; /* states; the last two are read only */

/* One tick: torque on all driven wheels together. */
static double train_step(const double *p, const double *pedal, double wheels, double inertia, double speed, double radius,
                         double h, double *state) {
    const double engine = state[TRAIN_SPEED], torque = train_engine(p, pedal[PEDAL_THROTTLE], engine);
    const int gear = train_gear(p, pedal, (int)state[TRAIN_GEAR], speed / radius, speed);
    double taken = 0.0, on = 0.0;
    if (gear != (int)state[TRAIN_GEAR]) state[TRAIN_SHIFTS] = p[IMP_P_TRAIN + TRAIN_TIME];
    else state[TRAIN_SHIFTS] = fmax(state[TRAIN_SHIFTS] - h, 0.0);
    state[TRAIN_GEAR] = gear;
    if (!(state[TRAIN_SHIFTS] > 0.0) && gear != 0) taken = train_coupled(p, engine, train_ratio(p, gear), wheels, inertia, h, &on);
    state[TRAIN_ENGINE] = torque;
    state[TRAIN_TORQUE] = on;
    state[TRAIN_SPEED] = fmax(engine + h * (torque - taken) / p[IMP_P_TRAIN + TRAIN_INERTIA], 0.0);
    return on;
}

/* Angular velocity of a wheel against its carrier. */
static double turns(const imp_numbers *n, const imp_state *s, const int *wheel) {
    const double *body = s->body + 13 * wheel[1];
    double turn[9], axle[3];
    imp_rotation(body + 3, turn);
    imp_turned(turn, n->spin + IMP_D_SPIN * wheel[2] + 1, axle);
    return s->spin[2 * wheel[2] + 1] - imp_dot(axle, body + 10);
}

/* Height of a wheel's centre as drawn: its radius under load. */
static double loaded(const imp_numbers *n, const int *wheel) {
    return n->contact[IMP_D_CONTACT * wheel[3] + 2] + n->body[IMP_D_BODY * wheel[1] + 2];
}

/* The powertrain's torque on the driven wheels, added to what the inputs say, and the brakes of the pedal. */
static void drive(const double *u, const double *p, const imp_numbers *n, const imp_state *s, double h, double *train,
                  told *to) {
    const double *frame = s->body + 13 * IMP_FRAME;
    double wheels = 0.0, inertia = 0.0, radius = 1.0, torque, turn[9];
    int k;
    for (k = 0; k < IMP_N_MOTORS; k++) {
        const int *wheel = IMP_WHEEL[IMP_MOTOR[k][1]];
        if (IMP_MOTOR[k][0] != IMP_BY_DRIVE) continue;
        wheels += turns(n, s, wheel) / IMP_N_DRIVES;
        inertia += n->spin[IMP_D_SPIN * wheel[2]];
        radius = loaded(n, wheel);
    }
    imp_rotation(frame + 3, turn);
    torque = train_step(p, u + IMP_U_PEDALS, wheels, inertia,
                        turn[0] * frame[7] + turn[3] * frame[8] + turn[6] * frame[9], radius, h, train);
    for (k = 0; k < IMP_N_MOTORS; k++) {
        const int at = IMP_MOTOR[k][1], *wheel = IMP_WHEEL[at];
        if (IMP_MOTOR[k][0] == IMP_BY_DRIVE) to->torque[wheel[2]] += torque / IMP_N_DRIVES;
        else if (IMP_MOTOR[k][0] == IMP_BY_BRAKE)
            to->motor[2 * k + 1] = fmax(to->motor[2 * k + 1], 0.0) + train_brake(p, u + IMP_U_PEDALS, at, loaded(n, wheel) * turns(n, s, wheel));
    }
}
#endif

static imp_input tell(const double *u, const double *p, const imp_numbers *n, double steer, double h, told *to) {
    imp_input in = {NULL, NULL, NULL, 0.0, 0.0, 0, NULL, NULL};
    int k, c;
    for (k = 0; k < IMP_N_MOTORS; k++) {
        const int what = IMP_MOTOR[k][0], at = IMP_MOTOR[k][1];
        if (what == IMP_BY_BRAKE) to->motor[2 * k] = 0.0, to->motor[2 * k + 1] = u[IMP_U_WHEEL + 2 * at + 1];
        else if (what == IMP_BY_DRIVE) {
            const double *contact = n->contact + IMP_D_CONTACT * IMP_WHEEL[at][3];
            const double loaded = contact[2] + n->body[IMP_D_BODY * IMP_WHEEL[at][1] + 2];
            to->motor[2 * k] = u[JN_U_drive_target_speed] / loaded;
            to->motor[2 * k + 1] = u[JN_U_drive_max_torque] / IMP_N_DRIVES;
        } else to->motor[2 * k] = u[IMP_U_MOTOR + at], to->motor[2 * k + 1] = IMP_MOTOR_BOUND[at];
    }
    for (k = 0; k < IMP_N_WHEELS; k++) {
        for (c = IMP_WHEEL[k][3]; c < IMP_WHEEL[k][3] + IMP_WHEEL[k][4]; c++)
            to->friction[c] = p[JN_P_mu] * p[IMP_P_WHEEL + 5 * k + 4];
        to->torque[IMP_WHEEL[k][2]] = u[IMP_U_WHEEL + 2 * k];
    }
    in.motor = to->motor, in.friction = to->friction, in.torque = to->torque, in.steer = steer;
    if (IMP_STEERED) {
        const double most = p[JN_P_steering_rate_max], rate = (u[IMP_U_STEER] - steer) / h;
        in.steer_rate = rate > most ? most : rate < -most ? -most : rate;
    }
    return in;
}

static int faulted(const imp_topology *t, const imp_numbers *n, double h, const imp_fault *e, jn_fault *f) {
    const char *stiff = imp_unstable(t, n, h, 4.0, HUGE_VAL);
    const int velocities = 6 * IMP_N_BODIES + IMP_N_SPINS, k = e->index;
    const char *name = k < 6 * IMP_N_BODIES ? IMP_BODY_NAME[k / 6]
                     : k < velocities ? IMP_WHEEL_NAME[IMP_SPIN_WHEEL[k - 6 * IMP_N_BODIES]] : IMP_ROW_NAME[k - velocities];
    if (e->kind == IMP_BELOW || e->kind == IMP_ACTIVE) name = k < -1 ? IMP_ROW_NAME[-2 - k] : k < 0 ? "a contact" : IMP_WHEEL_NAME[IMP_WHEEL_OF[k]];
    if (e->kind == IMP_PIVOT)
        return jn_refuse(f, -1, 0.0, "the pivot of %s has vanished: its rows depend on others at this pose", name);
    if (stiff)
        return jn_refuse(f, -1, 0.0, "the motion of %s has diverged: %s is too stiff for this tick, of which the limit is "
                         "2 sqrt(m / k)", name, stiff);
    if (e->kind == IMP_BELOW)
        return jn_refuse(f, -1, 0.0, "the centre of wheel %s is %.3g m too low: expected it above the road, and no step "
                         "under it", name, -e->value);
    if (e->kind == IMP_OPENED)
        return jn_refuse(f, -1, 0.0, "joint %s has come apart by %.3g: expected what it joins within reach, and a tick short "
                         "enough", name, e->value);
    if (e->kind == IMP_ACTIVE)
        return jn_refuse(f, -1, 0.0, "what %s does has not settled for %d ticks; a shorter tick may help", name, IMP_UNSETTLED);
    return jn_refuse(f, -1, 0.0, "the motion of %s has diverged; a shorter tick may help", name);
}

static int step(double h, const double *u, const double *p, const double *d, double *x, double *work, jn_fault *f) {
    imp_topology t;
    imp_numbers n;
    imp_fault e = {IMP_OK, -1, 0.0};
    told to;
    imp_input in;
    imp_open(IMP_TABLE, &t);
    imp_lay_numbers(&t, d, &n);
    in = tell(u, p, &n, x[STEER], h, &to);
#if IMP_POWERED
    {
        imp_state s;
        imp_lay_state(&t, x, &s);
        drive(u, p, &n, &s, h, x + TRAIN, &to);
    }
#endif
    if (p[JN_P_solver] == SOLVER_SWEEPS) in.sweeps = (int)p[JN_P_sweeps], in.warm = x + WARM;
    if (imp_tick(&t, d, &in, h, x, work, &e)) return faulted(&t, &n, h, &e, f);
    x[STEER] += h * in.steer_rate;
    return 0;
}

static int start(const double *p, const double *d, const double *u, double *x, jn_fault *f) {
    double work[IMP_N_WORK];
    imp_topology t;
    imp_numbers n;
    imp_state s;
    imp_fault e = {IMP_OK, -1, 0.0};
    told to;
    imp_input in;
    int k;
    imp_open(IMP_TABLE, &t);
    imp_lay_numbers(&t, d, &n);
    imp_lay_state(&t, x, &s);
    memset(x, 0, N_X * sizeof *x);
    for (k = 0; k < t.bodies; k++) {
        double *body = s.body + 13 * k;
        memcpy(body, n.body + IMP_D_BODY * k, 3 * sizeof *body);
        body[0] += p[JN_P_init_x];
        body[3] = 1.0;
        body[7] = p[JN_P_init_speed];
    }
    for (k = 0; k < IMP_N_WHEELS; k++) {
        const double *contact = n.contact + IMP_D_CONTACT * IMP_WHEEL[k][3];
        s.spin[2 * IMP_WHEEL[k][2] + 1] = p[JN_P_init_speed] / (contact[2] + n.body[IMP_D_BODY * IMP_WHEEL[k][1] + 2]);
    }
    in = tell(u, p, &n, 0.0, p[JN_P_tick], &to);
    in.steer_rate = 0.0, in.warm = p[JN_P_solver] == SOLVER_SWEEPS ? x + WARM : NULL;
#if IMP_POWERED
    x[TRAIN + TRAIN_SPEED] = p[IMP_P_TRAIN + TRAIN_IDLE];
#endif
    memset(work, 0, sizeof work);
    return imp_start(&t, d, &in, p[JN_P_tick], x, work, &e) ? faulted(&t, &n, p[JN_P_tick], &e, f) : 0;
}

/* Velocity of coordinate k at the time of the pose: half a tick on from the last one by the last acceleration. */
static double now(const double *velocity, const double *before, int k) { return 1.5 * velocity[k] - 0.5 * before[k]; }

static double energy_of(const imp_topology *t, const imp_numbers *n, const imp_state *s, const imp_pose *pose, int kinetic) {
    double sum = 0.0;
    int k, i;
    if (kinetic) {
        for (k = 0; k < t->bodies; k++) {
            const double *b = n->body + IMP_D_BODY * k, *r = pose[k].r, *v = s->body + 13 * k + 7, *old = s->before + 6 * k;
            double mid[3], w[3];
            for (i = 0; i < 3; i++) mid[i] = now(v, old, i), w[i] = now(v, old, 3 + i);
            sum += imp_kinetic(b, r, mid, w);
        }
        for (k = 0; k < t->spins; k++) {
            const double rate = 1.5 * s->spin[2 * k + 1] - 0.5 * s->before[6 * t->bodies + k];
            sum += 0.5 * n->spin[IMP_D_SPIN * k] * rate * rate;
        }
        return sum;
    }
    return imp_potential(t, n, pose, s->tire);
}

static int outputs(const double *x, const double *u, const double *p, const double *d, long long ticks, double *y,
                   double *dx, jn_fault *f) {
    const double h = p[JN_P_tick];
    double copy[N_X], spin[2 * IMP_N_SPINS + 2], *at = y + IMP_Y_BODY;
    imp_pose pose[IMP_N_BODIES + 1];
    imp_topology t;
    imp_numbers n;
    imp_state s;
    int k, i;
    (void)u; (void)dx; (void)f;
    memcpy(copy, x, sizeof copy);
    imp_open(IMP_TABLE, &t);
    imp_lay_numbers(&t, d, &n);
    imp_lay_state(&t, copy, &s);
    imp_poses(&t, s.body, pose);
    for (k = 0; k < t.bodies; k++, at += 16) {
        const double *body = s.body + 13 * k, *old = s.before + 6 * k;
        memcpy(at, body, 7 * sizeof *at);
        for (i = 0; i < 3; i++) at[7 + i] = now(body + 7, old, i);
        for (i = 0; i < 3; i++) at[10 + i] = (body[7 + i] - old[i]) / h;
        for (i = 0; i < 3; i++) at[13 + i] = now(body + 7, old, 3 + i);
    }
    imp_frame_outputs(y + IMP_Y_BODY + 16 * IMP_FRAME, pose[IMP_FRAME].r, y + JN_Y_ref_frame_pos_x);
    for (k = 0; k < IMP_N_SPINS; k++) {
        spin[2 * k] = s.spin[2 * k];
        spin[2 * k + 1] = 1.5 * s.spin[2 * k + 1] - 0.5 * s.before[6 * t.bodies + k];
    }
    imp_wheel_outputs(&n, pose, spin, s.force, y + IMP_Y_WHEEL);
    memcpy(y + IMP_Y_JOINT, s.hard, (size_t)t.joint_rows * sizeof *y);
    memcpy(y + IMP_Y_SPRING, s.spring, (size_t)t.springs * sizeof *y);
#if IMP_POWERED
    y[IMP_Y_TRAIN] = x[TRAIN + TRAIN_SPEED];
    y[IMP_Y_TRAIN + 1] = x[TRAIN + TRAIN_ENGINE];
    y[IMP_Y_TRAIN + 2] = x[TRAIN + TRAIN_GEAR];
    y[IMP_Y_TRAIN + 3] = x[TRAIN + TRAIN_TORQUE];
#endif
    y[JN_Y_closure_residual] = s.misc[IMP_CLOSURE];
    y[JN_Y_active_set_changes] = s.misc[IMP_CHANGES];
    y[JN_Y_energy_kinetic] = energy_of(&t, &n, &s, pose, 1);
    y[JN_Y_energy_potential] = energy_of(&t, &n, &s, pose, 0);
    y[JN_Y_tick_count] = (double)ticks;
    return 0;
}

static const jn_model impulse = {
    .name = "impulse", .build_hash = jn_build_hash_text, .n_x = N_X, .n_u = JN_N_U, .n_y = JN_N_Y, .n_p = JN_N_P,
    .n_d = IMP_N_NUMBERS + IMP_N_DENSE, .p_tick = JN_P_tick, .p_integrator = -1, .signals = jn_table,
    .n_signals = JN_N_SIGNALS, .by_reference = jn_by_reference, .derive = derive, .start = start, .rhs = NULL,
    .outputs = outputs, .step = step, .n_work = IMP_N_WORK, .begin = NULL, .finish = NULL, .n_memory = 0,
    .nominals = NULL, .state_references = NULL, .directional = NULL, .finish_forward = NULL, .jacobian = NULL,
    .parameter_warning = NULL, .readable = NULL, .period = NULL, .decide = NULL, .open = NULL, .close = NULL,
    .d_resource = 0, .stores = NULL, .remember = NULL, .n_store = 0, .d_store = 0,
};
const jn_model *const jn_models[] = {&impulse, NULL};
int jn_variant_supported(int variant) { return variant == 0; }
