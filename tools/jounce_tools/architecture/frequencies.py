"""Natural frequencies of a built vehicle in two ways: modes of the engine's step, and spectra of a run over bumps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jounce import dft, spectrum
from jounce.architecture.layout import Piece, layout
from jounce.architecture.target import Body, Multibody
from jounce.spectrum import Mode
from jounce_fmu.models.impulse.engine import Engine
from jounce_tools.errors import UsageError

Array = NDArray[np.float64]

#: Friction of the modes: so large that no tire slides.
_HELD = 1e3
#: Largest torque with which a driven wheel holds its speed over a row of bumps [N m].
_TORQUE = 1e4
#: Highest frequency [Hz] and root mean square of the rate [m/s] of a white road: so small that no tire leaves it.
_HIGHEST, _RATE = 25.0, 0.02
#: From the first wheel to the first bump [m].
_AHEAD = 1.0
#: Velocity [m/s] and angular velocities [rad/s] that the first body of a vehicle without wheels starts with.
_KICK = np.array([0.02, 0.03, 0.1, 0.1, 0.05, 0.02])


@dataclass(frozen=True)
class Road:
    """How the vehicle is excited."""

    speed: float = 5.0
    """[m/s]"""
    height: float = 0.06
    """Of a bump (1 - cos)/2 [m]."""
    length: float = 1.0
    """Of a bump [m]."""
    bumps: int = 1
    pitch: float = 5.0
    """From one to the next [m]."""


@dataclass(frozen=True)
class Frequencies:
    """What was found."""

    model: Multibody
    tick_length: float
    """Length of a tick [s]."""
    modes: tuple[Mode, ...]
    road: Road
    spectra: tuple[dft.Spectrum, ...]
    """Of the vertical acceleration of each body."""
    bodies: tuple[Body, ...]
    """Those; wheels that are rotors of their carriers are part of these."""

    speed: float
    """Mean of what is transformed [m/s]."""

    @property
    def lines(self) -> float:
        """Distance of the lines that a row of bumps excites, v / pitch [Hz]; 0 for a single one."""
        return self.speed / self.road.pitch if self.road.bumps > 1 else 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the bodies."""
        return tuple(b.name for b in self.bodies)


def damped(model: Multibody, factor: float) -> Multibody:
    """The same with all dampers and tires damped by a factor of what they were."""
    return replace(model, springs=tuple(replace(s, damping=factor * s.damping) for s in model.springs),
                   wheels=tuple(replace(w, damping=factor * w.damping) for w in model.wheels))  # fmt: skip


def modes(model: Multibody, tick_length: float, friction: float = _HELD) -> tuple[Mode, ...]:
    """Modes of a tick of that length [s] about rest, of a trimmed model whose tires have that friction."""
    made = layout(model)
    engine = Engine(made, tick_length)
    engine.start()
    engine.friction[:] = friction

    def step(x: Array) -> Array:
        engine.motion[:] = x
        engine.run(1)
        return engine.motion.copy()

    matrix = spectrum.step_map(step, engine.motion.copy(), len(made.model.bodies), len(made.spins))
    return tuple(spectrum.modes(matrix, tick_length))


def study(model: Multibody, *, tick_length: float, road: Road, duration: float) -> Frequencies:
    """Modes, and spectra of that long a time [s] behind the bumps, or over them where they are more than one.

    Raises UsageError for a road that cannot be driven, EngineFault where the run ends.
    """
    if not road.bumps >= 1 or (road.bumps > 1 and road.pitch < road.length):
        raise UsageError(f"--bumps {road.bumps}: expected 1 or more, and a pitch of at least their length")
    front = max((w.centre[0] for w in model.wheels), default=0.0)
    rear = min((w.centre[0] for w in model.wheels), default=0.0)
    pieces = [Piece(front + _AHEAD, road.height, length=road.length, pitch=road.pitch, count=road.bumps)]
    row = road.bumps > 1  # over many bumps the driven wheels hold the speed, else its lines smear
    made = layout(model, road=pieces if model.wheels else (), wheel_motors=row)
    engine = Engine(made, tick_length)
    _set_off(engine, road.speed)
    for k, (what, wheel) in enumerate(made.motors):
        if what == "drive":
            engine.motors[k] = road.speed / model.wheels[wheel].centre[2], _TORQUE
    engine.start()
    count = len(engine.bodies)
    watch = [7, *(13 * b + 9 for b in range(count))]
    first = 0
    if not row and model.wheels:  # what rings on when the last wheel is past it
        first = round((_AHEAD + road.length + front - rear + model.wheels[0].radius) / road.speed / tick_length)
    elif row:
        duration = min(duration, (road.bumps * road.pitch + front - rear) / road.speed)
    velocity = engine.run(first + round(duration / tick_length) + 1, watch)[first:]
    acceleration = np.diff(velocity[:, 1:], axis=0) / tick_length
    spectra = tuple(dft.of(a, tick_length, decaying=not row) for a in acceleration.T)
    speed = float(velocity[:, 0].mean())
    return Frequencies(model, tick_length, modes(model, tick_length), road, spectra, made.model.bodies, speed)


