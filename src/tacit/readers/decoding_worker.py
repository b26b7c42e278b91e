"""The process that decodes files for a trial; run by its path, so that it loads polars alone.

It says "ready", then answers every request: "sound", or "damaged" where polars would not say so. A
request is a line of JSON, followed by the file's bytes where it has no path.
"""

import json
import sys

import polars as pl

ROWS = 1 << 20


def serve() -> None:
    """Decode what is asked for until standard input ends."""
    requests = sys.stdin.buffer
    print("ready", flush=True)
    for request in requests:
        scan, path, size = json.loads(request)
        file = path or requests.read(size)
        print("sound" if sound(scan, file) else "damaged", flush=True)


def sound(scan: str, file: str | bytes) -> bool:
    """Whether batches have all rows, or reading them raises an error; a panic is neither.

    A panic in a thread of polars' own ends batches early, and nothing is raised.
    """
    lazy = getattr(pl, scan)(file)
    try:
        rows = sum(len(batch) for batch in lazy.collect_batches(chunk_size=ROWS))
    except pl.exceptions.PanicException:
        return False
    except Exception:
        return True  # whoever reads the file next meets it, too, and has a sentence for it
    try:
        return rows == lazy.select(pl.len()).collect().item()
    except (pl.exceptions.PanicException, Exception):
        return False


if __name__ == "__main__":
    serve()
