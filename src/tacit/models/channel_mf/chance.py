"""Random numbers keyed by row: a row's draws do not depend on which rows are drawn with it.

Each run of `RUN` rows has its own generator, keyed by seed, sweep and side. Results are identical
for any division into blocks, on any worker, and after a restart.
"""

import numpy as np
from numpy.typing import NDArray

RUN = 1024
# Keys beyond every run of rows: draws of a side's priors and moves of their weights.
PRIORS, WEIGHTS = 1 << 32, 1 << 33
Floats = NDArray[np.float32]
Key = tuple[int, int, int]
"""Seed, sweep, side."""


def generator(key: Key, run: int = PRIORS) -> np.random.Generator:
    """Return the generator of a run of rows, or of a side's priors."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((*key, run))))


def normals(key: Key, first: int, end: int, width: int) -> tuple[Floats, Floats]:
    """Draw standard normals and logarithms of uniforms for the rows `first` to `end`.

    Shapes (rows, width) and (rows,).
    """
    z = np.empty((end - first, width), np.float32)
    bar = np.empty(end - first, np.float32)
    for run in range(first // RUN, -(-end // RUN)):
        rng, at = generator(key, run), run * RUN
        inside = slice(max(first - at, 0), min(end - at, RUN))
        here = slice(at + inside.start - first, at + inside.stop - first)
        z[here] = rng.standard_normal((RUN, width), np.float32)[inside]
        bar[here] = -rng.standard_exponential(RUN, np.float32)[inside]
    return z, bar


def gumbels(key: Key, first: int, end: int, width: int) -> NDArray[np.float64]:
    """Draw standard Gumbel numbers for the rows `first` to `end`, shape (rows, width)."""
    runs = range(first // RUN, -(-end // RUN))
    drawn = [-np.log(generator(key, run).standard_exponential((RUN, width))) for run in runs]
    start = runs.start * RUN
    return np.concatenate([np.empty((0, width)), *drawn])[first - start : end - start]
