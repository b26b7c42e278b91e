"""Public data sets by name: URL, checksum and licence of each archive."""

from dataclasses import dataclass

GROUPLENS = "https://files.grouplens.org/datasets/movielens"
GROUPLENS_LICENCE = (
    "For research; cite Harper and Konstan (2015), and do not pass the data on or use them "
    "commercially without permission of GroupLens."
)


@dataclass(frozen=True)
class Archive:
    """An archive. `checksum`: "md5:.." or "sha256:..", or None to fetch `url` + ".md5"."""

    name: str
    url: str
    checksum: str | None
    licence: str = GROUPLENS_LICENCE
    note: str = ""


def _movielens(name: str, md5: str | None, note: str = "") -> Archive:
    checksum = None if md5 is None else f"md5:{md5}"
    return Archive(name, f"{GROUPLENS}/{name}.zip", checksum, note=note)


ARCHIVES = (
    _movielens("ml-100k", "0e33842e24a9c977be4e0107933c0723"),
    _movielens("ml-1m", "c4d9eecfca2ab87c1945afe126590906"),
    _movielens("ml-10m", "ce571fd55effeba0271552578f2648bd", "Read it with --scale 0.5:5:0.5."),
    _movielens("ml-20m", "cd245b17a1ae2cc31bb14903e1204af3"),
    _movielens("ml-25m", "6b51fb2759a8657d3bfcbfc42b592ada"),
    _movielens("ml-32m", "d472be332d4daa821edc399621853b57"),
    # GroupLens updates these two, so their checksum is fetched.
    _movielens("ml-latest-small", None),
    _movielens("ml-latest", None),
    Archive(
        "jester",
        "https://eigentaste.berkeley.edu/dataset/archive/jester_dataset_1_1.zip",
        "sha256:cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615",
        "For research; cite Goldberg, Roeder, Gupta and Perkins, Eigentaste (2001).",
        "It holds an Excel sheet: save that as jester-data-1.csv to read it.",
    ),
)
DATASETS = {archive.name: archive for archive in ARCHIVES}
