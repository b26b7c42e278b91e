"""Experiment files: TOML next to a result, with which `tacit compare` repeats the run.

`[compare]`: the options of the command line by name, including defaults. `[auto]`: the channel that
`auto` resolved to at each epsilon. `digest`: a checksum of the ratings. Paths are relative to the
file. `data`: set if the ratings were in memory. `unnamed`: objects that were compared and that the
command line cannot name.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tacit.collection.named_plans import AUTO, resolve_auto, with_auto
from tacit.errors import DataError, RequestError
from tacit.experiments.comparison.comparison import Comparison
from tacit.ratings import Ratings
from tacit.scale import THERE

SUFFIX = ".toml"
PATHS = ("data", "catalogue", "people", "items")
WHERE_DATA_ARE = "data = 'PATH' in its table [compare]"
IN_MEMORY = "in memory"


@dataclass(frozen=True)
class Recorded:
    """The contents of an experiment file other than options. `auto`: the channel's name by epsilon,
    in nats per value or slot. `digest`: a checksum of the ratings, None for a file without one."""

    auto: Mapping[str, str] = field(default_factory=dict[str, str])
    digest: str | None = None

    def check(self, ratings: Ratings, path: Path) -> None:
        """Raise `DataError` unless these are the ratings of the experiment."""
        digest = ratings.fingerprint
        if self.digest not in (None, digest):
            raise DataError(
                f"The ratings in {path} differ from the experiment's: their checksum is {digest}, "
                f"not {self.digest}. Use the original ratings, or delete the digest from the "
                "experiment file."
            )

    def resolve(self, comparison: Comparison) -> Comparison:
        """Return the comparison with "auto" fixed to the recorded channels."""
        make = with_auto(self.auto, comparison.make_plan) if self.auto else comparison.make_plan
        return replace(comparison, make_plan=make)

    def write(
        self,
        result: Path,
        ratings: Ratings,
        comparison: Comparison,
        slots: Sequence[tuple[str, str]],
        source: Mapping[str, Any],
        *,
        by: str,
    ) -> None:
        """Write the experiment file of a command next to `result`.

        `slots`: plans and epsilons per value or slot. `source`: the other options by name.
        """
        settings = options(comparison) | dict(source)
        if source.get("person-epsilon") is not None:
            settings["plan"] = source.get("plan")
        auto = resolve_auto(slots, ratings.scale) if AUTO in comparison.channels else {}
        write(result, ratings, settings, self.auto or auto, by=by)


def options(comparison: Comparison) -> dict[str, Any]:
    """Return the options of `tacit compare` that define the comparison and its evaluation."""
    split = comparison.protocol
    return {
        "cap": comparison.cap,
        "channel": ",".join(comparison.channels),
        "delta": float(comparison.delta),
        "epsilon": ",".join(comparison.epsilons),
        "folds": split.folds,
        "mode": comparison.mode,
        "model": ",".join(comparison.models),
        "no-lists": not comparison.lists,
        "plan": comparison.plan,
        "rank-by": comparison.rank_by,
        "relevant": comparison.relevant,
        "seeds": split.seeds,
        "slices": comparison.slices,
        "split": split.kind,
        "test-share": split.share,
        "factors": comparison.options.get("factors"),
        "set": [
            f"{name}={_text(value)}"
            for name, value in comparison.options.items()
            if name != "factors"
        ],
    }


def _text(value: object) -> str:
    """Return a setting as typed on the command line."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def write(
    result: Path,
    ratings: Ratings,
    request: Mapping[str, Any],
    auto: Mapping[str, str],
    *,
    by: str,
    unnamed: Sequence[str] = (),
) -> None:
    """Write the experiment file next to `result`.

    `request`: options by name, paths as `Path`. Without `data`, the ratings were in memory. `auto`:
    the channel by epsilon. `by`: the command or function that writes the file. `unnamed`:
    descriptions of objects that the command line cannot name.
    """
    path = result.with_suffix(SUFFIX)
    if request.get("scale") == THERE:
        request = {**request, "scale": None, "implicit": True}
    settings = {
        name: value
        for name, value in sorted(request.items())
        if value is not None and value is not False and value != []  # 0 is a value
    }
    first = {"data": settings.pop("data")} if "data" in settings else {}
    lines = {name: _in_file(value, path) for name, value in (first | settings).items()}
    facts: dict[str, Any] = {
        "version": version("tacit-recommender"),
        "digest": ratings.fingerprint,
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
    """Read the options of an experiment by name, and the other contents of the file.

    Raises `RequestError` for an invalid file, and for one that the command line cannot run.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise RequestError(f"{path} is not an experiment file: {error}.") from None
    if unnamed := table.get("unnamed"):
        raise RequestError(
            f"{path} compares {', '.join(unnamed)}, which have no name on the command line; run it "
            "from Python with tacit.compare."
        )
    values: dict[str, Any] = table.get("compare", {})
    if "data" not in values and table.get("data") == IN_MEMORY:
        raise RequestError(
            f"{path} was run on ratings in memory; write them to a file, and set its path in the "
            f"experiment as {WHERE_DATA_ARE}."
        )
    if "data" not in values:
        raise RequestError(
            f"{path} is not an experiment file: it has no table [compare] with data."
        )
    paths = {name: str(path.parent / values[name]) for name in PATHS if name in values}
    return {**values, **paths}, Recorded(table.get("auto", {}), table.get("digest"))


def _once(data: Mapping[str, Any], unnamed: Sequence[str]) -> str:
    """Return the conditions under which the file runs again."""
    lacking = () if data else (f"it specifies the path of its ratings ({WHERE_DATA_ARE})",)
    lacking += ("every entry has a name",) if unnamed else ()
    return f", once {' and '.join(lacking)}" if lacking else ""


def _in_file(value: Any, path: Path) -> Any:
    return os.path.relpath(value, path.parent) if isinstance(value, Path) else value


def _lines(values: Mapping[str, Any]) -> list[str]:
    """Format strings, numbers, booleans and lists as TOML, in which they are spelt as in JSON."""
    return [f"{_key(name)} = {json.dumps(value)}" for name, value in values.items()]


def _key(name: str) -> str:
    return name if name.replace("-", "").isalnum() else json.dumps(name)
