"""Words that a test can draw twice."""

import numpy as np


class RepeatableWordsForTestsOnly:
    """Seeded words: nothing about them is secret, so no release may use them."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)

    def fill(self, words: np.ndarray) -> None:
        """Overwrite `words`, shape (n,), with the next ones."""
        words[:] = self._chance.integers(0, 1 << 64, len(words), dtype=np.uint64)
