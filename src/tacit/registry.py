"""Members of a registry: frozen declarations, looked up by name and changed in their settings.

Models, trainings and cross-domain systems are looked up alike, and refuse alike.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from tacit.errors import RequestError
from tacit.given import whole

Member = TypeVar("Member")
WHOLE = ("<class 'int'>", "int | None")
"""How the type of a setting is written that is a whole number, where there is one."""


def named(registry: Mapping[str, Member], name: str, kind: str) -> Member:
    """The member of that name; `kind` is what an error calls it.

    Raises `RequestError` for a name that does not exist.
    """
    if name not in registry:
        raise RequestError(f"There is no {kind} '{name}'; choose one of {', '.join(registry)}.")
    return registry[name]


def changed(member: Member, name: str, kind: str, settings: Mapping[str, Any]) -> Member:
    """The declaration with some settings changed.

    Raises `RequestError` for a setting that it does not have, for one that needs a whole number and
    gets something else or less than none, and for one thing where several are needed.
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
            whole(f"{kind} {name}'s setting {key}", value, 0)
        if isinstance(known[key], tuple) and not isinstance(value, tuple | list):
            raise RequestError(
                f"The setting {key} of {kind} {name} is {value!r}; give several, as in "
                f"{known[key]!r}."
            )
    return type(member)(**{**known, **settings})
