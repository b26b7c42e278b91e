"""Names by number, against a dictionary."""

import numpy as np

from tacit.kernels.layout import LEAST_BITS, numbered


def test_numbers_are_those_of_a_dictionary() -> None:
    """More names than the table begins with, halves in common, and a view with a stride."""
    rng = np.random.default_rng(3)
    high, low = rng.integers(0, 1 << 63, 70, np.uint64), rng.integers(0, 1 << 63, 60, np.uint64)
    rows = np.zeros((20_000, 4), np.uint64)
    rows[:, 0], rows[:, 1] = rng.choice(high, len(rows)), rng.choice(low, len(rows))
    rows[7, :2], rows[8, :2] = 0, (1 << 64) - 1
    known: dict[tuple[int, ...], int] = {}
    twin = [known.setdefault(tuple(name), len(known)) for name in rows[:, :2].tolist()]
    numbers, names = numbered(rows[:, :2])
    assert numbers.tolist() == twin
    assert [tuple(name) for name in names.tolist()] == list(known)
    assert len(known) > 1 << LEAST_BITS


def test_nobody_has_no_number() -> None:
    numbers, names = numbered(np.empty((0, 2), np.uint64))
    assert (len(numbers), len(names)) == (0, 0)
