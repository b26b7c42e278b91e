"""An experiment is a file: what `tacit compare` was asked, from which it runs again.

Written beside the result as TOML. `[compare]` has the options by their names, those left out
included; `[auto]` the channel that `auto` stood for at each epsilon; `digest` a checksum of the
ratings. Paths are relative to the file.
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

from tacit import __version__
from tacit.errors import DataError, RequestError

if TYPE_CHECKING:
    from tacit.evaluation.comparison.request import Comparison
    from tacit.ratings import Ratings

SUFFIX = ".toml"
OUTPUTS = ("json", "report")
"""Where results go: not in a file, and given beside one."""
ELSEWHERE = ("data", *OUTPUTS)
PATHS = ("data", "catalogue", "people", "items")


@dataclass(frozen=True)
class Recorded:
    """What a file says beyond options. `auto`: the channel's name by epsilon, in nats per value or
    slot. `digest`: a checksum of the ratings; None where a file has none."""

    auto: Mapping[str, str] = field(default_factory=dict[str, str])
    digest: str | None = None

    def check(self, ratings: "Ratings", path: Path) -> None:
        """Raise `DataError` where these are not the ratings of the experiment."""
        from tacit.evaluation.grid import fingerprint

        found = fingerprint(ratings)
        if self.digest not in (None, found):
            raise DataError(
                f"{path} has other ratings than the experiment was run on: their checksum is "
                f"{found}, not {self.digest}. Give it the ratings of then, or delete its digest."
            )


def again(context: typer.Context, path: Path) -> NoReturn:
    """Run the experiment at `path`, its results going where this command says.

    Raises `RequestError` for a file that is none, for other options beside it, and for a result
    whose own file would be written over this one.
    """
    given = [
        each.name
        for each in context.command.params
        if each.name in context.params
        and each.name not in ELSEWHERE
        and context.params[each.name] != each.default
    ]
    if given:
        shown = ", ".join(f"--{_option(name)}" for name in given)
        raise RequestError(f"{path} says all of the experiment; write {shown} into it.")
    from tacit.evaluation.outputs import ROWS, writable

    writable(context.params["json"], read=(path,), beside=(*ROWS, SUFFIX))
    options, recorded = _read(path)
    data = str(options.pop("data"))
    outputs = {name: str(context.params[name]) for name in OUTPUTS if context.params[name]}
    typed = [*_arguments(options | outputs), "--", data]
    child = context.command.make_context("compare", typed, parent=context.parent, obj=recorded)
    with child:
        child.command.invoke(child)
    raise typer.Exit


def write(
    result: Path,
    context: typer.Context,
    ratings: "Ratings",
    comparison: "Comparison",
    resolved: Mapping[str, str],
) -> None:
    """The file beside `result`; `resolved`: what auto stood for, by epsilon."""
    from tacit.evaluation.grid import fingerprint

    path = result.with_suffix(SUFFIX)
    options = {_option(name): _in_file(value, path) for name, value in _asked(context, comparison)}
    text = [
        f"# `tacit compare {path.name}` runs it again. Written by: tacit {' '.join(sys.argv[1:])}",
        *_lines({"version": __version__, "digest": fingerprint(ratings)}),
        "\n[compare]",
        *_lines(options),
        "\n[auto]",
        *_lines(resolved),
    ]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _asked(context: typer.Context, comparison: "Comparison") -> Iterator[tuple[str, Any]]:
    """What was asked, and what was left open until the ratings were read."""
    chosen: dict[str, Any] = {"model": ",".join(comparison.models)}
    if context.params["person_epsilon"] is None:
        chosen |= {"plan": comparison.plan}
    asked = context.params | chosen
    for name in ("data", *sorted(asked.keys() - set(ELSEWHERE))):
        if asked[name] not in (None, False):
            yield name, asked[name]


def _in_file(value: Any, path: Path) -> Any:
    return os.path.relpath(value, path.parent) if isinstance(value, Path) else value


def _lines(values: Mapping[str, Any]) -> list[str]:
    """TOML of strings, numbers and truths, which are written as in JSON."""
    return [f"{_key(name)} = {json.dumps(value)}" for name, value in values.items()]


def _key(name: str) -> str:
    return name if name.replace("-", "").isalnum() else json.dumps(name)


def _option(name: str) -> str:
    return name.replace("_", "-")


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """As they would be typed; a list as its values with commas."""
    typed: list[str] = []
    for name, value in options.items():
        listed = cast(list[object], value) if isinstance(value, list) else [value]
        shown = ",".join(map(str, listed))
        typed += [f"--{name}"] if value is True else [f"--{name}", shown]
    return typed


def _read(path: Path) -> tuple[dict[str, Any], Recorded]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise RequestError(f"{path} is no experiment: {error}.") from None
    options: dict[str, Any] = table.get("compare", {})
    if "data" not in options:
        raise RequestError(f"{path} is no experiment: it has no table [compare] with data.")
    paths = {name: str(path.parent / options[name]) for name in PATHS if name in options}
    return {**options, **paths}, Recorded(table.get("auto", {}), table.get("digest"))
