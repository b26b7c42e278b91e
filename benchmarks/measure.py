"""What every benchmark process prints: wall and CPU seconds of the timed part, and peak memory."""

import json
import resource
import time
from types import TracebackType


def cpu_seconds() -> float:
    """User and system seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Clock:
    """`with Clock() as clock: work()`; then `clock.wall` and `clock.cpu`, in seconds."""

    wall = cpu = 0.0

    def __enter__(self) -> "Clock":
        self._wall, self._cpu = time.perf_counter(), cpu_seconds()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, cpu_seconds() - self._cpu


def say(**figures: object) -> None:
    """Print the figures as one line of JSON, peak memory added."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**figures, "peak_mb": round(peak)}), flush=True)
