"""Rating files for all parties of a comparison: columns `users`, `items`, `ratings` in one npz.

python made.py SHAPE OUT      made-up ratings of a known data set's shape, half-star scale
python made.py PATH OUT       the ratings of a file, rows in file order
python made.py PATH OUT NAME  what a table's people did, and as `test` the split in its column NAME
"""

import sys
from pathlib import Path

import numpy as np

from tacit.readers import read, synthetic

SHAPES = {
    "ml-1m": (6_040, 3_706, 1_000_209),
    "ml-20m": (138_493, 26_744, 20_000_263),
    "gowalla": (29_858, 40_981, 1_027_370),
}


def make(what: str, out: Path, held_out: str = "") -> None:
    """Write the file, in one step, so that an interrupt leaves none."""
    if what in SHAPES:
        ratings = synthetic(*SHAPES[what], "0.5:5:0.5")
    else:
        ratings = read(what, scale="there", held_out=held_out) if held_out else read(what)
    columns = {"users": ratings.users, "items": ratings.items, "ratings": ratings.values}
    if ratings.held_out is not None:
        columns["test"] = ratings.held_out
    part = out.with_suffix(".part.npz")
    np.savez(part, **columns)
    part.rename(out)


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
