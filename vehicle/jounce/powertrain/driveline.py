"""Torques of the driveline and the rates of its states, from the speeds of engine, turbine and half shafts.

Three kinds of element: map torques (engine, converter), friction that holds (clutches, differentials and the parking
pawl: `jounce.contact.bristle`, whose number of states never changes), and shafts, whose inertia the vehicle's own
equations carry (`jounce.powertrain.ports`). With the half-shaft speeds h, the axle ratios i_f, i_r, the transfer ratio
i_t, the share b of the front, the gear G (all input over output):

    p_f = i_f (h_1 + h_2) / 2,  p_r = i_r (h_3 + h_4) / 2,  w_o = i_t (b p_f + (1 - b) p_r),  w_g = G w_o
    J_e w_e' = T_e - T_p - T_L - T_acc,   J_t w_t' = T_t + T_L - T_c

A torque goes back through the transposed ratios, so what one side loses the other gains. A differential of share b
passes b T - F and (1 - b) T + F, where F is friction between its outputs with the capacity
C_0 + lock C_lock + |T| (r - 1) / (r + 1) / 2: for a torque bias ratio r the slower side gets up to r times as much. In
the capacity T is the elastic part of what is in front, without its damping, so that it follows from states alone.

Sources: converter, T_p = c(nu) w_e |w_e|, T_t = R(nu) T_p (SAE J643; H. Wallentowitz, M. Mitschke, "Dynamik der
Kraftfahrzeuge", hydrodynamic converter). Bias ratio: V. Gleasman's Torsen, SAE 885140. Willans line of the fuel: L.
Guzzella, A. Sciarretta, "Vehicle Propulsion Systems", section 3.1.3. Energy: what comes in less what goes out is stored
or lost, each in a state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from jounce.brakes.hydraulics import pressure_rates
from jounce.contact.bristle import BREAKAWAY, NEAR
from jounce.math.algebra import SX, clipped, dot
from jounce.math.layout import Layout
from jounce.powertrain.elements import CAPACITY_LAG, Friction, biased, friction, loss_sign
from jounce.powertrain.layouts import FIRING, REPORT, given_of, numbers_of, states_of
from jounce.powertrain.train import TWO, Split, Train

__all__ = ["HELD", "HOLDS", "LANES", "STATES", "part_functions", "shafts_function", "sides", "whole_function"]


def states(train: Train) -> Layout:
    """The states in their order."""
    return Layout(**{state.name: 1 for state in states_of(train)})


STATES = states(TWO)
YIELDS = 0.5
"""Fraction of its capacity below which a clutch or the pawl does not yield: RK4 at 1 ms resolves the range above it."""

Numbers = Mapping[str, SX]


def _engine(x: Numbers, g: Numbers, n: Numbers) -> tuple[SX, SX, SX]:
    """(torque without starter [N.m], rate of the load [1/s], fuel rate [kg/s])."""
    speed = x["engine.speed"]
    firing = g["run"] * clipped((speed - n["stall_speed"]) / FIRING, 0.0, 1.0)
    idle = (n["idle_torque"] + n["idle_gain"] * (n["idle_speed"] - speed)) / ca.fmax(g["full_load"] - g["closed"], 1.0)
    wanted = ca.fmax(g["throttle"], clipped(idle, 0.0, 1.0))
    load = x["engine.load"] * clipped((n["limit_speed"] - speed) / n["limit_droop"], 0.0, 1.0) * firing
    fired = load * (g["full_load"] - g["closed"])
    fuel = ca.fmax(fired * speed, 0.0) / n["fuel"]
    return g["closed"] + fired, (wanted - x["engine.load"]) / n["engine_lag"], fuel


#: What holds two shafts together: state, difference of speeds, capacity [N.m], stiffness [N.m/rad].
HELD = Layout(windup=1, slip=1, capacity=1, stiffness=1)
#: Of it: torque, rate of the wind-up, power lost, energy stored.
HOLDS = Layout(torque=1, rate=1, lost=1, stored=1)


@dataclass(frozen=True)
class _Turning:
    """What turns with the half shafts."""

    speed: Callable[[int | Split], SX]
    """Speed of the shaft to an axle or a differential [rad/s]."""
    output: SX
    """Speed of the output shaft [rad/s]."""
    energy: SX
    """Of the shafts and carriers [J]."""


def _turning(h: SX, transfer: SX, n: Numbers, train: Train) -> _Turning:
    both = n.get("both", SX(1))
    carriers = [0.5 * (h[k] + h[k + 1]) for k in range(0, train.shafts, 2)]
    props = [n[f"{axle}_ratio"] * w for axle, w in zip(train.axles, carriers, strict=True)]

    def speed(of: int | Split) -> SX:
        return SX(train.speed(of, props, lambda split: n[split.share]))

    output = transfer * speed(train.centre)
    carried = [n["carrier_inertia"] * (both if k else 1) for k in range(len(carriers))]
    rotors = ((n["output_inertia"], output), (n["front_inertia"], speed(train.centre.near)),
              (n["rear_inertia"], speed(train.centre.far)),
              *((n["through_inertia"], speed(split.far)) for split in train.through),
              *zip(carried, carriers, strict=True))  # fmt: skip
    return _Turning(speed, output, sum((0.5 * j * w * w for j, w in rotors), SX(0)))


Law = Callable[..., Friction]


@dataclass(frozen=True)
class _Path:
    """The way of a torque from the gearbox to the axles."""

    g: Numbers
    n: Numbers
    train: Train
    output: SX
    """Speed of the output shaft [rad/s]."""

    @property
    def both(self) -> SX:
        """1; of `train.TWO` 0 where one axle alone is driven, which has no centre differential."""
        return self.n.get("both", SX(1))

    def onto_centre(self, clutch: SX, pawl: SX) -> tuple[SX, SX]:
        """(torque on the centre differential, what the gears lose) for those of gear clutch and pawl [N.m]."""
        gear = self.g["ratio"] * clutch
        lost = (1 - self.n["efficiency"]) * ca.fabs(gear) * loss_sign(self.output, self.n["loss_slope"])
        return self.g["transfer"] * (gear - lost - pawl), lost

    def onto_axles(self, torque: SX, rubs: Callable[[Split, SX], SX]) -> list[SX]:
        """Torques on the axles' differentials for that on the centre one.

        ``rubs``: friction from the near output on the far one, of a differential for the torque on it.
        """
        found = [SX(0)] * len(self.train.axles)

        def go(of: int | Split, torque: SX) -> None:
            if isinstance(of, int):
                found[of] = self.n[f"{self.train.axles[of]}_ratio"] * torque
                return
            share, between = self.n[of.share], self.both * rubs(of, torque)
            go(of.near, share * torque - between)
            go(of.far, (1 - share) * torque + between)

        go(self.train.centre, torque)
        return found

    def capacity(self, bias: str, torque: SX, locked: SX, of: str) -> SX:
        """Capacity of the friction between a differential's outputs [N.m]."""
        return biased(torque, self.n[bias], locked, self.n[f"{of}_friction"], self.n[f"{of}_lock"])


