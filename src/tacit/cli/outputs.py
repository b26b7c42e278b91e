"""Outputs of commands: none of them may replace an input, or another output, of the same call."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tacit.atomic_files import require_distinct

OUTPUTS = ("output", "report", "json", "figure", "figures")
"""Parameters of commands that name what is written. Of type bool, `json` is none of them."""
UPDATED = ("warm",)
"""Parameters of inputs that the output may replace: a fit may start from the model it replaces."""
STORE = ("", "-wal", "-shm", ".lock")
"""Endings of the files of an SQLite store."""


def check_outputs(parameters: Mapping[str, Any]) -> None:
    """Raise `RequestError` if an output of a command is one of its inputs, or another output.

    `parameters`: all parameters by name. Each file or folder that is not an output is an input.
    """
    outputs = [each for name in OUTPUTS if isinstance(each := parameters.get(name), Path)]
    inputs: list[object] = []
    for name, value in parameters.items():
        if name not in (*OUTPUTS, *UPDATED):
            inputs += cast(list[object], value) if isinstance(value, list) else [value]
    paths: list[object] = [each for each in inputs if isinstance(each, Path)]
    if (store := parameters.get("db")) is not None:
        paths += [f"{store}{ending}" for ending in STORE]
    require_distinct(outputs, paths)
