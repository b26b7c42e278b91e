"""Print a digest of every channel, fitted model, trainer, cross-domain system and result row.

    python .ci/digests.py before.txt   # before a change that must not change a bit
    python .ci/digests.py after.txt    # after it, on the same machine; then compare the two files

Random bytes of the operating system are replaced by a fixed stream, so that noise repeats.
"""

import hashlib
import itertools
import json
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tacit
from tacit import channels, crossdomain, fit, models, training
from tacit.cli import app
from tacit.readers import synthetic

TIMES = ("seconds", "fit_seconds", "predict_seconds")
COMMANDS = {
    "compare": "compare {d}/a.csv --scale 1:5:1 --model bias,mf,channel-mf,ease,dpals,pg-mf "
    "--channel auto,laplace --epsilon 1,3 --slices",
    "compare catalogue": "compare {d}/a.csv --scale 1:5:1 --model item-mean,channel-mf,ease "
    "--plan catalogue --epsilon 2 --cap 20",
    "compare users": "compare {d}/a.csv --scale 1:5:1 --model item-mean,dpals --person-epsilon 8",
    "attack": "attack {d}/a.csv --scale 1:5:1 --plan rated,catalogue --epsilon 1,4",
    "crossdomain": "crossdomain {d}/a.csv {d}/b.csv --scale 1:5:1 --lists --epsilon 1 "
    "--overlap 1,0.5 --mode both",
}


class Stream:
    """A fixed stream of bytes in place of `os.urandom`."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start again, so that each entry has the same noise whatever came before it."""
        self._random = np.random.default_rng(20)

    def __call__(self, size: int) -> bytes:
        return self._random.bytes(size)


def digest(value: Any) -> str:
    """Return a digest of all numbers, texts and arrays that an object holds."""
    found = hashlib.sha256()
    for part in parts(value, {}):
        found.update(part)
    return found.hexdigest()[:16]


def parts(value: Any, visited: dict[int, Any]) -> Iterator[bytes]:
    """Yield the bytes of what an object holds, arrays with their type and shape."""
    if id(value) in visited and not isinstance(value, str | int | float | bool | None):
        return
    visited[id(value)] = value  # kept alive, so that no other object gets its id
    if isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, str | int | float | bool | bytes | np.generic) or value is None:
        yield repr(value).encode()
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from itertools.chain(parts(key, visited), parts(item, visited))
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from parts(item, visited)
    elif hasattr(value, "to_bytes"):
        yield value.to_bytes()
    elif hasattr(value, "__dict__"):
        yield from parts(dict(sorted(vars(value).items())), visited)


def entries(stream: Stream) -> Iterator[tuple[str, Any]]:
    """Yield a name and what is digested of it."""
    ratings = synthetic(80, 60, 1600, rng=3)
    for name in channels.MECHANISMS:
        for missing in (False, True):
            if channels.serves(name, missing=missing):
                table = channels.compile_channel(
                    name, epsilon="1.5", scale=ratings.scale, missing=missing
                )
                yield f"channel {name} {missing}", table.id
    stream.restart()
    channel = channels.compile_channel("optimal", epsilon="1", scale=ratings.scale)
    reports = tacit.perturb(ratings, tacit.Rated(channel))
    yield "reports", reports.symbols
    for name in (*models.MODELS, *models.LIST_MODELS):
        for source, data in (("ratings", ratings), ("reports", reports)):
            stream.restart()
            yield f"model {name} {source}", tacit.fit(name, data)
    trainers = [*training.TRAININGS, *((name, "strict") for name in training.LIST_TRAININGS)]
    for name, mode in trainers:
        stream.restart()
        trained = fit(name, ratings, epsilon="8", delta="1e-6", mode=mode)
        yield f"trainer {name} {mode}", trained
    yield "systems", sorted(crossdomain.SYSTEMS)


def commands(stream: Stream, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the result rows of commands, without times."""
    synthetic(80, 60, 1600, rng=3).to_polars().write_csv(folder / "a.csv")
    synthetic(80, 60, 1600, rng=4).to_polars().write_csv(folder / "b.csv")
    for name, line in COMMANDS.items():
        stream.restart()
        out = folder / "rows.json"
        arguments = [*line.format(d=folder).split(), "--json", str(out)]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            app(arguments, standalone_mode=False)
        rows = json.loads(out.read_text())
        for number, row in enumerate(rows):
            yield (
                f"{name} {number}",
                {key: value for key, value in row.items() if key not in TIMES},
            )


def main(path: str) -> None:
    """Write a line per entry."""
    stream = Stream()
    os.urandom = stream
    with TemporaryDirectory() as folder, Path(path).open("w") as file:
        for name, value in itertools.chain(entries(stream), commands(stream, Path(folder))):
            file.write(f"{digest(value)} {name}\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1])