@dataclass(frozen=True)
class _Clutches:
    """Lock-up, gear clutch and parking pawl."""

    lock: Friction
    clutch: Friction
    pawl: Friction
    elastic: tuple[SX, SX]
    """Torques of gear clutch and pawl without their damping [N.m]."""


def _elastic(windup: SX, capacity: SX, stiffness: SX) -> SX:
    return clipped(stiffness * windup, -capacity, capacity)


def _clutches(x: Numbers, path: _Path, friction: Law) -> _Clutches:
    n, turbine, output = path.n, x["converter.turbine_speed"], path.output
    slips = {"lock": x["engine.speed"] - turbine, "clutch": turbine - path.g["ratio"] * output, "pawl": output}
    windups = {"lock": "converter.lock_windup", "clutch": "gearbox.clutch_windup", "pawl": "gearbox.pawl_windup"}
    shares = {"lock": "converter.locked", "clutch": "gearbox.engaged", "pawl": "gearbox.parked"}
    capacities = {of: ca.fmax(x[name], 0.0) * n[f"{of}_capacity"] for of, name in shares.items()}
    found = {of: friction(x[windups[of]], slip, capacities[of], n[f"{of}_stiffness"], n["damping"], n["rate_limit"],
                          YIELDS, None) for of, slip in slips.items()}  # fmt: skip
    clutch, pawl = (_elastic(x[windups[of]], capacities[of], n[f"{of}_stiffness"]) for of in ("clutch", "pawl"))
    return _Clutches(**found, elastic=(clutch, pawl))


