"""Plug-ins: entry points of installed packages, and files that register entries.

Nothing is looked for before a name is asked for that is not built in, or names are listed; and
nothing is imported before it is used.

    [project.entry-points."tacit.models"]
    halfway = "my_package.models:Halfway"
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tacit.errors import RequestError, must_be

KINDS = {
    "channels": "channel",
    "models": "model",
    "list_models": "list model",
    "trainings": "trainer",
    "list_trainings": "list trainer",
    "readers": "reader",
}
"""What may come from outside, and what one of it is called; entry points are in `tacit.` and this.
"""

_DIGITS = 12
_registered: "list[Claim]" = []
_registering = ContextVar("_registering", default="the program that runs")


@dataclass(frozen=True)
class Claim:
    """A name that a plug-in gives to a member: `kind` is a key of `KINDS`, `plugin` says where it
    is from, and `load` imports what is declared."""

    kind: str
    name: str
    plugin: str
    load: Callable[[], object]

    def __str__(self) -> str:
        return f"The {KINDS[self.kind]} '{self.name}' of {self.plugin}"


def register(kind: str, name: str, member: object) -> None:
    """Give a member a name, until the process ends, or the command that imports its file.

    `member`: a mechanism's class; a `Format`; of the others the settings, or their class, which is
    called without any. Raises `RequestError` for a kind that is not in `KINDS`, and for
    a name that is no text.
    """
    if kind not in KINDS:
        raise RequestError(f"The kind of plug-in must be one of {', '.join(KINDS)}, got '{kind}'.")
    must_be(str, name, "a name", "write it as a string")
    _registered.append(Claim(kind, name, _registering.get(), lambda: member))


def claims(kind: str) -> dict[str, list[Claim]]:
    """What plug-ins have of a kind, by name and in alphabetical order; nothing is imported."""
    found: dict[str, list[Claim]] = {}
    for claim in sorted((*_installed(tuple(sys.path)), *_registered), key=lambda one: one.name):
        if claim.kind == kind:
            found.setdefault(claim.name, []).append(claim)
    return found


@cache
def _installed(path: tuple[str, ...]) -> tuple[Claim, ...]:
    """The entry points of the packages on `path`, which is `sys.path`: looked for once."""
    from importlib.metadata import entry_points

    known = entry_points()
    return tuple(
        Claim(
            kind,
            point.name,
            f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package",
            point.load,
        )
        for kind in KINDS
        for point in known.select(group=f"tacit.{kind}")
    )


def load(paths: Sequence[Path], accept: Callable[[Claim], object]) -> Callable[[], None]:
    """Import files that register members, and see whether each is accepted; what forgets them all.

    Raises `RequestError` for a file that is not there, does not load or registers nothing, and as
    `accept` does; nothing of them is known then.
    """
    before = len(_registered)

    def forget() -> None:
        del _registered[before:]

    try:
        for path in {path.resolve(): path for path in paths}.values():
            _register_from(path)
        for claim in _registered[before:]:
            accept(claim)
    except BaseException:
        forget()
        raise
    return forget


def _register_from(path: Path) -> None:
    before = len(_registered)
    if not path.is_file():
        raise RequestError(
            f"Plug-in {path} does not exist; name a file that registers a component."
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:_DIGITS]
    token = _registering.set(f"{path.name} (SHA-256 {digest})")
    try:
        module(path, f"_plugin_{digest}_{path.stem}")
    except (Exception, SystemExit) as error:  # a file from outside may raise anything
        raise RequestError(
            f"Plug-in {path} cannot be loaded ({cause(error)}); correct it, or leave it out."
        ) from error
    finally:
        _registering.reset(token)
    if len(_registered) == before:
        raise RequestError(
            f"Plug-in {path} registers no component; call tacit.plugins.register in the file."
        )


def module(path: Path, name: str) -> ModuleType:
    """The file as a module of that name, which it keeps where it can be imported."""
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[name] = found  # where dataclasses look for the names of annotations
    spec.loader.exec_module(found)
    return found


def cause(error: BaseException) -> str:
    """What went wrong as part of a sentence: ours are sentences of their own."""
    said = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, RequestError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
