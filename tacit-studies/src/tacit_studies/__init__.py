"""Reproductions of four papers: each figure, table and theorem, published and measured.

A folder a paper, a file a figure, table or theorem. `PAPERS` has them by name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit_studies.paper import Paper as Paper
    from tacit_studies.papers import PAPERS as PAPERS

_MODULES = {"PAPERS": "papers", "Paper": "paper"}
__all__ = ["PAPERS", "Paper"]


def __getattr__(name: str) -> Any:
    """Import on first use: `tacit --help` loads this package, and needs no study."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tacit_studies' has no attribute '{name}'")
    return getattr(import_module(f"tacit_studies.{_MODULES[name]}"), name)
