"""Worker process of trial decoding, run by its path, so that it imports polars only.

It prints "ready", then one reply per request: "damaged" for damage that polars does not report,
otherwise "sound". A request is a line of JSON, followed by the file's bytes if it has no path.
"""

import json
import sys

import polars as pl

ROWS = 1 << 20


def serve() -> None:
    """Process requests until the end of standard input."""
    requests = sys.stdin.buffer
    print("ready", flush=True)
    for request in requests:
        scan, path, size = json.loads(request)
        file = path or requests.read(size)
        print("sound" if sound(scan, file) else "damaged", flush=True)


def sound(scan: str, file: str | bytes) -> bool:
    """Return whether decoding yields all rows, or raises an ordinary error. False for a panic.

    A panic in a thread of polars ends the batches early, without an exception.
    """
    lazy = getattr(pl, scan)(file)
    try:
        rows = sum(len(batch) for batch in lazy.collect_batches(chunk_size=ROWS))
    except pl.exceptions.PanicException:
        return False
    except Exception:
        return True  # the actual reader gets the same error, and reports it
    try:
        return rows == lazy.select(pl.len()).collect().item()
    except (pl.exceptions.PanicException, Exception):
        return False


if __name__ == "__main__":
    serve()
