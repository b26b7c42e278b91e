"""Progress bars on standard error, in a terminal or a notebook only."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from numba.core import event
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

Progress = Callable[[str, int, int], None]
"""Callback with the current label, the number of steps done and the total."""
Advance = Callable[[float], None]
"""Callback with the completed share, 0 to 1."""

STEPS = 100
"""Steps of a bar for work that reports only its completed share."""
WIDTH = 20
"""Width of a bar in a notebook, in characters."""


@contextmanager
def bar(title: str) -> Generator[Progress]:
    """Show a bar. Yields a callback (current label, number done, total)."""
    console = Console(stderr=True)
    if console.is_jupyter:
        yield _line(title)
        print(file=sys.stderr)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    quiet = not console.is_terminal
    with Bars(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=quiet
    ) as bars:
        task = bars.add_task(title, total=None)
        listener = CompilationNotice(console.print)
        with event.install_listener("numba:compile", listener):  # pyright: ignore[reportUnknownMemberType]
            yield lambda label, done, total: bars.update(
                task, description=label or title, completed=done, total=total
            )


class CompilationNotice(event.Listener):
    """Print once that Numba compiles kernels of Tacit, which delays the first run."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show: Callable[[str], None] | None = show

    def on_start(self, event: Any) -> None:
        """Print the notice if the function that is compiled belongs to Tacit."""
        of = event.data["dispatcher"].py_func.__module__
        if self._show is not None and of.startswith("tacit."):
            self._show("Compiling kernels; later runs load them from the cache.")
            self._show = None

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def _line(title: str) -> Progress:
    """Return a callback that overwrites one line, at most once per percent."""
    shown = -1

    def progress(label: str, done: int, total: int) -> None:
        nonlocal shown
        share = STEPS * done // max(total, 1)
        if share != shown:
            shown = share
            filled = "#" * (WIDTH * share // STEPS)
            print(f"\r{title} [{filled:-<{WIDTH}}] {share} %", end="", file=sys.stderr, flush=True)

    return progress


@contextmanager
def share(title: str) -> Generator[Advance]:
    """Show a bar. Yields a callback (completed share, 0 to 1)."""
    with bar(title) as progress:
        yield lambda done: progress("", round(STEPS * done), STEPS)
