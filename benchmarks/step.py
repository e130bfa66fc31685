"""Measures a right-hand side and a step (RK4 and ROSENBROCK), and those of MuJoCo and Pinocchio for comparison.

All loops run in C or C++, on one thread, interleaved. See README.md for what is comparable and what is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from mujoco_vehicle import EULER, IMPLICIT_FAST, MuJoCo, Rest
from mujoco_vehicle import FORWARD as MJ_FORWARD
from mujoco_vehicle import RK4 as MJ_RK4
from mujoco_vehicle import STEP as MJ_STEP
from native import OUTPUTS, RHS, STEP, STEP_ALL, STEP_OUTPUTS, Core, Unavailable
from pinocchio_vehicle import CONSTRAINED, LOOP_ABA, OPEN_TREE, STEP_CONSTRAINED, STEP_LOOP_ABA, Pinocchio
from timing import Samples, interleave, loops, machine, table, versions
from vehicle_tree import WHEELS, Tree, probe, vehicle_tree

from jounce.data import Vehicle, load_vehicle

SPEED = 15.0  # m/s
DRIVE = 45.0  # N.m a wheel, about the rolling resistance
LANES = ("1 lane", "4 lanes")
ROSENBROCK = {"integrator": 2.0, "tick": 0.005}
Subject = Callable[[], Samples]


def jounce_subjects(core: Core, blocks: int, calls: int) -> tuple[dict[str, Subject], dict[str, Subject]]:
    """Blocks of calls, and single steps, for each variant that this processor runs."""
    values = {"init.speed": SPEED, **{f"wheel_{w}.drive_torque": DRIVE for w in WHEELS}}
    kinds = {"rhs": RHS, "outputs": OUTPUTS, "step": STEP, "step + outputs": STEP_OUTPUTS,
             "inputs + step + outputs": STEP_ALL}
    subjects: dict[str, Subject] = {}
    single: dict[str, Subject] = {}
    for variant in range(core.variants):
        instance = core.open(variant, values)
        for name, kind in kinds.items():
            subject = partial(core.measure, instance, kind)
            subjects[f"jounce {LANES[variant]}: {name}"] = partial(subject, blocks=blocks, calls=calls)
            if kind in (STEP, STEP_OUTPUTS):
                single[f"jounce {LANES[variant]}: {name}"] = partial(subject, blocks=20 * blocks, calls=1)
        implicit = partial(core.measure, core.open(variant, values | ROSENBROCK), STEP)
        name = f"jounce {LANES[variant]}: step of 5 ms, ROSENBROCK"
        subjects[name] = partial(implicit, blocks=blocks, calls=max(calls // 10, 2))
        single[name] = partial(implicit, blocks=2 * blocks, calls=1)
    return subjects, single


def mujoco(folder: Path, vehicle: Vehicle, tree: Tree, core: Core, blocks: int, calls: int) -> dict[str, Subject]:
    """MuJoCo's vehicle: opened, settled and checked against jounce's before it is measured."""
    instance = core.open(0, {"init.speed": SPEED})
    rests = {}
    for w in WHEELS:
        axle = "front" if w[0] == "F" else "rear"
        length = core.output(instance, f"wheel_{w}.spring_length")
        d = length - vehicle[f"{axle}.spring.rest_length"]
        stiffness = vehicle[f"{axle}.spring.k1"] + 3.0 * vehicle[f"{axle}.spring.k3"] * d * d
        rests[w] = Rest(length, core.output(instance, f"wheel_{w}.spring_force"), stiffness)
    height, hub = core.output(instance, "ref_frame.pos.z"), core.output(instance, "wheel_FL.pos.z")
    peer = MuJoCo(folder, vehicle, tree, rests, speed=SPEED, height=height, hub=hub)
    now = peer.choose(EULER)
    nv, rows = peer.sizes()
    print(f"MuJoCo: {nv} velocities, {rows} rows; after 3 s it drives {now.speed:.2f} m/s, the chassis stands"
          f" {now.height:.4f} m high (jounce {height:.4f}), the wheel centre {now.hub:.4f} m ({hub:.4f}); widest gap"
          f" of a loop {now.gap * 1e6:.1f} um; {now.iterations:.0f} solver iterations")
    if abs(now.height - height) > 0.01 or abs(now.hub - hub) > 0.005 or abs(now.speed - SPEED) > 0.5:
        raise RuntimeError("MuJoCo's vehicle does not stand and drive like jounce's")

    def subject(integrator: int, kind: int) -> Samples:
        peer.choose(integrator, settle=100)
        return peer.measure(kind, blocks=blocks, calls=max(calls // 10, 1))

    return {
        "MuJoCo: forward": partial(subject, EULER, MJ_FORWARD),
        "MuJoCo: step, Euler": partial(subject, EULER, MJ_STEP),
        "MuJoCo: step, implicitfast": partial(subject, IMPLICIT_FAST, MJ_STEP),
        "MuJoCo: step, RK4": partial(subject, MJ_RK4, MJ_STEP),
    }


def pinocchio(folder: Path, vehicle: Vehicle, tree: Tree, blocks: int, calls: int) -> dict[str, Subject]:
    """Pinocchio's vehicle: opened and checked against the maximal-coordinate reference before it is measured."""
    state = probe(vehicle, tree)
    peer = Pinocchio(folder, tree, state)
    errors = [peer.error(kind, state) for kind in (CONSTRAINED, LOOP_ABA)]
    print(f"Pinocchio: {peer.nv} velocities, 36 rows; accelerations off the maximal-coordinate reference by"
          f" {errors[0]:.0e} (constraintDynamics) and {errors[1]:.0e} (lcaba, {peer.iterations()} iterations)")
    if max(errors) > 1e-6:
        raise RuntimeError("Pinocchio's vehicle is not jounce's")
    names = {
        "Pinocchio: open tree, aba": OPEN_TREE,
        "Pinocchio: constraintDynamics": CONSTRAINED,
        "Pinocchio: lcaba": LOOP_ABA,
        "Pinocchio: step, RK4, constraintDynamics": STEP_CONSTRAINED,
        "Pinocchio: step, RK4, lcaba": STEP_LOOP_ABA,
    }
    return {n: partial(peer.measure, kind, blocks=blocks, calls=max(calls // 10, 1)) for n, kind in names.items()}


def main() -> None:
    """Command line."""
    parser = loops(__doc__, 500, "calls a block of jounce; peers a tenth")
    parser.add_argument("--blocks", type=int, default=5, help="blocks a round")
    parser.add_argument("--without", nargs="*", default=[], choices=["mujoco", "pinocchio"], help="peers to leave out")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    print(machine(), versions("jounce", "mujoco", "pin"), sep="; ")

    vehicle = load_vehicle("hmmwv")
    tree, core = vehicle_tree(vehicle), Core(options.build)
    subjects, single = jounce_subjects(core, options.blocks, options.calls)
    peers: dict[str, Callable[[], dict[str, Subject]]] = {
        "mujoco": partial(mujoco, options.build, vehicle, tree, core, options.blocks, options.calls),
        "pinocchio": partial(pinocchio, options.build, vehicle, tree, options.blocks, options.calls),
    }
    for name, peer in peers.items():
        try:
            subjects |= {} if name in options.without else peer()
        except Unavailable as error:
            print(f"{name} left out: {error}")
    report(interleave(subjects, options.rounds), interleave(single, options.rounds), LANES[core.variants - 1])
    print(machine())


def report(blocks: dict[str, Samples], single: dict[str, Samples], lanes: str) -> None:
    """Tables: times with ratios to jounce's rhs and step, then the spread of single steps."""
    rhs, step = blocks[f"jounce {lanes}: rhs"], blocks[f"jounce {lanes}: step"]
    rows = []
    for name, samples in blocks.items():
        unit = step if "step" in name else rhs
        ratios = [samples.best() / unit.best(), min(samples.cpu) / min(unit.cpu),
                  samples.percentile(50) / unit.percentile(50)]
        times = [samples.best(), samples.percentile(50), min(samples.cpu)]
        rows.append([name, *(f"{t / 1e3:.2f}" for t in times), *(f"{r:.2f}" for r in ratios)])
    head = ["us a call; ratios to jounce's rhs or step", "best", "median", "best cpu", "ratio", "cpu", "median"]
    print(table(head, rows), end="\n\n")
    rows = [[name, *(f"{s.percentile(q) / 1e3:.2f}" for q in (50, 99, 99.9))] for name, s in single.items()]
    print(table(["single calls, wall, us", "p50", "p99", "p99.9"], rows))


if __name__ == "__main__":
    main()
