"""Log lines as text, or as one JSON object per line."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
from datetime import UTC, datetime
from functools import partial
from typing import Final, TextIO

from jounce_fmu.importer.output import Output
from jounce_service.transport.security import ConfigError

#: Attributes that every record has; all others were given with ``extra``.
_PLAIN: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """One object per line: time, level, logger, message, and the facts given with ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {k: v for k, v in record.__dict__.items() if k not in _PLAIN}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class TextLines(logging.Formatter):
    """Time, level, message, and the facts given with ``extra`` as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as text."""
        facts = "".join(f" {k}={v}" for k, v in record.__dict__.items() if k not in _PLAIN)
        return f"{super().format(record)}{facts}"


def start_logging(form: str) -> None:
    """Sends log lines to standard error; raises ConfigError for an unknown form."""
    formatters = {"json": JsonLines(), "text": TextLines("%(asctime)s %(levelname)s %(message)s")}
    if form not in formatters:
        raise ConfigError(f"log_format = {form!r}: expected {', '.join(formatters)}")
    handler = logging.StreamHandler(_standard_error() if form == "json" else sys.stderr)
    handler.setFormatter(formatters[form])
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def _standard_error() -> TextIO:
    """Returns standard error for the log alone; what other code prints there, such as gRPC's core, is logged."""
    kept = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
    pipe, end = os.pipe()
    os.dup2(end, 2)
    os.close(end)
    output = Output(os.fdopen(pipe, "rb", buffering=0), partial(logging.getLogger("stderr").warning, "%s"))
    output.start()

    def give_back() -> None:
        sys.stderr.flush()
        os.dup2(kept.fileno(), 2)
        output.join(1.0)

    atexit.register(give_back)
    return kept
