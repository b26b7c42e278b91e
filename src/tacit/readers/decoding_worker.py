"""The process that decodes files for a trial; run by its path, so that it loads polars alone.

It says "ready", then answers every request with a line. A request is a line of JSON, followed by
the file's bytes where it has no path.
"""

import json
import sys
from contextlib import suppress

import polars as pl

ROWS = 1 << 20


def serve() -> None:
    """Decode what is asked for until standard input ends."""
    requests = sys.stdin.buffer
    print("ready", flush=True)
    for request in requests:
        scan, path, size = json.loads(request)
        file = path or requests.read(size)
        # What polars can raise, whoever reads the file next meets too, and has a sentence for.
        with suppress(Exception, pl.exceptions.PanicException):
            for _ in getattr(pl, scan)(file).collect_batches(chunk_size=ROWS):
                pass
        print("done", flush=True)


if __name__ == "__main__":
    serve()
