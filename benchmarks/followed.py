"""Following long work: a bar on a terminal, and elsewhere a line as each step begins."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Step = TypeVar("Step")


def followed(title: str, steps: Iterable[Step]) -> Iterator[Step]:
    """The steps one by one, each shown on standard error before it is worked on."""
    every: Sequence[Step] = list(steps)
    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(every, title, console=console, transient=True)
        return
    for number, step in enumerate(every, 1):
        print(f"{title}: {number} of {len(every)}", file=sys.stderr, flush=True)
        yield step
