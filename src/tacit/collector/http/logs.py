"""Log lines of a collector: time, level, event, message and cause, as text or JSON.

Lines contain no rating, token, address or pseudonym. Messages of unexpected exceptions may contain
them, so only their types and the frames where they were raised are written.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TextIO

FIELDS = ("event", "cause")
"""Attributes of a record, passed as `extra` of a logging call."""


class LineFormatter(logging.Formatter):
    """Formats a record as one line.

    `as_json`: one JSON object per line instead of `TIME LEVEL EVENT MESSAGE cause=CAUSE`.
    """

    def __init__(self, as_json: bool = False) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, without the message of an exception."""
        fields = {
            "time": f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "level": record.levelname,
            "event": getattr(record, "event", record.name.rpartition(".")[2]),
            "message": record.getMessage(),
        }
        cause = getattr(record, "cause", None) or _exception(record)
        if cause:
            fields["cause"] = cause
        return json.dumps(fields) if self._as_json else _text(fields)


def _text(fields: dict[str, str]) -> str:
    cause = f" cause={json.dumps(fields['cause'])}" if "cause" in fields else ""
    line = f"{fields['time']} {fields['level']} {fields['event']} {fields['message']}{cause}"
    return line.rstrip().replace("\n", " | ")


def _exception(record: logging.LogRecord) -> str:
    """Return the type of the exception of a record, and where it was raised."""
    kind, _, frames = record.exc_info or (None, None, None)
    if kind is None:
        return ""
    return f"{kind.__name__} at {where(frames)}"


def where(frames: object) -> str:
    """Return file names, lines and functions of a traceback, innermost last."""
    listed = traceback.extract_tb(frames)  # type: ignore[arg-type]
    return ", ".join(f"{each.filename}:{each.lineno} {each.name}" for each in listed)


def configure(as_json: bool = False, stream: TextIO | None = None) -> None:
    """Write the log lines of this process to a stream, standard error by default.

    Tacit's lines from INFO, those of libraries from WARNING.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(as_json))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("tacit").setLevel(logging.INFO)
