"""Plug-ins: entry points of installed packages, and files that register entries.

Packages are searched only when names are listed or an unknown name is used. A plug-in is imported
only when it is used.

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
"""Kinds of plug-ins with their names in messages. The entry point groups are `tacit.KIND`."""

_DIGITS = 12
_registered: "list[Claim]" = []
_registering = ContextVar("_registering", default="the program that runs")


@dataclass(frozen=True)
class Claim:
    """A member that a plug-in offers under a name.

    `kind`: a key of `KINDS`. `plugin`: the package or file. `load`: imports the declaration.
    """

    kind: str
    name: str
    plugin: str
    load: Callable[[], object]

    def __str__(self) -> str:
        return f"The {KINDS[self.kind]} '{self.name}' of {self.plugin}"


def register(kind: str, name: str, member: object) -> None:
    """Register a member under a name, for this process or for the command that loads the file.

    `member`: a mechanism class, a `Format`, or for other kinds a settings object or its class.
    Raises `RequestError` for a kind outside `KINDS`, and for a name that is not a string.
    """
    if kind not in KINDS:
        raise RequestError(f"The kind of plug-in must be one of {', '.join(KINDS)}, got '{kind}'.")
    must_be(str, name, "a name", "write it as a string")
    _registered.append(Claim(kind, name, _registering.get(), lambda: member))


def claims(kind: str) -> dict[str, list[Claim]]:
    """Return the members of plug-ins of a kind by name, sorted, without importing them."""
    found: dict[str, list[Claim]] = {}
    for claim in sorted((*_installed(tuple(sys.path)), *_registered), key=lambda one: one.name):
        if claim.kind == kind:
            found.setdefault(claim.name, []).append(claim)
    return found


@cache
def _installed(path: tuple[str, ...]) -> tuple[Claim, ...]:
    """Return the entry points of the packages on `path`, the value of `sys.path`; cached."""
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
    """Import files that register members, and return a function that removes these members.

    `accept`: called with each member. Raises `RequestError` for a missing file, and for one that
    cannot be loaded or registers nothing, and what `accept` raises; all members are then removed.
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
    except (Exception, SystemExit) as error:  # plug-ins may raise anything
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
    """Import a file as a module with this name, in `sys.modules`."""
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[name] = found  # dataclasses resolve annotations there
    spec.loader.exec_module(found)
    return found


def cause(error: BaseException) -> str:
    """Return an error as part of a sentence. The name of its class is omitted for our own."""
    said = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, RequestError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
