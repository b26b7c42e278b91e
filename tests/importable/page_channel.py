"""A plugin for pytest: the channel of docs/how-to/extending.md as a member from outside."""

import doctest
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tacit.plugins import register

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "extending.md"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before the registry is looked at, and only where this is named as a plugin."""
    module = ModuleType("exponential")
    sys.modules[module.__name__] = module
    for example in doctest.DocTestParser().get_examples(PAGE.read_text()):
        exec(example.source, vars(module))
        if "Exponential" in vars(module):
            break
    register("channels", "exponential", vars(module)["Exponential"])