def _differentials(x: Numbers, h: SX, path: _Path, speed: Callable[[int | Split], SX], elastic: SX,
                   friction: Law) -> tuple[dict[Split, Friction], list[Friction]]:  # fmt: skip
    """Friction of the differentials between shafts, and of those of the axles.

    ``elastic``: torque on the centre differential [N.m] without the damping of what is in front.
    """
    g, n, train = path.g, path.n, path.train
    law = n["differential_damping"], n["rate_limit"]
    between: dict[Split, SX] = {}

    def wound(split: Split, torque: SX) -> SX:
        """Elastic part of the friction of a differential between shafts, whose capacity is kept."""
        locked = g[split.lock] if split.axle else ca.fmax(g["centre_lock"], g["centre_range"])
        between[split] = path.capacity(f"{split.kind}_bias", path.both * torque, locked, split.kind)
        return _elastic(x[split.windup], between[split], n[split.stiffness])

    capacities = [path.capacity(f"{axle}_bias", torque, g[f"{axle}_lock"], "axle")
                  for axle, torque in zip(train.axles, path.onto_axles(elastic, wound), strict=True)]  # fmt: skip
    splits = {split: friction(x[split.windup], path.both * (speed(split.near) - speed(split.far)), between[split],
                              n[split.stiffness], *law) for split in train.splits}  # fmt: skip
    axles = [friction(x[f"differential.{axle}.windup"], h[2 * k] - h[2 * k + 1], capacities[k],
                      n[f"axle_stiffness_{axle}"], *law) for k, axle in enumerate(train.axles)]  # fmt: skip
    return splits, axles


def driveline(x: Numbers, h: SX, g: Numbers, n: Numbers, train: Train = TWO,
              friction: Law = friction) -> tuple[SX, SX, SX]:  # fmt: skip
    """(torques on the half shafts [N.m], rates of the states, REPORT) at the half-shaft speeds ``h`` [rad/s].

    ``friction``: as `elements.friction`; it is asked for lock-up, gear clutch and pawl, then the differentials of
    ``train`` between shafts and those of the axles. What it is asked does not depend on its answers.
    """
    engine, turbine = x["engine.speed"], x["converter.turbine_speed"]
    turns = _turning(h, g["transfer"], n, train)
    path = _Path(g, n, train, turns.output)
    fired, load_rate, fuel_rate = _engine(x, g, n)
    started = g["start"] * g["run"] * n["start_torque"] * clipped((n["idle_speed"] - engine) / FIRING, 0.0, 1.0)
    accessories = n["accessories"] * clipped(engine / FIRING, -1.0, 1.0)
    pump = g["coefficient"] * engine * ca.fabs(engine)
    turbine_torque = g["torque_ratio"] * pump
    held = _clutches(x, path, friction)
    lock, clutch, pawl = held.lock, held.clutch, held.pawl
    splits, axles = _differentials(x, h, path, turns.speed, path.onto_centre(*held.elastic)[0], friction)
    onto_centre, rubbed = path.onto_centre(clutch.torque, pawl.torque)
    on_axles = path.onto_axles(onto_centre, lambda split, _: splits[split].torque)
    halves = ca.vertcat(*(0.5 * torque + sign * axle.torque for axle, torque in zip(axles, on_axles, strict=True)
                          for sign in (-1, 1)))  # fmt: skip
    frictions = (lock, clutch, pawl, *splits.values(), *axles)
    lost = sum((f.lost for f in frictions), pump * engine - turbine_torque * turbine + rubbed * turns.output)
    front_rate, rear_rate = pressure_rates(x, g, n)
    towards = {name: clipped((g[of] - x[name]) / CAPACITY_LAG, -n["release_rate"], n["engage_rate"])
               for name, of in (("gearbox.engaged", "clutch"), ("converter.locked", "lock"),
                                ("gearbox.parked", "pawl"))}  # fmt: skip
    rates = states(train).join(**{
        "engine.speed": (fired + started - pump - lock.torque - accessories) / n["engine_inertia"],
        "converter.turbine_speed": (turbine_torque + lock.torque - clutch.torque) / n["turbine_inertia"],
        "engine.load": load_rate, "engine.fuel": fuel_rate,
        "gearbox.clutch_windup": clutch.rate, "converter.lock_windup": lock.rate, "gearbox.pawl_windup": pawl.rate,
        **{f"differential.{axle}.windup": f.rate for axle, f in zip(train.axles, axles, strict=True)},
        **{split.windup: f.rate for split, f in splits.items()},
        "energy.engine": (fired + started) * engine, "energy.losses": lost + accessories * engine,
        "energy.delivered": dot(halves, h), "brake.front_pressure": front_rate, "brake.rear_pressure": rear_rate,
        **towards,
    })  # fmt: skip
    rotors = ((n["engine_inertia"], engine), (n["turbine_inertia"], turbine))
    stored = sum((f.stored for f in frictions), sum((0.5 * j * w * w for j, w in rotors), SX(turns.energy)))
    report = REPORT.join(engine=fired + started, gear=g["ratio"] * clutch.torque - rubbed, fuel_rate=fuel_rate,
                         output_speed=turns.output, stored=stored, shafts=turns.energy)  # fmt: skip
    return halves, rates, report


