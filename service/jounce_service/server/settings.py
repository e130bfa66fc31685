"""Collects the settings: flags override environment variables, which override a file, which overrides the defaults."""

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

#: Environment variable with the path of the file.
FILE: Final = "JOUNCE_CONFIG"
_UNIX: Final = "unix:"
_WORDS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def variable(name: str) -> str:
    """Name of a setting's environment variable."""
    return f"JOUNCE_{name.upper()}"


def flag(name: str) -> str:
    """Name of a setting's command-line flag."""
    return "--" + name.replace("_", "-")


def reader(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """Returns a function that reads a setting of that type from text, and raises ValueError.

    It is named after the type, since argparse puts its name into messages.
    """

    def read(text: str) -> Any:
        if kind is not str:
            number(text)
        return kind(text)

    read.__name__ = getattr(kind, "__name__", "")
    return read


def load(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None) -> ServerConfig:
    """Collects the settings; ``flags`` holds only the flags that were given.

    Raises ConfigError that names the place, the key and what is allowed.
    """
    known = {f.name: f for f in fields(ServerConfig)}
    path = file or (Path(environment[FILE]) if environment.get(FILE) else None)
    found = {} if path is None else _from_file(path, known)
    for name, field in known.items():
        if (text := environment.get(variable(name))) is not None:
            found[name] = _parsed(variable(name), text, field)
    return ServerConfig(**(found | {n: tuple(v) if isinstance(v, list) else v for n, v in flags.items()}))


def checked(config: ServerConfig) -> ServerConfig:
    """Returns the settings with ``unix:/path`` addresses moved to the socket paths.

    Raises ConfigError for a number out of its range.
    """
    for field in fields(config):
        value, least, most = getattr(config, field.name), field.metadata["least"], field.metadata["most"]
        if isinstance(value, int | float) and not (math.isfinite(value) and least <= value <= most):
            allowed = f"{least} or more" if most == math.inf else f"{least} to {most}"
            raise ConfigError(f"{field.name} = {value}: expected {allowed}")
    for address, path in (("address", "socket_path"), ("fast_address", "fast_socket")):
        requested: str = getattr(config, address)
        if requested.startswith(_UNIX):
            if getattr(config, path):
                both = f"{address} = {requested!r} and {path} = {getattr(config, path)!r}"
                raise ConfigError(f"{both}: expected one of them")
            moved: dict[str, Any] = {address: "", path: requested.removeprefix(_UNIX)}
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
        # TOML's integers are accepted for floats, but its Booleans, which Python counts as integers, are not.
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
