"""The registry of models that jounce can build, export and host, and of their data sets.

A model is C code with a signal table. A data set is one choice of its parameters, such as a vehicle. Users name data
sets: ``jounce export --vehicle utv``, ``create_session("utv")``. Other packages add models through the entry-point
group `GROUP`, in which each entry names a `Model`.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from jounce.data import example_names
from jounce.models.formulation.signals import FORMULATIONS
from jounce_fmu.models import axles, ce, double_wishbone, formulation, halfcar, impulse
from jounce_fmu.models.model import Model, ModelError

__all__ = ["GROUP", "Model", "ModelError", "data_sets", "find", "models", "register", "unregister"]

#: Entry-point group in which other packages name their models.
GROUP = "jounce.models"

_added: dict[str, Model] = {}


def register(model: Model) -> None:
    """Adds a model for this process. Raises ModelError if a name is taken."""
    _check_names(model, models())
    _added[model.name] = model


def unregister(name: str) -> None:
    """Removes a model that was added. Raises ModelError if none of that name was."""
    if _added.pop(name, None) is None:
        raise ModelError(f"no model named {name!r} has been added")


def models() -> tuple[Model, ...]:
    """All known models: those that come with jounce, those of other packages, and those added."""
    return (*_installed(), *_added.values())


def find(name: str | Path) -> Model:
    """Finds the model of a data set, given its name or the path of a user's own. Raises ModelError."""
    for model in models():
        if str(name) in model.data_sets:
            return model
    if ce.has_own_model(name):
        return ce.model(name)
    if impulse.has_own_model(name):
        return impulse.model(name)
    if axles.has_own_model(name):
        return axles.model(name)
    if formulation.has_own_model(name):
        return formulation.model(name)
    for model in models():
        if model.reads(Path(name)):
            return model
    raise ModelError(
        f"vehicle {str(name)!r}: expected {', '.join(data_sets())}, an example ({', '.join(example_names())}), or the "
        "folder or vehicle.toml of your own, or its architecture; one of them with "
        f"{', '.join(f'-{name}' for name in FORMULATIONS)} behind "
        "it is that vehicle in another formulation"
    )


def data_sets() -> tuple[str, ...]:
    """Names of all data sets, sorted."""
    return tuple(sorted((*axles.names(), *impulse.names(), *(name for model in models() for name in model.data_sets))))


@cache
def _installed() -> tuple[Model, ...]:
    found = [double_wishbone.MODEL, halfcar.MODEL]
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            model = entry.load()
            if not isinstance(model, Model):
                raise ModelError(f"expected a jounce_fmu.models.Model, found a {type(model).__name__}")
            _check_names(model, tuple(found))
        # An error in another package's import must not make the other models unavailable.
        except Exception as error:  # noqa: BLE001
            warnings.warn(f"model {entry.name} ({entry.value}) is ignored: {error}", RuntimeWarning, stacklevel=2)
        else:
            found.append(model)
    return tuple(found)


def _check_names(model: Model, others: tuple[Model, ...]) -> None:
    if not model.data_sets:
        raise ModelError(f"{model.name}: expected at least one data set")
    if model.name in {m.name for m in others}:
        raise ModelError(f"there is a model named {model.name!r} already")
    for other in others:
        if taken := set(model.data_sets) & set(other.data_sets):
            raise ModelError(f"{model.name}: {other.name} has a data set named {min(taken)!r} already")
