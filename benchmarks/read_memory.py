"""Read a generated rating file and print rows, seconds and peak memory.

    python benchmarks/read_memory.py [--rows 20000000] [--kind csv|parquet|gz|text-ids]

The file is written by a process of its own, so that the peak is the reader's alone.
"""

import argparse
import gzip
import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

USERS, ITEMS = 138_493, 26_744


def write(path: Path, rows: int, kind: str) -> None:
    """Write `rows` synthetic ratings of MovieLens 20M's shape."""
    import polars as pl

    from tacit.readers.synthetic import synthetic

    table = synthetic(USERS, ITEMS, rows, "0.5:5:0.5").to_polars()
    if kind == "text-ids":
        table = table.with_columns(pl.format("person-{}", "user").alias("user"))
    if kind == "parquet":
        table.write_parquet(path)
    else:
        plain = path.with_suffix(".csv")
        table.write_csv(plain)
        if kind == "gz":
            with plain.open("rb") as source, gzip.open(path, "wb", 1) as packed:
                shutil.copyfileobj(source, packed)


def main() -> None:
    """Write, read, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--kind", choices=("csv", "parquet", "gz", "text-ids"), default="csv")
    asked = parser.parse_args()
    rows, kind = asked.rows, asked.kind
    suffix = {"parquet": ".parquet", "gz": ".csv.gz"}.get(kind, ".csv")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made{suffix}"
        print(f"writing {rows:,} rows ..", file=sys.stderr, flush=True)
        writer = multiprocessing.get_context("spawn").Process(target=write, args=(path, rows, kind))
        writer.start()
        writer.join()

        from tacit.readers import read

        print("reading them ..", file=sys.stderr, flush=True)
        began = time.perf_counter()
        ratings = read(path)
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{kind}: {len(ratings):,} rows in {seconds:.1f} s, peak {peak:.2f} GB")


if __name__ == "__main__":
    main()
