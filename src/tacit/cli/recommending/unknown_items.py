"""Notices on profile items that are not in the model."""

from collections.abc import Sequence

from tacit.cli import options
from tacit.errors import DataError


def say_unknown(items: Sequence[object], known: Sequence[bool], profile: str) -> None:
    """Print the number of profile items outside the model, and the first one.

    `known`: whether the model has each item. `profile`: name of the profile. Raises `DataError` if
    the model has none of the items.
    """
    unknown = [item for item, has in zip(items, known, strict=True) if not has]
    if len(unknown) == len(items):
        raise DataError(
            f"The model contains none of the {len(items)} items in {profile} (the first is "
            f"'{items[0]}'). Use ids of the model's catalogue."
        )
    if unknown:
        options.notice(
            f"The model does not contain {len(unknown)} of the {len(items)} items in {profile} "
            f"(the first is '{unknown[0]}'). They are ignored."
        )
