"""Members of a registry: frozen declarations, looked up by name and changed in their settings.

Models, trainings and cross-domain systems are looked up alike, and refuse alike.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from tacit.errors import RequestError

Member = TypeVar("Member")


def named(registry: Mapping[str, Member], name: str, kind: str) -> Member:
    """The member of that name; `kind` is what an error calls it.

    Raises `RequestError` for a name that does not exist.
    """
    if name not in registry:
        raise RequestError(f"There is no {kind} '{name}'; choose one of {', '.join(registry)}.")
    return registry[name]


def changed(member: Member, name: str, kind: str, settings: Mapping[str, Any]) -> Member:
    """The declaration with some settings changed.

    Raises `RequestError` for a setting that it does not have.
    """
    known = vars(member)
    unknown = [key for key in settings if key not in known]
    if unknown:
        raise RequestError(
            f"{kind.capitalize()} {name} has no setting '{unknown[0]}'; it has {', '.join(known)}."
        )
    return type(member)(**{**known, **settings})
