"""The progress bar of long work: on standard error, on a terminal only."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from tacit.evaluation.grid import Progress

STEPS = 100
"""Into which work is divided that only says its share."""


@contextmanager
def bar(title: str) -> Generator[Progress]:
    """A bar that is told (what runs now, how many are done, of how many)."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    quiet = not console.is_terminal
    with Bars(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=quiet
    ) as bars:
        task = bars.add_task(title, total=None)
        yield lambda label, done, total: bars.update(
            task, description=label or title, completed=done, total=total
        )


@contextmanager
def share(title: str) -> Generator[Callable[[float], None]]:
    """A bar that is told the share of the work that is done, 0 to 1."""
    with bar(title) as progress:
        yield lambda done: progress("", round(STEPS * done), STEPS)
