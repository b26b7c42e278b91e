"""Registries of models, trainers and other declarations: look-up by name, and settings.

Built-in members are in plain mappings. Kinds with plug-ins have a `Registry`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tacit import plugins
from tacit.errors import RequestError, finite, integer, shown

Member = TypeVar("Member")
WHOLE = ("<class 'int'>", "int | None")
"""Type annotations of integer settings."""
REAL = ("<class 'float'>", "float | None")
"""Type annotations of real settings."""


class Registry(Mapping[str, Member]):
    """Members of one kind by name: built-in ones in their order, then those of plug-ins.

    `kind`: a key of `plugins.KINDS`. `own`: declarations of the built-in members. `member`: returns
    the member for a name and a declaration. `reserved`: other names that plug-ins must not use. A
    built-in name always refers to the built-in member, and looking it up loads no plug-in. Looking
    up a name raises `RequestError` if several plug-ins have it, or if it cannot be loaded.
    """

    def __init__(
        self,
        kind: str,
        own: Mapping[str, Any],
        member: Callable[[str, Any], Member],
        reserved: Sequence[str] = (),
    ) -> None:
        self.kind = kind
        self.own = own
        self.reserved = reserved
        self._member = member

    def __repr__(self) -> str:
        return f"<Registry of {self.kind}: {', '.join(self)}>"

    def __getitem__(self, name: str) -> Member:
        if name in self.own:
            return self._member(name, self.own[name])
        found = plugins.claims(self.kind)[name]
        refuse_twins(name, (self,))
        try:
            return self._member(name, found[0].load())
        except (Exception, SystemExit) as error:  # plug-ins may raise anything
            raise RequestError(
                f"{found[0]} cannot be loaded ({plugins.cause(error)}); correct it, or leave it "
                "out."
            ) from error

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in plugins.claims(self.kind)

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from (name for name in plugins.claims(self.kind) if name not in self.own)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def plugin(self, name: str) -> str | None:
        """Return the plug-in of a member; None for a built-in and for an unknown name."""
        found = [] if name in self.own else plugins.claims(self.kind).get(name, [])
        return found[0].plugin if found else None


def refuse_twins(name: str, registries: Sequence[Registry[Any]]) -> None:
    """Raise `RequestError` if a name is ambiguous in the registries of one option: used by two
    plug-ins, or by a plug-in and a built-in member."""
    found = [claim for each in registries for claim in plugins.claims(each.kind).get(name, [])]
    if found and any(name in (*each.own, *each.reserved) for each in registries):
        raise RequestError(
            f"{found[0]} has the name of a built-in entry; rename it, or leave it out."
        )
    if len(found) > 1:
        raise RequestError(
            f"{found[0]} has the same name as one of {found[1].plugin}; rename one, or leave it "
            "out."
        )


def settings(name: str, declared: Any, needs: Sequence[str]) -> Any:
    """Return the settings object of a plug-in, which declares it or its class.

    Raises `RequestError` for an object with another name, or without an attribute in `needs`.
    """
    found = declared() if isinstance(declared, type) else declared
    lacking = [need for need in ("name", *needs) if not hasattr(found, need)]
    if lacking:
        raise RequestError(f"{found!r} has no attribute '{lacking[0]}'")
    if found.name != name:
        raise RequestError(f"its name attribute is '{found.name}'")
    return found


def named(registry: Mapping[str, Member], name: str, kind: str) -> Member:
    """Return the member with this name. `kind`: its kind in messages.

    Raises `RequestError` for an unknown name.
    """
    if name not in registry:
        raise RequestError(f"{kind} must be one of {', '.join(registry)}, got '{name}'.")
    return registry[name]


def changed(member: Member, name: str, kind: str, settings: Mapping[str, Any]) -> Member:
    """Return the settings object with some settings changed.

    Raises `RequestError` for an unknown setting, for a value other than a non-negative integer in
    an integer setting or other than a finite number of at least 0 in a real one, and for a single
    value in a setting of several.
    """
    known = vars(member)
    unknown = [key for key in settings if key not in known]
    if unknown:
        raise RequestError(
            f"{kind.capitalize()} {name} has no setting '{unknown[0]}'; it has {', '.join(known)}."
        )
    kinds = {one.name: str(one.type) for one in fields(member)} if is_dataclass(member) else {}
    for key, value in settings.items():
        if value is not None and kinds.get(key, "") in WHOLE:
            integer(f"{key} of {kind} {name}", value, 0)
        if value is not None and kinds.get(key, "") in REAL:
            finite(f"{key} of {kind} {name}", value, 0)
        if isinstance(known[key], tuple) and not isinstance(value, tuple | list):
            raise RequestError(
                f"{key} of {kind} {name} must be a list of values, as in {known[key]!r}, got "
                f"{shown(value)}."
            )
    return type(member)(**{**known, **settings})


def assignments(texts: Sequence[str], example: str) -> dict[str, str]:
    """Return the values of texts NAME=VALUE by name. `example`: one of them, for the error.

    Raises `RequestError` for a text without a name, an equals sign or a value.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise RequestError(f"--set must be NAME=VALUE, as in --set {example}, got '{text}'.")
        values[name] = value
    return values


def parse_setting(member: object, name: str, key: str, text: str) -> Any:
    """Parse the text of a setting by the type of its field, as typed on the command line.

    "none" stands for None, "true" and "false" for Booleans. Raises `RequestError` for a text of
    another type, and for a setting whose type has no text, such as an engine.
    """
    hint = get_type_hints(type(member)).get(key)
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    for kind in kinds:
        choices = get_args(kind) if get_origin(kind) is Literal else CHOICES.get(kind, ())
        if choices:
            known = {str(each).lower(): each for each in choices}
            if text in known:
                return known[text]
        elif kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    raise RequestError(f"{key} of {name} must be {_allowed(kinds)}, got '{text}'.")


CHOICES: dict[Any, tuple[Any, ...]] = {bool: (True, False), NoneType: (None,)}
WORDS: dict[Any, str] = {int: "an integer", float: "a number", bool: "true or false"}


def _allowed(kinds: Sequence[Any]) -> str:
    """Return what a setting of these types may be, in words."""
    words = [WORDS[kind] for kind in kinds if kind in WORDS]
    words += [each for kind in kinds if get_origin(kind) is Literal for each in get_args(kind)]
    words += ["none"] if NoneType in kinds and words else []
    return " or ".join(words) or "set in Python"
