"""An experiment is a file: what was compared, from which `tacit compare` runs it again.

Written beside the result as TOML. `[compare]` has the options of the command line by their names,
those left open included; `[auto]` the channel that `auto` stood for at each epsilon; `digest` a
checksum of the ratings. Paths are relative to the file. `data` says where ratings were that were in
no file, and `unnamed` lists what was compared and is an object of a program: of either the command
line has no name.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tacit.errors import DataError, RequestError
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.grid import fingerprint
from tacit.ratings import Ratings

SUFFIX = ".toml"
PATHS = ("data", "catalogue", "people", "items")
WHERE_DATA_ARE = "data = 'PATH' in its table [compare]"
IN_MEMORY = "in memory"


@dataclass(frozen=True)
class Recorded:
    """What a file says beyond options. `auto`: the channel's name by epsilon, in nats per value or
    slot. `digest`: a checksum of the ratings; None where a file has none."""

    auto: Mapping[str, str] = field(default_factory=dict[str, str])
    digest: str | None = None

    def check(self, ratings: Ratings, path: Path) -> None:
        """Raise `DataError` where these are not the ratings of the experiment."""
        found = fingerprint(ratings)
        if self.digest not in (None, found):
            raise DataError(
                f"The ratings in {path} differ from the experiment's: their checksum is {found}, "
                f"not {self.digest}. Use the original ratings, or delete the digest from the "
                "experiment file."
            )


def options(comparison: Comparison) -> dict[str, Any]:
    """What is compared, and how it is measured, as the options of `tacit compare` that say so."""
    split = comparison.protocol
    return {
        "cap": comparison.cap,
        "channel": ",".join(comparison.channels),
        "delta": float(comparison.delta),
        "epsilon": ",".join(comparison.epsilons),
        "folds": split.folds,
        "mode": comparison.mode,
        "model": ",".join(comparison.models),
        "plan": comparison.plan,
        "relevant": comparison.relevant,
        "seeds": split.seeds,
        "slices": comparison.slices,
        "split": split.kind,
        "test-share": split.share,
        **comparison.options,
    }


def write(
    result: Path,
    ratings: Ratings,
    asked: Mapping[str, Any],
    auto: Mapping[str, str],
    *,
    by: str,
    unnamed: Sequence[str] = (),
) -> None:
    """The file beside `result`.

    `asked`: options by their names, paths as `Path`; without `data` the ratings were in memory.
    `auto`: the channel by epsilon. `by`: who writes it.
    """
    path = result.with_suffix(SUFFIX)
    told = {name: value for name, value in sorted(asked.items()) if value not in (None, False)}
    first = {"data": told.pop("data")} if "data" in told else {}
    lines = {name: _in_file(value, path) for name, value in (first | told).items()}
    facts: dict[str, Any] = {
        "version": version("tacit-recommender"),
        "digest": fingerprint(ratings),
    }
    facts |= {} if first else {"data": IN_MEMORY}
    facts |= {"unnamed": list(unnamed)} if unnamed else {}
    text = [
        f"# `tacit compare {path.name}` runs it again{_once(first, unnamed)}. Written by: {by}",
        *_lines(facts),
        "\n[compare]",
        *_lines(lines),
        "\n[auto]",
        *_lines(auto),
    ]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Any], Recorded]:
    """The options of an experiment by their names, and what else the file says.

    Raises `RequestError` for a file that is none, and for one that a command line cannot run.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise RequestError(f"{path} is not an experiment file: {error}.") from None
    if unnamed := table.get("unnamed"):
        raise RequestError(
            f"{path} compares {', '.join(unnamed)}, which the command line cannot name; run it "
            "from Python, with tacit.compare."
        )
    said: dict[str, Any] = table.get("compare", {})
    if "data" not in said and table.get("data") == IN_MEMORY:
        raise RequestError(
            f"{path} was run on ratings in memory; write them to a file, and name it in the "
            f"experiment as {WHERE_DATA_ARE}."
        )
    if "data" not in said:
        raise RequestError(
            f"{path} is not an experiment file: it has no table [compare] with data."
        )
    paths = {name: str(path.parent / said[name]) for name in PATHS if name in said}
    return {**said, **paths}, Recorded(table.get("auto", {}), table.get("digest"))


def _once(data: Mapping[str, Any], unnamed: Sequence[str]) -> str:
    """Return the conditions under which the file runs again."""
    lacking = () if data else (f"it names its ratings ({WHERE_DATA_ARE})",)
    lacking += ("every entry has a name",) if unnamed else ()
    return f", once {' and '.join(lacking)}" if lacking else ""


def _in_file(value: Any, path: Path) -> Any:
    return os.path.relpath(value, path.parent) if isinstance(value, Path) else value


def _lines(values: Mapping[str, Any]) -> list[str]:
    """TOML of strings, numbers, truths and lists, which are written as in JSON."""
    return [f"{_key(name)} = {json.dumps(value)}" for name, value in values.items()]


def _key(name: str) -> str:
    return name if name.replace("-", "").isalnum() else json.dumps(name)
