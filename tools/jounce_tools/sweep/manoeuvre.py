"""A case of a sweep that drives a manoeuvre: its metrics are the result."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from jounce_service.hosting.values import check_scalar
from jounce_service.transport.errors import ServiceError
from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Bench, measure
from jounce_tools.manoeuvres.manoeuvre import find, settings_of
from jounce_tools.manoeuvres.places import STEP_ERRORS, Here
from jounce_tools.sweep.plan import SETTING, Case, Plan
from jounce_tools.sweep.results import PASSED, encode

_place: Final = cache(Here)


def driven(plan: Plan, case: Case) -> bytes:
    """Drives the manoeuvre; the case's Parquet file has one row, the metrics, or none where it failed.

    A vehicle that rolls over or leaves the course is a result. The metadata tells how each run of the manoeuvre ended
    and whether its limits hold.
    """
    place, manoeuvre = _place(case.vehicle), find(plan.manoeuvre)
    own = {n.removeprefix(SETTING): v for n, v in case.parameters.items() if n.startswith(SETTING)}
    table = place.factory.table
    try:
        settings = settings_of(manoeuvre, own)
        parameters = {n: check_scalar(table.by_name(n), v) for n, v in case.parameters.items()
                      if not n.startswith(SETTING)}  # fmt: skip
        bench = Bench(place, parameters, measure(place, parameters), errors=STEP_ERRORS)
        found = manoeuvre.run(bench, settings)
    except (ServiceError, UsageError, *STEP_ERRORS) as error:
        return encode(case, plan.builds[case.vehicle], {}, [], str(error))
    metrics = {n: manoeuvre.metric(n) for n in found.metrics}
    passed = all(m.passes(found.metrics[n]) for n, m in metrics.items() if m.limited)
    ends = json.dumps({log.title: log.end for log in bench.logs})
    return encode(case, plan.builds[case.vehicle], {n: m.unit for n, m in metrics.items()},
                  list(found.metrics.values()), "", ends=ends, **{PASSED.decode(): str(passed).lower()})  # fmt: skip
