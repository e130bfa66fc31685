"""The page of a running session from the command line: finds the session, or makes one that drives by itself."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import math
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from jounce.models.impulse.signals import Truck
from jounce.terrain.packed import Terrain
from jounce.values import number
from jounce_client import AsyncClient, Client, JounceError, Pacing, Session, Tls
from jounce_fmu.importer.tables import model_table
from jounce_fmu.models.roads import on_road
from jounce_tools.demo.run import DemoError, hosting, serving
from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Car, State, driver_inputs, measure
from jounce_tools.manoeuvres.places import There
from jounce_tools.pairs import pairs
from jounce_tools.view import live
from jounce_tools.view.look import look_of, undrawn

#: Of the demonstration: speed [m/s], time between two commands [ticks], sway of the path [m] and its length [m].
_SPEED, _PERIOD, _SWAY, _LENGTH = 10.0, 10, 2.0, 60.0
#: Inputs of a truck that the demonstration sets, if it has them; torque of all wheels [N.m], steering wheel [rad].
_TRUCKS, _PUSH, _TURN = ("drive.target_speed", "drive.max_torque", "steering_wheel_angle"), 2e4, 0.5
_DRIVER = "driver"
_FAILED = 1


def watched(arguments: argparse.Namespace, terrain: Terrain | None, truck: Truck | None) -> int:
    """Shows a session of a server until Ctrl-C. Raises UsageError."""
    parameters = {name: _number(name, text) for name, text in pairs(arguments.set).items()}
    tls = Tls(ca=arguments.tls_ca) if arguments.tls_ca else None

    async def shown() -> None:
        async with await AsyncClient.connect(arguments.address, tls=tls, token=arguments.token) as client:
            session = await _session(client, arguments)
            await _show(client, session, parameters, terrain, truck, arguments)

    return _run(shown())


def demonstrated(arguments: argparse.Namespace, terrain: Terrain | None, truck: Truck | None) -> int:
    """Starts a server, drives a vehicle in real time and shows it until Ctrl-C. Raises UsageError, DataError."""
    vehicle = arguments.vehicle or "hmmwv"
    if terrain is not None:
        vehicle = str(on_road(vehicle, arguments.terrain))
    name, code = model_table(vehicle).name, _FAILED
    with tempfile.TemporaryDirectory() as folder:
        try:
            sys.stderr.write("starting a server ...\n")
            with serving(Path(folder), *hosting(vehicle)) as (_, address), _driven(address, name, terrain) as session:
                async def shown() -> None:
                    async with await AsyncClient.connect(address) as client:
                        await _show(client, session, {}, terrain, truck, arguments)

                code = _run(shown())
        except (DemoError, JounceError) as error:
            if code == 0:  # Ctrl-C of a terminal has ended the server as well
                return code
            sys.stderr.write(f"jounce view: {error}\n")
            return _FAILED
    return code


async def _session(client: AsyncClient, arguments: argparse.Namespace) -> Session:
    """The session that the options name, or the only one."""
    named, token = arguments.session, arguments.session_token
    if named is None:
        found = [s.session_id for s in await client.list_sessions()]
        if len(found) != 1:
            raise UsageError(f"{len(found)} sessions{': ' if found else ''}{', '.join(found)}; expected --session ID")
        named = found[0]
    status = await client.get_session(Session(named, token))
    return Session(named, token, status.tick_seconds, status.model)


async def _show(client: AsyncClient, session: Session, parameters: Mapping[str, float], terrain: Terrain | None,
                truck: Truck | None, arguments: argparse.Namespace) -> None:  # fmt: skip
    look = look_of(await client.describe(session.model), parameters, truck)
    if told := undrawn(look):
        sys.stderr.write(f"{told}\n")
    if terrain is None and look.ground is None and look.road is None:
        sys.stderr.write("the ground is not a plane and is not drawn; --road FILE shows it\n")
    shown = live.Shown(client, session, look, terrain, control=bool(session.token))
    ended = asyncio.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, ended.set)
    async with _listening(shown, arguments) as port:
        host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
        sys.stdout.write(f"open http://{host}:{port} in a browser; Ctrl-C ends\n")
        sys.stdout.flush()
        await ended.wait()


@contextlib.asynccontextmanager
async def _listening(shown: live.Shown, arguments: argparse.Namespace) -> AsyncIterator[int]:
    async with contextlib.AsyncExitStack() as stack:
        try:
            server = await stack.enter_async_context(live.serving(shown, arguments.host, arguments.port))
        except OSError as error:
            raise UsageError(f"--host {arguments.host} --port {arguments.port}: {error.strerror or error}") from error
        yield next(iter(server.sockets)).getsockname()[1]


def _run(shown: Any) -> int:
    try:
        asyncio.run(shown)
    except JounceError as error:
        sys.stderr.write(f"jounce view: {error}\n")
        return _FAILED
    return 0


def _number(name: str, text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"--set {name}={text}: expected NAME=VALUE with a finite number")
    return value


@contextlib.contextmanager
def _driven(address: str, model: str, terrain: Terrain | None) -> Iterator[Session]:
    """A session in real time with a driver, who sways along the road and begins again at its end."""
    place = There(Client.connect(address), model)
    try:
        if _TRUCKS[0] in place.inputs:  # a truck, which holds a speed by itself
            drive: Callable[..., None] = partial(_pushed, names=[n for n in _TRUCKS if n in place.inputs])
        elif "steering_wheel_angle" in place.inputs:
            drive = partial(_drive, car=measure(place, {}), length=_length(terrain))
        else:
            raise UsageError(f"--demo {model}: no input steering_wheel_angle; expected a vehicle that can be steered")
    finally:
        place.close()
    with (
        Client.connect(address) as client,
        client.create_session(
            model, {"init.speed": _SPEED}, participants=[_DRIVER], pacing=Pacing(overrun="SLIP")
        ) as session,
    ):
        stop = threading.Event()
        thread = threading.Thread(target=drive, args=(client, session, stop), daemon=True)
        thread.start()
        try:
            yield session
        finally:
            stop.set()
            thread.join(5.0)


def _length(terrain: Terrain | None) -> float:
    return math.inf if terrain is None else max(terrain.length - 10.0, 10.0)


def _pushed(client: Client, session: Session, stop: threading.Event, *, names: list[str]) -> None:
    """Holds a truck's speed and turns its wheel to and fro, once in `_LENGTH`."""
    with contextlib.suppress(JounceError), client.join(
            session, _DRIVER, owns=names, wants=["speed"], period=_PERIOD) as member:  # fmt: skip
        turn = 2.0 * math.pi * _SPEED / _LENGTH * _PERIOD * session.tick_seconds
        for k in itertools.count():
            if stop.is_set():
                return
            member.step([_SPEED, _PUSH, _TURN * math.sin(turn * k)][: len(names)])


