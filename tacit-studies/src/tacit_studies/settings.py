"""Settings of studies, given as text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from tacit.errors import RequestError
from tacit.registry import changed


def with_settings(studies: Sequence[Any], given: Mapping[str, str]) -> tuple[Any, ...]:
    """Return the studies (frozen dataclasses) with changed settings, each with those that it has.

    `given`: texts by name, with commas between several values. Raises `RequestError` for a setting
    that no study has, and for a text that its type cannot parse.
    """
    known = {one.name for study in studies for one in fields(study)}
    for name in given:
        if name not in known:
            raise RequestError(
                f"No selected study has the setting '{name}'; the settings are "
                f"{', '.join(sorted(known))}."
            )
    return tuple(_changed(study, given) for study in studies)


def _changed(study: Any, given: Mapping[str, str]) -> Any:
    kinds = get_type_hints(study.__class__)
    names = [one.name for one in fields(study) if one.name in given]
    own = {name: _read(name, given[name], kinds[name]) for name in names}
    return changed(study, study.name, "study", own)


def _read(name: str, text: str, kind: Any) -> Any:
    several = getattr(kind, "__origin__", None) is tuple
    plain = [one for one in get_args(kind) if isinstance(one, type) and one is not type(None)]
    read: Callable[[str], Any] = plain[0] if plain else kind
    try:
        return tuple(read(part) for part in text.split(",")) if several else read(text)
    except (ValueError, TypeError):
        raise RequestError(
            f"{name} must be {'comma-separated values' if several else 'a value'} of type "
            f"{read.__name__}, got '{text}'."
        ) from None
