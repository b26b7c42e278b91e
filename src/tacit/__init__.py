"""Tacit: recommendation from locally randomized ratings.

    from tacit import Rated, compile_channel, fit, perturb, read

The public names are those of `__init__.pyi`. Each is imported on first use, so that a device, which
needs channels only, loads nothing but the standard library.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from tacit\.([\w.]+) import (\w+) as \2$", re.MULTILINE)
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = {name: module for module, name in _IMPORT.findall(_STUB)}

__all__ = sorted(_MODULES)  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _MODULES:
        raise AttributeError(f"module 'tacit' has no attribute '{name}'")
    try:
        return getattr(import_module(f"tacit.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("tacit."):
            raise ImportError(
                f"tacit.{name} is not part of tacit-device; also install tacit-recommender."
            ) from error
        raise


def _version() -> str:
    """Return the version of the installed distribution: tacit-device if it is installed alone."""
    metadata = import_module("importlib.metadata")
    try:
        return metadata.version("tacit-recommender")
    except metadata.PackageNotFoundError:
        return metadata.version("tacit-device")
