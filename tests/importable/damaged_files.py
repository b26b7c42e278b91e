"""Valid files of every format, and what may happen to them on the way."""

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

RATINGS = [(u, i, 1 + (3 * u + i) % 5) for u in range(1, 13) for i in range(1, 9) if (u + i) % 3]


def _lines(separator: str, header: str = "", day: str = "881250949") -> bytes:
    rows = [separator.join(map(str, (*row, day))) for row in RATINGS]
    return (header + "\n".join(rows) + "\n").encode()


def _jester() -> bytes:
    rows = [
        f"{3 + u % 2},{u / 4:.2f},99,{-u / 3:.2f},-1.50,{'2.25' if u % 2 else '99'}"
        for u in range(1, 20)
    ]
    return ("\n".join(rows) + "\n").encode()


def _stored(write: str) -> bytes:
    frame = pl.DataFrame(RATINGS, schema=["user", "item", "rating"], orient="row")
    file = io.BytesIO()
    getattr(frame, write)(file)
    return file.getvalue()


def _films(line: bytes) -> bytes:
    return b"".join(line % (k, k) for k in range(1, 9))


NETFLIX = b"1:\n8,3,2005-09-06\n9,4,2005-09-07\n2:\n8,5,2005-09-08\n7,1,2004-02-29\n"
GENRES = b"|".join([b"0"] * 18 + [b"1"])

VALID: dict[str, tuple[str, bytes]] = {
    "movielens-100k": ("u.data", _lines("\t")),
    "movielens-1m": ("ratings.dat", _lines("::")),
    "movielens-csv": ("ratings.csv", _lines(",", "userId,movieId,rating,timestamp\n")),
    "netflix": ("mv_1.txt", NETFLIX),
    "jester": ("jester.csv", _jester()),
    "libimseti": ("libimseti.dat", b"".join(b"%d,%d,%d\n" % row for row in RATINGS)),
    "table": ("x.csv", _lines(",", "user,item,rating,timestamp\n")),
    "parquet": ("x.parquet", _stored("write_parquet")),
    "arrow": ("x.arrow", _stored("write_ipc")),
    "u.item": ("u.item", _films(b"%d|Film %d (1999)|01-Jan-1999||http://x|" + GENRES + b"\n")),
    "movies.dat": ("movies.dat", _films(b"%d::Film %d::Action|Drama\n")),
    "movies.csv": ("movies.csv", b"movieId,title,genres\n" + _films(b'%d,"Film, %d",Action\n')),
}
"""One small valid file a format: its name, and its bytes."""

Mutation = Callable[[random.Random, bytes], bytes]


def noise(chance: random.Random, data: bytes) -> bytes:
    """Bytes of no format at all."""
    return chance.randbytes(chance.randrange(1, 400))


def cut(chance: random.Random, data: bytes) -> bytes:
    """A part of the file."""
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:last] if chance.random() < 0.5 else data[first:last]


def flipped(chance: random.Random, data: bytes) -> bytes:
    """A few bytes replaced by others."""
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def repeated(chance: random.Random, data: bytes) -> bytes:
    """A part of the file once more, somewhere."""
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[first:last] * chance.choice((1, 1, 2, 40)) + data[at:]


ODD = (
    b"\0", b"\0" * 9, b'"', b'""', b"\r", b"\r\n", b"\n\n", b"\x1a", b"\xff\xfe", b"\xef\xbb\xbf",
    b",", b"\t", b"::", b"|", b"nan", b"-inf", b"1e999", b"9" * 400, b"-", b"\xe2\x80\xa8", b"\x85",
    b"\x1f", b"\x1f\x8b", b"a" * 200_000, b"null", b"'",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037")
ENDS = (b"\r\n", b"\r", b"\n\r", b"\n\n", b"\0\n", b" \n", b"\x0c\n")


def inserted(chance: random.Random, data: bytes) -> bytes:
    """Something odd in the middle."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(ODD) + data[at:]


def another_encoding(chance: random.Random, data: bytes) -> bytes:
    """The text as another program would save it."""
    return data.decode("latin-1").encode(chance.choice(ENCODINGS))


def other_line_ends(chance: random.Random, data: bytes) -> bytes:
    """The lines ended in another way."""
    return data.replace(b"\n", chance.choice(ENDS))


def fields_moved(chance: random.Random, data: bytes) -> bytes:
    """A line with a field taken away, added or emptied."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    separator = next((s for s in (b"::", b"\t", b",", b"|") if s in lines[at]), b" ")
    fields = lines[at].split(separator)
    place = chance.randrange(len(fields))
    fields[place : place + 1] = chance.choice(([], [b""], [b"x"], [fields[place], b""]))
    lines[at] = separator.join(fields)
    return b"\n".join(lines)


def shuffled(chance: random.Random, data: bytes) -> bytes:
    """The lines in another order, the header among them."""
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def crossed(chance: random.Random, data: bytes) -> bytes:
    """The beginning of one file and the end of one of another format."""
    _, other = VALID[chance.choice(list(VALID))]
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def packed(chance: random.Random, data: bytes) -> bytes:
    """In gzip or zip, whole or not, whatever the file is called."""
    if chance.random() < 0.5:
        wrapped = gzip.compress(data, mtime=0)
    else:
        file = io.BytesIO()
        inside = chance.choice(("u.data", "inner/ratings.csv", "x.csv", "../x.csv"))
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(inside, data)
        wrapped = file.getvalue()
    return chance.choice((wrapped, cut(chance, wrapped), flipped(chance, wrapped)))


MUTATIONS: tuple[Mutation, ...] = (
    noise,
    cut,
    flipped,
    repeated,
    inserted,
    another_encoding,
    other_line_ends,
    fields_moved,
    shuffled,
    crossed,
    packed,
)
NAMES = ("x.csv", "x.tsv", "x.txt", "x.dat", "x", "x.gz", "x.zip", "x.parquet")


def case(kind: str, seed: int) -> tuple[str, bytes]:
    """The name and the bytes of case `seed` of a format: one to three things went wrong."""
    chance = random.Random(f"{kind} {seed}")
    name, data = VALID[kind]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice(MUTATIONS)(chance, data or b"\n")
    if chance.random() < 0.25:
        name = chance.choice(NAMES)
    if chance.random() < 0.1:
        name += ".gz"
    return Path(name).name, data
