"""The functions that are emitted as C, chained as the C glue chains them, as one CasADi expression to integrate.

Beside the accelerations: the reported energies and steering load, and the power of every load that is not
conservative, from the loads' own points and axes.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from ce import Ce
from numpy.typing import NDArray

from jounce.contact import tires, wheel
from jounce.data import Vehicle
from jounce.dynamics import articulated
from jounce.dynamics.schedule import compose
from jounce.math.algebra import rotation
from jounce.math.layout import Layout
from jounce.models.double_wishbone import outputs as reports
from jounce.models.double_wishbone.schedule import EVALUATION, MOTION, REPORTS
from jounce.suspension import double_wishbone as corner

Array = NDArray[np.float64]
SX = ca.SX

STATES = Layout(position=3, quaternion=4, theta=4, spin=4, angular=3, linear=3, theta_rate=4, spin_rate=4, bristle=8,
                wind_up=4, rolled=4, turned=4, travelled=4, sliding=4)  # fmt: skip
#: arm: Pitman-arm angle, rate, acceleration; height of the ground plane; wrench: [moment; force] on the chassis
#: about its origin, chassis axes.
INPUTS = Layout(arm=3, drive=4, brake=4, height=1, friction=1, gravity=1, wrench=6)
#: energy_rate: derivative of kinetic + potential along the motion; the others after it are powers [W]: of tires
#: (or ground), shocks, drive and brake torques, the steering rig and the wrench.
BALANCE = Layout(kinetic=1, potential=1, steering_load=1, energy_rate=1, tires=1, shocks=1, drives=1, brakes=1,
                 steering=1, external=1)  # fmt: skip
#: What the independent system is told about a wheel: spring, shock, brake torque, world force and moment.
WHEELS = Layout(spring=1, shock=1, brake=1, force=3, moment=3, closure=1)


def state(**parts: object) -> Array:
    """States with the given parts, the others zero."""
    return _filled(STATES, {"quaternion": [1.0, 0.0, 0.0, 0.0], **parts})


def inputs(**parts: object) -> Array:
    """Inputs with the given parts; no gravity, the ground far below."""
    return _filled(INPUTS, {"height": -1e3, "friction": 0.9, **parts})


def part(x: Array, name: str) -> Array:
    """One part of the states."""
    return x[STATES.first[name] : STATES.first[name] + STATES.sizes[name]]


def _filled(layout: Layout, parts: dict[str, object]) -> Array:
    flat = np.zeros(layout.size)
    for name, value in parts.items():
        flat[layout.first[name] : layout.first[name] + layout.sizes[name]] = value
    return flat


class Chain:
    """One vehicle: `f(states, inputs)` -> rates, BALANCE, WHEELS by columns."""

    def __init__(self, vehicle: Vehicle) -> None:
        self.vehicle, self.ce = vehicle, Ce(vehicle)
        self.wheel = wheel.Wheel(tires.find(vehicle.tire))
        x, u = SX.sym("x", STATES.size), SX.sym("u", INPUTS.size)
        rate, balance, wheels = self._expressions(STATES.split(x), INPUTS.split(u))
        given = INPUTS.split(u)
        energy = balance["kinetic"] + balance["potential"]
        balance["energy_rate"] = ca.jtimes(energy, x, rate) + ca.jtimes(
            energy, u, ca.vertcat(given["arm"][1:], SX(INPUTS.size - 2, 1))
        )
        self.rate = ca.Function("rate", [x, u], [ca.cse(ca.vertcat(rate, balance["steering_load"]))])
        self.f = ca.Function("chain", [x, u], [rate, BALANCE.join(**balance), wheels])

    def _expressions(self, x: dict[str, SX], u: dict[str, SX]) -> tuple[SX, dict[str, SX], SX]:
        chassis = wheel.CHASSIS.join(**{k: x[k] for k in wheel.CHASSIS.sizes})
        omega, r = x["angular"], rotation(x["quaternion"])
        plane = {"ground": ca.vertcat(0, 0, u["height"]), "normal": SX([0, 0, 1]), "friction": u["friction"]}
        report = reports.NUMBERS.join(own=SX(self.ce.own), com=SX(3, 1), imu=SX(3, 1), gravity=u["gravity"])
        vectors = {
            **self.ce.vectors, "chassis numbers": report, "gravity": u["gravity"], "arm": u["arm"],
            "wrench": u["wrench"], "world wrench": SX(6, 1), "chassis": chassis, "quaternion": x["quaternion"],
            "angular": omega,
            "corner state": [ca.vertcat(x["theta"][k], x["theta_rate"][k], x["spin_rate"][k]) for k in range(4)],
            "wheel state": [self.wheel.states.join(bristle=x["bristle"][2 * k : 2 * k + 2], **{
                name: x[name][k] for name in self.wheel.states.sizes if name != "bristle"}) for k in range(4)],
            "own state": [reports.OWN.join(**{name: x[name][k] for name in reports.OWN.sizes}) for k in range(4)],
            "wheel inputs": [wheel.INPUTS.join(
                drive=u["drive"][k], brake=u["brake"][k], force=SX(3, 1), moment=SX(3, 1),
                point=SX(3, 1), **plane, height_only=0, external=0) for k in range(4)],
        }  # fmt: skip
        compose((*EVALUATION, *MOTION, *REPORTS[:2]), self.ce.functions, vectors)
        raw, results, back, felt = (vectors[name] for name in ("corner", "wheel", "back", "acceleration"))
        kinetic, height = ca.vertsplit(vectors["body"])
        balance = {name: SX(0) for name in BALANCE.sizes}
        told = []
        for k in range(4):
            c, hub = corner.OUTPUTS.split(raw[k]), self.wheel.results.split(results[k])
            load = articulated.LOADS.split(hub["loads"])
            share = reports.SHARE.split(vectors["share"][k])
            kinetic, height = kinetic + share["kinetic"], height + share["height"]
            balance["potential"] += share["springs"]
            balance["steering_load"] += share["steering"]
            carrier, spin = omega + c["upright_velocity"], x["spin_rate"][k]
            velocity = x["linear"] + ca.cross(omega, c["centre"]) + c["centre_velocity"]
            balance["tires"] += ca.dot(load["force"], velocity) + ca.dot(load["moment"], carrier + c["axis"] * spin)
            balance["shocks"] += c["shock_force"] * c["shock_rate"]
            balance["drives"] += load["drive"] * (spin + ca.dot(c["axis"], c["upright_velocity"]))
            balance["brakes"] += load["brake"] * spin
            told.append(WHEELS.join(spring=c["spring_force"], shock=c["shock_force"], brake=load["brake"],
                                    force=r @ load["force"], moment=r @ load["moment"],
                                    closure=c["closure"]))  # fmt: skip
        balance["kinetic"] = kinetic
        balance["potential"] += u["gravity"] * height
        balance["steering"] = -balance["steering_load"] * u["arm"][1]
        balance["external"] = ca.dot(u["wrench"], ca.vertcat(omega, x["linear"]))
        rates = [ca.vertsplit(self.wheel.results.split(r)["rates"], [0, 2, 3, 4, 5, 6, 7]) for r in results]
        names = ("bristle", "wind_up", "rolled", "turned", "travelled", "sliding")
        of_wheels = {name: ca.vertcat(*parts) for name, parts in zip(names, zip(*rates, strict=True), strict=True)}
        rate = STATES.join(
            position=vectors["rate of position"], quaternion=vectors["rate of quaternion"],
            linear=vectors["rate of linear"], theta=x["theta_rate"], spin=x["spin_rate"], angular=felt[:3],
            theta_rate=ca.vertcat(*(b[0] for b in back)),
            spin_rate=ca.vertcat(*(b[1] for b in back)), **of_wheels,
        )  # fmt: skip
        return rate, balance, ca.horzcat(*told)

    def integrate(self, start: Array, step: float, steps: int, given: Array, angle: Callable[[SX], SX] | None = None,
                  ) -> tuple[Array, Array]:  # fmt: skip
        """(states (steps + 1, n), work of the steering rig (steps + 1,) [J]) by RK4 from t = 0.

        `angle` is the Pitman-arm angle as an expression of time; None holds that of `given`.
        """
        x, t = SX.sym("x", STATES.size + 1), SX.sym("t")
        arm = SX(given[:3]) if angle is None else _motion(angle, t)
        u = ca.vertcat(arm, SX(given[3:]))
        y = SX.sym("y", STATES.size + 1)
        both = self.rate(y[:-1], u)
        rate = ca.Function("r", [y, t], [ca.vertcat(both[:-1], -both[-1] * arm[1])])
        k1 = rate(x, t)
        k2 = rate(x + step / 2 * k1, t + step / 2)
        k3 = rate(x + step / 2 * k2, t + step / 2)
        k4 = rate(x + step * k3, t + step)
        after = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        at = STATES.first["quaternion"]
        after[at : at + 4] /= ca.norm_2(after[at : at + 4])
        run = ca.Function("step", [x, t], [after]).mapaccum("run", steps)
        found = np.array(run(np.append(start, 0.0), step * np.arange(steps))).T
        found = np.vstack([np.append(start, 0.0), found])
        return found[:, :-1], found[:, -1]


def _motion(angle: Callable[[SX], SX], t: SX) -> SX:
    value = angle(t)
    rate = ca.jacobian(value, t)
    return ca.vertcat(value, rate, ca.jacobian(rate, t))