def _symbols(train: Train) -> tuple[list[SX], tuple[Numbers, SX, Numbers, Numbers, Train]]:
    """(inputs of the functions, arguments of `driveline`)."""
    x, g, n = states(train), given_of(train), numbers_of(train)
    sizes = {"x": x.size, "h": train.shafts, "g": g.size, "n": n.size}
    inputs = [SX.sym(name, size) for name, size in sizes.items()]
    return inputs, (x.split(inputs[0]), inputs[1], g.split(inputs[2]), n.split(inputs[3]), train)


def shafts_function(train: Train = TWO) -> ca.Function:
    """shafts(half-shaft speeds [rad/s], transfer ratio, numbers) -> energy of shafts and carriers [J]."""
    h, transfer, n = SX.sym("h", train.shafts), SX.sym("t"), SX.sym("n", numbers_of(train).size)
    energy = _turning(h, transfer, numbers_of(train).split(n), train).energy
    return ca.Function("shafts", [h, transfer, n], [ca.cse(energy)])


def whole_function(train: Train = TWO) -> ca.Function:
    """driveline(states, half-shaft speeds, given, numbers) -> half-shaft torques, rates, REPORT."""
    inputs, arguments = _symbols(train)
    made = driveline(*arguments)
    return ca.Function("driveline", inputs, [ca.cse(v) for v in made])


#: What holds is computed side by side, clutches and differentials, in rows of a multiple of that many numbers.
LANES = 4
_CLUTCHES = 3


def sides(train: Train) -> int:
    """Numbers in a row of what stands side by side: differentials, or the chassis, every carrier and the arm."""
    return -(-max(train.held, len(train.axles) + 2) // LANES) * LANES


def part_functions(train: Train = TWO) -> tuple[list[ca.Function], list[ca.Function]]:
    """The same in parts, between which what holds is computed side by side.

    driveline_held(inputs of `whole_function`) -> HELD of the clutches and of the differentials, each by rows of
    `sides`; driveline(the same inputs, HOLDS of both by rows) -> as there; and of one lane hold_clutch, hold_axle(HELD,
    [damping, rate limit]) -> HOLDS. Returns the functions of one lane, and those of lanes.
    """
    inputs, arguments = _symbols(train)
    row = sides(train)
    results = [SX.sym(f"f{k}", row * HOLDS.size) for k in range(2)]
    asked: tuple[list[list[SX]], list[list[SX]]] = ([], [])

    def recorded(windup: SX, slip: SX, capacity: SX, stiffness: SX, *_law: SX | float) -> Friction:
        group = int(len(asked[0]) == _CLUTCHES)
        lane = len(asked[group])
        asked[group].append([windup, slip, capacity, stiffness])
        return Friction(*(results[group][row * k + lane] for k in range(HOLDS.size)))

    made = driveline(*arguments, recorded)
    idle = [SX(0), SX(0), SX(0), SX(1)]  # on the lanes that are left: divides by no zero
    rows = [ca.densify(ca.vertcat(*(held[k] for k in range(HELD.size) for held in (*of, *[idle] * (row - len(of))))))
            for of in asked]  # fmt: skip
    scalars = [ca.Function("driveline_held", inputs, [ca.cse(row) for row in rows]),
               ca.Function("driveline", [*inputs, *results], [ca.cse(v) for v in made])]  # fmt: skip
    held, law = SX.sym("w", HELD.size), SX.sym("d", 2)
    lanes = []
    for name, *law_ in (("hold_clutch", YIELDS, None), ("hold_axle", BREAKAWAY, NEAR)):
        windup, slip, capacity, stiffness = (held[k] for k in range(HELD.size))
        f = friction(windup, slip, capacity, stiffness, law[0], law[1], *law_)
        lanes.append(ca.Function(name, [held, law], [ca.cse(ca.vertcat(f.torque, f.rate, f.lost, f.stored))]))
    return scalars, lanes
