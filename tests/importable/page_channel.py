"""A plugin for pytest: the channel of docs/how-to/extending.md as a row of the registry."""

import doctest
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tacit.channels import MECHANISMS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "extending.md"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before the registry is looked at, and only where this is named as a plugin."""
    module = ModuleType("tacit.channels.exponential")
    sys.modules[module.__name__] = module
    for example in doctest.DocTestParser().get_examples(PAGE.read_text()):
        exec(example.source, vars(module))
        if "Exponential" in vars(module):
            break
    MECHANISMS["exponential"] = "exponential:Exponential"
