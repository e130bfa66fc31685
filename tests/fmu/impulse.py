"""Small multibodies for tests of the impulse engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jounce.architecture.target import GROUND, Body, Joint, Limit, Motor, Multibody, Spring, Wheel
from jounce.architecture.trim import trimmed

Array = NDArray[np.float64]
UP, LEFT = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


def pendulum(inertia: float = 0.02) -> Multibody:
    """1 kg, 1 m from a hinge about y, at 60 degrees."""
    com = np.array([np.sin(np.pi / 3), 0.0, -np.cos(np.pi / 3)])
    hinge = Joint("hinge", "hinge", 0, GROUND, np.zeros(3), np.zeros(3), LEFT)
    return Multibody("pendulum", (Body("bob", 1.0, com, inertia * np.eye(3)),), (hinge,))


def oscillator(omega: float, zeta: float) -> Multibody:
    """1 kg on a spring along z, without gravity."""
    spring = Spring("spring", 0, GROUND, UP, np.zeros(3), omega**2, 2 * zeta * omega, UP)
    return Multibody("oscillator", (Body("mass", 1.0, UP, np.eye(3)),), springs=(spring,), gravity=0.0)


def frame4(gravity: float = 9.81) -> Multibody:
    """A frame and four wheels on vertical springs, tires as springs: the paper's second test of frequencies."""
    places = [(1.6, 0.8), (1.6, -0.8), (-1.8, 0.75), (-1.8, -0.75)]
    bodies = [Body("frame", 2000.0, UP, np.diag([600.0, 3000.0, 3500.0]))]
    joints, springs = [], []
    for k, ((x, y), mass, stiffness) in enumerate(zip(places, (40, 40, 55, 55), (3e4, 3e4, 4e4, 4e4), strict=True)):
        at = np.array([x, y, 0.4])
        bodies.append(Body(f"wheel{k}", mass, at, np.eye(3)))
        joints.append(Joint(f"slider{k}", "slider", 1 + k, 0, at, at, UP))
        springs.append(Spring(f"spring{k}", 0, 1 + k, at + 0.6 * UP, at, stiffness, 0.0, UP))
        springs.append(Spring(f"tire{k}", 1 + k, GROUND, at, at * [1, 1, 0], 2e5, 0.0, UP))
    model = Multibody("frame4", tuple(bodies), tuple(joints), tuple(springs), gravity=gravity)
    return trimmed(model) if gravity else model


def cart(**wheel: float) -> Multibody:
    """A frame on four wheels: hinges on axles that slide along z, the rear ones driven."""
    places = [(1.6, 0.8), (1.6, -0.8), (-1.8, 0.75), (-1.8, -0.75)]
    bodies = [Body("frame", 2000.0, UP + [0.1, 0.02, 0], np.diag([600.0, 3000.0, 3500.0]))]
    joints, springs, wheels = [], [], []
    for k, (x, y) in enumerate(places):
        at = np.array([x, y, 0.4])
        bodies += [Body(f"axle{k}", 30.0, at, 0.5 * np.eye(3)), Body(f"wheel{k}", 40.0, at, np.diag([1.0, 1.8, 1.0]))]
        joints.append(Joint(f"slider{k}", "slider", 1 + 2 * k, 0, at, at, UP))
        joints.append(Joint(f"hinge{k}", "hinge", 2 + 2 * k, 1 + 2 * k, at, at, LEFT))
        springs.append(Spring(f"spring{k}", 0, 1 + 2 * k, at + 0.6 * UP, at, 4e4, 3e3, UP))
        made = Wheel(f"wheel{k}", 2 + 2 * k, 1 + 2 * k, at, LEFT, 0.4, 2e5, 500.0, 1.2e5, 0.5, 0.8, driven=k > 1)
        wheels.append(replace(made, **wheel))  # type: ignore[arg-type]
    return trimmed(Multibody("cart", tuple(bodies), tuple(joints), tuple(springs), wheels=tuple(wheels)))


def direction(r: np.random.Generator) -> Array:
    """A unit vector."""
    v = r.normal(size=3)
    return v / np.linalg.norm(v)


def anything(r: np.random.Generator) -> Multibody:
    """One to three bodies on random joints, with springs, a motor, a limit, and two wheels."""
    n = int(r.integers(1, 4))
    bodies, joints = [], []
    for k in range(n):
        turn, _ = np.linalg.qr(r.normal(size=(3, 3)))
        com = r.uniform(-1, 1, 3) * [1, 1, 0.2] + [0, 0, 0.8]
        bodies.append(Body(f"body{k}", r.uniform(1, 5), com, turn @ np.diag(r.uniform(0.5, 1, 3)) @ turn.T))
    for k in range(n):
        kind, b = str(r.choice(["ball", "hinge", "slider", "line", "rod"])), int(r.integers(-1, k)) if k else GROUND
        p = r.uniform(-1, 1, 3)
        q = p + r.uniform(0.5, 1) * direction(r) if kind == "rod" else p
        joints.append(Joint(f"joint{k}", kind, k, b, p, q, direction(r), float(np.linalg.norm(p - q))))
    other = 0 if n > 1 else GROUND
    springs = [
        Spring("first", 0, GROUND, r.uniform(-1, 1, 3), r.uniform(-1, 1, 3), 100.0, r.uniform(1, 20), None, 5.0),
        Spring("second", n - 1, other, r.uniform(-1, 1, 3), r.uniform(-1, 1, 3), 200.0, 9.0, direction(r), -3.0),
    ]
    at = r.uniform(-1, 1, 3)
    limit = Limit("limit", "along", 0, GROUND, at, at, direction(r), -r.uniform(0, 0.02), 1.0)
    wheels = []
    for k in range(2):
        com, angle = bodies[k % n].com, r.uniform(0, 6)
        wheels.append(Wheel(f"wheel{k}", k % n, GROUND, com + r.uniform(-0.3, 0.3, 3) * [1, 1, 0],
                            np.array([np.cos(angle), np.sin(angle), 0.0]), float(com[2] + r.uniform(-0.02, 0.05)),
                            1e4, r.uniform(20, 200), 3e3, 0.5, r.uniform(0.2, 1.2)))  # fmt: skip
    motor = Motor("motor", n - 1, other, direction(r), 1.0)
    return Multibody("anything", tuple(bodies), tuple(joints), tuple(springs), (motor,), (limit,), tuple(wheels))


def ball() -> Multibody:
    """A ball of 1 kg, 1 m above the ground."""
    centre = 1.1 * UP
    wheel = Wheel("ball", 0, GROUND, centre, LEFT, 0.1, 1e5, 1.0, 1e5, 0.5, 0.0)
    return Multibody("ball", (Body("ball", 1.0, centre, 0.004 * np.eye(3)),), wheels=(wheel,))
