"""How a party of a comparison measures itself and says what it found. Standard library only."""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

Figures = dict[str, float]


class Clock:
    """Wall and CPU seconds (user and system, all threads) of a `with` block."""

    wall = 0.0
    cpu = 0.0

    def __enter__(self) -> Self:
        self.wall, self.cpu = -time.perf_counter(), -_cpu()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall += time.perf_counter()
        self.cpu += _cpu()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def speak(parties: Mapping[str, Callable[..., Figures]]) -> None:
    """Run the party named first on the command line on the other arguments; print its figures."""
    name, *arguments = sys.argv[1:]
    print(json.dumps(parties[name](*arguments)))
