"""Settings of studies, given as text."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, get_args, get_type_hints

from tacit.errors import RequestError

AnyStudy = TypeVar("AnyStudy")


def with_settings(studies: Sequence[AnyStudy], given: Mapping[str, str]) -> tuple[AnyStudy, ...]:
    """The studies, each with those settings changed that it has.

    `given`: text by name; several values are separated by commas. Raises `RequestError` for a
    setting that no study has, and for text that its type does not read.
    """
    known = {one.name for study in studies for one in fields(_declared(study))}
    for name in given:
        if name not in known:
            raise RequestError(
                f"No study here has the setting '{name}'; there are {', '.join(sorted(known))}."
            )
    return tuple(_changed(study, given) for study in studies)


def _changed(study: AnyStudy, given: Mapping[str, str]) -> AnyStudy:
    kinds = get_type_hints(type(study))
    names = [one.name for one in fields(_declared(study))]
    own = {name: _read(name, text, kinds[name]) for name, text in given.items() if name in names}
    return replace(_declared(study), **own)


def _declared(study: Any) -> Any:
    """A dataclass, which the protocol of studies cannot say."""
    return study


def _read(name: str, text: str, kind: Any) -> Any:
    several = getattr(kind, "__origin__", None) is tuple
    plain = [one for one in get_args(kind) if isinstance(one, type) and one is not type(None)]
    read = plain[0] if plain else kind
    try:
        return tuple(read(part) for part in text.split(",")) if several else read(text)
    except (ValueError, TypeError):
        raise RequestError(
            f"'{text}' is no value of the setting {name}; give {read.__name__}"
            f"{' values, separated by commas' if several else ''}."
        ) from None
