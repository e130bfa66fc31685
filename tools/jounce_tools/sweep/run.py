"""The cases of a sweep on a Ray cluster: on one of this machine, which is started and ended, or on another."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.trajectory import InputError, interval, ticks
from jounce_fmu.importer.trajectory import run as trajectory
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.hosting.models import Vector
from jounce_service.hosting.values import check_scalar, select
from jounce_service.transport.errors import ServiceError
from jounce_tools.errors import UsageError
from jounce_tools.simulate.run import started
from jounce_tools.sweep.manoeuvre import driven
from jounce_tools.sweep.plan import Case, Plan
from jounce_tools.sweep.results import encode

#: Cases handed out per core of the cluster: none waits for the next.
_AHEAD: Final = 2
#: Bytes of the local cluster's shared memory, which only holds results on their way.
_STORE: Final = 256 << 20

_open = cache(lambda model: FmuModel(open_builtin(model)))


class OtherBuild(Exception):
    """A machine of the cluster has another build of the model: its results would not be of this sweep."""


def run_case(plan: Plan, case: Case) -> bytes:
    """Runs one case as ``jounce simulate`` or ``jounce test`` would; its Parquet file, with the reason in it where it
    failed.
    """
    model = _open(case.vehicle)
    if model.build != plan.builds[case.vehicle]:
        raise OtherBuild(f"a worker has {model.build}: expected {plan.builds[case.vehicle]}")
    if plan.manoeuvre:
        return driven(plan, case)
    rows: list[Vector] = []
    table = model.table
    try:
        # Here, and not before: a draw may be out of bounds, and that is a result as well.
        parameters = {n: check_scalar(table.by_name(n), v) for n, v in case.parameters.items()}
        columns = select(table.outputs, plan.outputs, "output").columns
        with started(model, parameters, plan.tracks) as begun:
            n_ticks = ticks(plan.duration, begun.instance.tick_length, "duration")
            every = interval(plan.output_interval, begun.instance.tick_length, "output_interval")
            for time, y in trajectory(begun.instance, begun.u, begun.inputs, n_ticks=n_ticks, every=every):
                rows.append(np.array([time, *y[columns]]))
        failed = ""
    except (ServiceError, InputError, FmuError) as error:
        failed = str(error)
    return encode(case, model.build, _columns(plan), rows, failed)


def _columns(plan: Plan) -> dict[str, str]:
    return {} if plan.manoeuvre else {"time": "s"} | {n: plan.units[n] for n in plan.outputs}


def run(
    plan: Plan, cases: Sequence[Case], *, workers: int | None, address: str
) -> Generator[tuple[Case, bytes]]:
    """Runs cases on Ray and gives each with its file as it ends, in no order; closing the iterator ends all.

    A worker that dies is given another try, then its case has failed. Raises UsageError where the cluster cannot be
    had, or has another build.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a simulation tells nobody that it runs
    own = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _STORE} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"--address {address}: {error}") from error
    try:
        task, shared = ray.remote(max_retries=1)(run_case), ray.put(plan)
        ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting, running = iter(cases), dict[Any, Case]()
        while True:
            while len(running) < ahead and (case := next(waiting, None)) is not None:
                running[task.remote(shared, case)] = case
            if not running:
                return
            [ready], _ = ray.wait(list(running), num_returns=1)
            case = running.pop(ready)
            try:
                encoded = ray.get(ready)
            except RayTaskError as error:
                if isinstance(error.cause, OtherBuild):
                    raise UsageError(str(error.cause)) from error
                raise
            except RayError as error:
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                encoded = encode(case, plan.builds[case.vehicle], _columns(plan), [], reason)
            yield case, encoded
    finally:
        ray.shutdown()
