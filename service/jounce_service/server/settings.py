"""Where settings come from: flags before variables of the environment before a file before the defaults."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, Final

from jounce.values import number
from jounce_service.server.config import ServerConfig
from jounce_service.transport.security import ConfigError

#: Variable that names the file.
FILE: Final = "JOUNCE_CONFIG"
_UNIX: Final = "unix:"
_WORDS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def variable(name: str) -> str:
    """The environment's name of a setting."""
    return f"JOUNCE_{name.upper()}"


def flag(name: str) -> str:
    """The command line's name of a setting."""
    return "--" + name.replace("_", "-")


def reader(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """What reads a setting of that type from text; argparse puts its name into messages. Raises ValueError."""

    def read(text: str) -> Any:
        if kind is not str:
            number(text)
        return kind(text)

    read.__name__ = getattr(kind, "__name__", "")
    return read


def load(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None) -> ServerConfig:
    """The settings; ``flags`` holds only those given. Raises ConfigError naming place, key and what is allowed."""
    known = {f.name: f for f in fields(ServerConfig)}
    path = file or (Path(environment[FILE]) if environment.get(FILE) else None)
    found = {} if path is None else _from_file(path, known)
    for name, field in known.items():
        if (text := environment.get(variable(name))) is not None:
            found[name] = _parsed(variable(name), text, field)
    return ServerConfig(**(found | {n: tuple(v) if isinstance(v, list) else v for n, v in flags.items()}))


def checked(config: ServerConfig) -> ServerConfig:
    """The settings with ``unix:/path`` addresses as socket paths; raises ConfigError for a number out of its range."""
    for field in fields(config):
        value, least, most = getattr(config, field.name), field.metadata["least"], field.metadata["most"]
        if isinstance(value, int | float) and not (math.isfinite(value) and least <= value <= most):
            allowed = f"{least} or more" if most == math.inf else f"{least} to {most}"
            raise ConfigError(f"{field.name} = {value}: expected {allowed}")
    for address, path in (("address", "socket_path"), ("fast_address", "fast_socket")):
        given: str = getattr(config, address)
        if given.startswith(_UNIX):
            if getattr(config, path):
                raise ConfigError(f"{address} = {given!r} and {path} = {getattr(config, path)!r}: expected one of them")
            moved: dict[str, Any] = {address: "", path: given.removeprefix(_UNIX)}
            config = replace(config, **moved)
    return config


def _from_file(path: Path, known: Mapping[str, Field[Any]]) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    for name, value in content.items():
        if name not in known:
            raise ConfigError(f"{path}: no setting {name!r}; expected {', '.join(sorted(known))}")
        kind = type(known[name].default)
        # A whole number will do for a real one; true is no number.
        if kind is tuple and isinstance(value, list) and all(isinstance(v, str) for v in value):
            content[name] = tuple(value)
        elif kind is float and type(value) is int:
            content[name] = float(value)
        elif type(value) is not kind:
            allowed = "a list of strings" if kind is tuple else f"a value of type {kind.__name__}"
            raise ConfigError(f"{path}: {name} = {value!r}: expected {allowed}")
    return content


def _parsed(name: str, text: str, field: Field[Any]) -> Any:
    kind: Any = type(field.default)
    if kind is tuple:
        return tuple(filter(None, text.split(os.pathsep)))
    try:
        return _WORDS[text.lower()] if kind is bool else reader(kind)(text)
    except (KeyError, ValueError):
        allowed = "true or false" if kind is bool else f"a value of type {kind.__name__}"
        raise ConfigError(f"{name} = {text!r}: expected {allowed}") from None
