"""Rating files for all parties of a comparison: columns `users`, `items`, `ratings` in one npz.

python made.py SHAPE OUT      made-up ratings of a known data set's shape, half-star scale
python made.py PATH OUT       the ratings of a file, rows in file order
"""

import sys
from pathlib import Path

import numpy as np

from tacit.readers import read, synthetic

SHAPES = {"ml-1m": (6_040, 3_706, 1_000_209), "ml-20m": (138_493, 26_744, 20_000_263)}


def make(what: str, out: Path) -> None:
    """Write the file, in one step, so that an interrupt leaves none."""
    ratings = synthetic(*SHAPES[what], "0.5:5:0.5") if what in SHAPES else read(what)
    part = out.with_suffix(".part.npz")
    np.savez(part, users=ratings.users, items=ratings.items, ratings=ratings.values)
    part.rename(out)


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]))
