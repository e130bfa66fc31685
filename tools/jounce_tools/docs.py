"""The tables of the docs pages, made from the code; ``python -m jounce_tools.docs FILE`` puts them in."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

from jounce_service.server.config import GROUPS, ServerConfig
from jounce_service.server.settings import flag, variable
from jounce_service.session.states import ALLOWED, TRANSITIONS, SessionState
from jounce_service.transport.errors import TABLE
from jounce_tools.cli.main import EXIT_CODES
from jounce_tools.simulate.csv_inputs import FORMAT


def states() -> Iterator[str]:
    """Calls against session states."""
    yield "| call | " + " | ".join(s.name for s in SessionState) + " |"
    yield "|---" * (1 + len(SessionState)) + "|"
    for call, allowed in ALLOWED.items():
        yield f"| `{call}` | " + " | ".join("yes" if s in allowed else "-" for s in SessionState) + " |"


def state_diagram() -> Iterator[str]:
    """How a session gets from state to state."""
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield f"    [*] --> {SessionState.CREATED.name}: CreateSession, ForkSession at tick 0"
    yield f"    [*] --> {SessionState.RUNNING.name}: ForkSession"
    for (before, after), causes in TRANSITIONS.items():
        yield f"    {before.name} --> {after.name}: {', '.join(causes)}"
    yield f"    {SessionState.CLOSED.name} --> [*]"
    yield "```"


def statuses() -> Iterator[str]:
    """Reasons, their gRPC status, and when they come."""
    yield "| status | reason | when |"
    yield "|---|---|---|"
    for kind, (code, reason) in TABLE.items():
        yield f"| {code.name} | `{reason}` | {(kind.__doc__ or '').strip()} |"


def configuration() -> Iterator[str]:
    """Settings, with their names in every place."""
    yield "| setting | flag | variable | default | meaning |"
    yield "|---|---|---|---|---|"
    for field in fields(ServerConfig):
        if field.name in GROUPS:
            yield f"| **{GROUPS[field.name]}** | | | | |"
        names = f"`{field.name}` | `{flag(field.name)}` | `{variable(field.name)}`"
        yield f"| {names} | `{field.default!r}` | {field.metadata['help']} |"


def csv_format() -> Iterator[str]:
    """The format of inputs over time."""
    return (f"- {line}" for line in FORMAT)


def exit_codes() -> Iterator[str]:
    """Exit codes of all commands."""
    yield "| code | meaning |"
    yield "|---|---|"
    for code, meaning in EXIT_CODES.items():
        yield f"| {code} | {meaning} |"


#: Name in the page's markers -> rows.
TABLES: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "states": states,
    "state diagram": state_diagram,
    "statuses": statuses,
    "configuration": configuration,
    "csv": csv_format,
    "exit codes": exit_codes,
}
#: Page -> its tables.
PAGES: Final = {
    "service.md": ("states", "state diagram", "statuses"),
    "configuration.md": ("configuration",),
    "csv.md": ("csv",),
    "command-line.md": ("exit codes",),
}


def filled(page: Path) -> str:
    """The page with each table between its markers as the code has it now."""
    text = page.read_text()
    for name in PAGES[page.name]:
        rows = TABLES[name]
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        table = "".join(row + "\n" for row in rows())
        text, count = between.subn(lambda m, table=table: m[1] + table + m[2], text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"the markers of table {name!r} are there {count} times: expected once")
    return text


def main() -> int:
    """Rewrites the page that is named."""
    page = Path(sys.argv[1])
    page.write_text(filled(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
