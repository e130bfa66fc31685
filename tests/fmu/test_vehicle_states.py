"""The vehicle saved at 5 s by one process goes on to 10 s in another as if nothing had happened, bit for bit."""

from __future__ import annotations

import ctypes as ct
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from raw import OK, Raw
from raw3 import SCALARS, Raw3
from sensitivity import Vehicle

from jounce_fmu.importer.host import open_builtin

FACTORY = open_builtin()
TABLE = FACTORY.table
REALS = [s.value_reference for s in TABLE.outputs]
SPEED = TABLE.by_name("init.speed").value_reference
STEP, HALF, END = 20, 5000, 10000  # ticks of 1 ms: communication step, where it is saved, the end
Array = NDArray[np.float64]


def inputs(tick: int) -> Array:
    """A slalom with drive, brakes at last and a side wind."""
    t = 0.001 * tick
    named = {"steering_wheel_angle": 0.8 * math.sin(2.0 * t), "wheel_RL.drive_torque": 300.0,
             "wheel_RR.drive_torque": 250.0, "wheel_FL.brake_torque": 400.0 * (t > 7.0),
             "chassis.ext_force.y": 500.0 * math.cos(t)}  # fmt: skip
    return np.array([named.get(s.name, s.start) for s in TABLE.inputs])


class Steps2(Raw):
    """FMI 2 co-simulation."""

    def __init__(self) -> None:
        super().__init__(str(FACTORY.library), FACTORY.interface.guid)

    def begin(self) -> None:
        assert self.call("SetReal", ct.byref(ct.c_uint(SPEED)), ct.c_size_t(1), ct.byref(ct.c_double(10.0))) == OK
        self.ready()

    def give(self, u: Array) -> None:
        refs = (ct.c_uint * len(u))(*(s.value_reference for s in TABLE.inputs))
        assert self.call("SetReal", refs, ct.c_size_t(len(u)), (ct.c_double * len(u))(*u)) == OK

    def go(self, tick: int, n: int) -> None:
        assert self.step(0.001 * tick, 0.001 * n) == OK, self.log

    def shown(self) -> list[float]:
        values = (ct.c_double * len(REALS))()
        refs = (ct.c_uint * len(REALS))(*REALS)
        assert self.call("GetReal", refs, ct.c_size_t(len(REALS)), values) == OK
        return [*values]


class Steps3(Raw3):
    """FMI 3 co-simulation, the vectors' parts alone."""

    def __init__(self) -> None:
        super().__init__(str(FACTORY.library), FACTORY.interface.guid + SCALARS)

    def begin(self) -> None:
        assert self.values("Set", "Float64", [SPEED], (ct.c_double * 1)(10.0)) == OK
        self.ready()

    def give(self, u: Array) -> None:
        refs: list[str | int] = [s.value_reference for s in TABLE.inputs]
        assert self.values("Set", "Float64", refs, (ct.c_double * len(u))(*u)) == OK

    def go(self, tick: int, n: int) -> None:
        assert self.step(0.001 * tick, 0.001 * n) == OK, self.log

    def shown(self) -> list[float]:
        values = (ct.c_double * len(REALS))()
        assert self.values("Get", "Float64", [*REALS], values) == OK
        return [*values]


class Exchange(Vehicle):
    """Model exchange under an integrator that remembers nothing, the midpoint rule."""

    def __init__(self) -> None:
        super().__init__(str(FACTORY.library), FACTORY.interface.guid, TABLE, init__speed=10.0)

    def begin(self) -> None:
        """It is in motion already."""

    def give(self, u: Array) -> None:
        self.put(self.read(self.states), u)

    def go(self, tick: int, n: int) -> None:
        for _ in range(n):
            x, u = self.read(self.states), self.read(self.inputs)
            self.put(x + 0.0005 * self.read(self.rates), u)
            self.put(x + 0.001 * self.read(self.rates), u)

    def shown(self) -> list[float]:
        return self.read([*REALS, *self.states]).tolist()


FORMS: dict[str, type[Steps2 | Steps3 | Exchange]] = {"FMI 2 CS": Steps2, "FMI 3 CS": Steps3, "ME": Exchange}


def drive(car: Steps2 | Steps3 | Exchange, tick: int, end: int) -> Array:
    """From one tick to another, which may lie between communication points; outputs at those from HALF on."""
    rows = []
    while tick < end:
        if tick % STEP == 0:
            car.give(inputs(tick))
        n = min(STEP - tick % STEP, end - tick)
        car.go(tick, n)
        tick += n
        if tick % STEP == 0 and tick > HALF:
            rows.append(car.shown())
    return np.array(rows)


def first_half(form: str, until: int, blob: Path) -> None:
    car = FORMS[form]()
    car.begin()
    drive(car, 0, until)
    blob.write_bytes(car.save())


def second_half(form: str, since: int, blob: Path) -> None:
    car = FORMS[form]()
    assert car.load(blob.read_bytes()) == OK, car.log
    np.save(blob.with_suffix(".npy"), drive(car, since, END))


def elsewhere(call: str) -> None:
    """In a process of its own."""
    path = repr([str(Path(__file__).parent), *filter(None, sys.path)])
    code = f"import sys; sys.path[:0] = {path}; from pathlib import Path; import test_vehicle_states as t; t.{call}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow(but="CS-5007")
@pytest.mark.parametrize(
    ("form", "at"), [(form, at) for form in FORMS for at in (HALF, HALF + 7) if form != "ME" or at == HALF]
)
def test_a_state_of_one_process_goes_on_in_another_with_the_same_bits(form: str, at: int, tmp_path: Path) -> None:
    """At 5.007 s it lies between the ticks of a communication step that is not finished."""
    blob = tmp_path / "state"
    elsewhere(f"first_half({form!r}, {at}, Path({str(blob)!r}))")
    elsewhere(f"second_half({form!r}, {at}, Path({str(blob)!r}))")
    car = FORMS[form]()
    car.begin()
    expected = drive(car, 0, END)
    assert expected.shape[0] == (END - HALF) // STEP
    assert np.ptp(expected[:, 1]) > 1.0 and np.isfinite(expected).all()  # it swerved
    assert np.load(blob.with_suffix(".npy")).tobytes() == expected.tobytes()
    car.free()