@dataclass(frozen=True)
class Transfer:
    """From the rate of the road under the first wheels to what bodies do, by a road that is white in its rate."""

    frequency: Array
    """[Hz]"""
    gain: Array
    """(bodies, frequencies) complex: vertical acceleration over the road's rate [1/s]."""


def transfer(model: Multibody, *, tick_length: float, speed: float, duration: float) -> Transfer:
    """Drives over a road whose rate has the same amplitude at every multiple of 1 / duration up to `_HIGHEST`.

    Each wheel meets the road later, by its distance behind the first over the speed [m/s]. The road repeats itself, so
    the second time over it has no leakage (Pintelon, Schoukens 2012, "System identification", section 2.3: multisine
    with random phases). Raises UsageError without a wheel, EngineFault where the run ends.
    """
    if not model.wheels:
        raise UsageError("--road white: expected an architecture with wheels")
    count = round(duration / tick_length)
    lines = np.arange(1, int(_HIGHEST * count * tick_length) + 1)
    phase = np.random.default_rng(1).uniform(0, 2 * np.pi, len(lines))
    made = layout(model)
    front = max(w.centre[0] for w in model.wheels)
    delays = np.array([(front - w.centre[0]) / speed for w, _ in made.contacts])
    omega = 2 * np.pi * lines / (count * tick_length)
    amplitude = _RATE * np.sqrt(2.0 / len(lines))
    late = np.exp(-1j * omega[:, None] * delays)

    def over(waves: Array, at: float) -> Array:
        """(count, contacts) of one period, sampled at ticks + at [s]."""
        spectrum_of = np.zeros((count // 2 + 1, len(delays)), dtype=complex)
        spectrum_of[lines] = (waves * np.exp(1j * (phase + omega * at)))[:, None] * late * (0.5 * count)
        return np.fft.irfft(spectrum_of, count, axis=0)

    height = over(amplitude / (1j * omega), 0.0)
    half = [over(amplitude / (1j * omega), at * tick_length) for at in (-0.5, 0.5)]
    ground = np.stack([height, (half[1] - half[0]) / tick_length], axis=2)
    engine = Engine(made, tick_length)
    _set_off(engine, speed)
    engine.start()
    watch = [13 * b + 9 for b in range(len(engine.bodies))]
    engine.run(count, (), ground)
    before = engine.x[watch].copy()
    velocity = engine.run(count, watch, ground)
    acceleration = np.diff(np.vstack([before, velocity]), axis=0) / tick_length
    found = np.fft.rfft(acceleration, axis=0)[lines] / (0.5 * count)
    frequency = (omega / (2 * np.pi)).astype(np.float64)
    return Transfer(frequency, (found / (amplitude * np.exp(1j * phase))[:, None]).T)


def _set_off(engine: Engine, speed: float) -> None:
    """Gives all bodies the speed and lets the wheels roll; without wheels, pushes the first body."""
    model, spins = engine.layout.model, engine.layout.spins
    if not model.wheels:
        engine.bodies[0, 7:] = _KICK
        return
    engine.bodies[:, 7] = speed
    for k, wheel in enumerate(model.wheels):
        rate = speed / wheel.centre[2]
        if k in spins:
            engine.x[13 * len(model.bodies) + 2 * spins.index(k) + 1] = rate
        else:
            engine.bodies[wheel.body, 10:] = rate * wheel.axis