def _drive(client: Client, session: Session, stop: threading.Event, *, car: Car, length: float) -> None:
    wants = ["ref_frame.pos", "ref_frame.yaw", "speed"]
    with contextlib.suppress(JounceError), client.join(
            session, _DRIVER, owns=driver_inputs(car.wheels), wants=wants, period=_PERIOD) as member:  # fmt: skip
        state: State = member.start
        while not stop.is_set():
            if float(state["ref_frame.pos"][0]) > length:
                client.reset(session)
                state = member.sync()
            try:
                state = member.step(steered(car, state))
            except JounceError as error:
                if error.reason != "WRONG_EPOCH":
                    raise
                state = member.sync()


def steered(car: Car, state: State) -> list[float]:
    """Steering-wheel angle [rad], then drive and brake torques [N.m]: along a sine, at the demonstration's speed."""
    x, y, _ = (float(v) for v in state["ref_frame.pos"])
    wave = 2.0 * math.pi / _LENGTH
    target, slope = _SWAY * math.sin(wave * x), _SWAY * wave * math.cos(wave * x)
    heading = math.atan(slope) + max(-0.2, min(0.2, 0.15 * (target - y)))
    turn = math.remainder(heading - float(state["ref_frame.yaw"]), 2.0 * math.pi)
    angle = max(-car.most_steering, min(car.most_steering, car.ratio * max(-0.3, min(0.3, 0.7 * turn))))
    torque = car.mass * car.radius * 0.8 * (_SPEED - float(state["speed"]))
    driven = max(0.0, min(torque, 0.4 * car.mass * car.gravity * car.radius)) / max(len(car.driven), 1)
    braked = max(0.0, min(-torque, 0.4 * car.mass * car.gravity * car.radius)) / len(car.wheels)
    return [angle, *(driven if w in car.driven else 0.0 for w in car.wheels), *[braked] * len(car.wheels)]
