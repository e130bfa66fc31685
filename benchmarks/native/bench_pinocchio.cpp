// Pinocchio called straight, on a tree with cut loops and on one thread.
#include "bench.h"

#include <memory>
#include <vector>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

enum Kind { OPEN_TREE, CONSTRAINED, LOOP_ABA, STEP_CONSTRAINED, STEP_LOOP_ABA };

struct Subject {
    pin::Model model;
    std::vector<pin::RigidConstraintModel> closures;
    std::vector<pin::RigidConstraintData> closure_data;
    std::unique_ptr<pin::Data> dense, loop; // each algorithm with its own work space
    VectorXd q, v, tau, q0, v0;
    // one exact solve: the rows are independent
    pin::ProximalSettings exact{1e-12, 0.0, 1};
    // the loop-constrained recursion needs a regularization, and iterates to this accuracy
    pin::ProximalSettings proximal{1e-9, 1e-8, 20};
    int ticks = 0;
};

Subject *s;

Vector3d vec(const double *p) { return Vector3d(p[0], p[1], p[2]); }

pin::JointModel joint(int kind, const double *axes) {
    switch (kind) {
    case 0: return pin::JointModelFreeFlyer();
    case 1: return pin::JointModelRevoluteUnaligned(vec(axes));
    case 2: return pin::JointModelSpherical();
    case 3: return pin::JointModelUniversal(vec(axes), vec(axes + 3));
    default: return pin::JointModelPrismaticUnaligned(vec(axes));
    }
}

const VectorXd &constrained(const VectorXd &q, const VectorXd &v) {
    return pin::constraintDynamics(s->model, *s->dense, q, v, s->tau, s->closures, s->closure_data, s->exact);
}

const VectorXd &loop_aba(const VectorXd &q, const VectorXd &v) {
    // each call starts without a guess of the forces
    for (auto &d : s->closure_data) d.contact_force.setZero();
    return pin::lcaba(s->model, *s->loop, q, v, s->tau, s->closures, s->closure_data, s->proximal);
}

// One tick of 1 ms with four evaluations, as the classical fourth-order method makes them.
template <class Solve> int step(Solve solve) {
    static VectorXd v1, v2, v3, a0, a1, a2, a3, qs;
    const double h = 1e-3;
    a0 = solve(s->q, s->v);
    qs = pin::integrate(s->model, s->q, (0.5 * h * s->v).eval());
    v1 = s->v + 0.5 * h * a0;
    a1 = solve(qs, v1);
    qs = pin::integrate(s->model, s->q, (0.5 * h * v1).eval());
    v2 = s->v + 0.5 * h * a1;
    a2 = solve(qs, v2);
    qs = pin::integrate(s->model, s->q, (h * v2).eval());
    v3 = s->v + h * a2;
    a3 = solve(qs, v3);
    s->q = pin::integrate(s->model, s->q, (h / 6.0 * (s->v + 2.0 * v1 + 2.0 * v2 + v3)).eval());
    s->v += h / 6.0 * (a0 + 2.0 * a1 + 2.0 * a2 + a3);
    if (++s->ticks % 100 == 0) { // nothing stabilises the closures: start again before they drift
        s->q = s->q0;
        s->v = s->v0;
    }
    return !(s->v[0] - s->v[0] == 0.0);
}

int open_tree(void *) {
    pin::aba(s->model, *s->dense, s->q, s->v, s->tau, pin::Convention::WORLD);
    return 0;
}
int one_constrained(void *) { constrained(s->q, s->v); return 0; }
int one_loop_aba(void *) { loop_aba(s->q, s->v); return 0; }
int step_constrained(void *) { return step(constrained); }
int step_loop_aba(void *) { return step(loop_aba); }

} // namespace

extern "C" {

// numbers per body: joint point relative to the parent's, two axes, mass, centre of mass relative to the joint,
// inertia xx xy yy xz yz zz, armature. points per closure: its place from either body's joint.
BENCH_EXPORT int pinocchio_open(int bodies, const int *kinds, const int *parents, const double *numbers, int closures,
                                const int *pairs, const double *points, const double *velocity, const double *torque) {
    s = new Subject();
    for (int i = 0; i < bodies; i++, numbers += 20) {
        const pin::SE3 at(Eigen::Matrix3d::Identity(), vec(numbers));
        const auto id = s->model.addJoint((pin::JointIndex)(parents[i] + 1), joint(kinds[i], numbers + 3), at,
                                          "joint" + std::to_string(i));
        const double *m = numbers + 13;
        Eigen::Matrix3d tensor;
        tensor << m[0], m[1], m[3], m[1], m[2], m[4], m[3], m[4], m[5];
        s->model.appendBodyToJoint(id, pin::Inertia(numbers[9], vec(numbers + 10), tensor), pin::SE3::Identity());
        s->model.armature.segment(s->model.joints[id].idx_v(), s->model.joints[id].nv()).setConstant(numbers[19]);
    }
    for (int i = 0; i < closures; i++, pairs += 2, points += 6) {
        const pin::SE3 a(Eigen::Matrix3d::Identity(), vec(points)), b(Eigen::Matrix3d::Identity(), vec(points + 3));
        s->closures.emplace_back(pin::CONTACT_3D, s->model, (pin::JointIndex)(pairs[0] + 1), a,
                                 (pin::JointIndex)(pairs[1] + 1), b);
        s->closure_data.emplace_back(s->closures.back());
    }
    s->dense = std::make_unique<pin::Data>(s->model);
    s->loop = std::make_unique<pin::Data>(s->model);
    pin::initConstraintDynamics(s->model, *s->dense, s->closures, s->closure_data);
    pin::computeJointMinimalOrdering(s->model, *s->loop, s->closures);
    s->q = s->q0 = pin::neutral(s->model);
    s->v = s->v0 = Eigen::Map<const VectorXd>(velocity, s->model.nv);
    s->tau = Eigen::Map<const VectorXd>(torque, s->model.nv);
    return s->model.nv;
}

// Accelerations at the opening state.
BENCH_EXPORT void pinocchio_solve(int kind, double *out) {
    Eigen::Map<VectorXd>(out, s->model.nv) = kind == CONSTRAINED ? constrained(s->q0, s->v0) : loop_aba(s->q0, s->v0);
}

BENCH_EXPORT int pinocchio_iterations(void) { return s->proximal.iter; }

BENCH_EXPORT int pinocchio_run(int kind, int blocks, int calls, double *wall, double *cpu) {
    static const bench_call calls_of[] = {open_tree, one_constrained, one_loop_aba, step_constrained, step_loop_aba};
    s->q = s->q0;
    s->v = s->v0;
    s->ticks = 0;
    return bench_run(calls_of[kind], nullptr, blocks, calls, wall, cpu);
}
}
