"""Settings of learners: which learner has which, and their parsing from text."""

from collections.abc import Sequence
from typing import Any

from tacit import registry
from tacit.errors import RequestError
from tacit.learners.learner import REGISTRIES, Learner, learner


def having(option: str) -> list[str]:
    """Return the built-in learners with a setting of that name."""
    built_in = (name for each in REGISTRIES for name in each.own)
    return [name for name in built_in if option in learner(name).options]


def require_options(learners: Sequence[Learner], options: Sequence[str]) -> None:
    """Raise `RequestError` for an option that is not a setting of each learner, with the learners
    that have it, or with the settings that exist."""
    for option in options:
        lacking = [each for each in learners if option not in each.options]
        if lacking:
            names, others = ", ".join(each.name for each in lacking), ", ".join(having(option))
            choices = others or f"the settings {', '.join(lacking[0].options)}"
            raise RequestError(
                f"{SPELLINGS.get(option, option)} is not a setting of {names}; leave it out, or "
                f"choose from {choices}."
            )


def parsed_settings(learners: Sequence[Learner], texts: Sequence[str]) -> dict[str, Any]:
    """Parse settings of these learners, each text NAME=VALUE.

    Raises `RequestError` for a malformed text, one that is not a setting of each learner, and a
    value of another type.
    """
    settings: dict[str, Any] = {}
    for name, value in registry.assignments(texts, "ridge=5").items():
        require_options(learners, [name])
        values = [
            registry.parse_setting(each.settings, each.name, name, value) for each in learners
        ]
        settings |= {name: values[0]} if values else {}
    return settings


SPELLINGS = {"item_table": "items"}
"""Settings whose option has another name."""
