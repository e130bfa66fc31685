"""Log lines for people, or one JSON object per line for machines."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

from jounce_service.security import ConfigError

#: What every record has; the rest are the facts given with ``extra``.
_PLAIN: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """One object per line: time, level, logger, message, and the facts given with ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
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
    """Time, level, message, and the facts as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        facts = "".join(f" {k}={v}" for k, v in record.__dict__.items() if k not in _PLAIN)
        return f"{super().format(record)}{facts}"


def start_logging(form: str) -> None:
    """Sends log lines to standard error; raises ConfigError for an unknown form."""
    formatters = {"json": JsonLines(), "text": TextLines("%(asctime)s %(levelname)s %(message)s")}
    if form not in formatters:
        raise ConfigError(f"log_format = {form!r}: allowed are {', '.join(formatters)}")
    handler = logging.StreamHandler()
    handler.setFormatter(formatters[form])
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
