"""Writable memory of a process of Linux, as root or its parent reads it."""

import os
import signal
import time
from pathlib import Path


def dump(pid: int) -> bytes:
    """The content of all writable mappings: stacks, heaps and buffers, used or freed.

    The process is stopped meanwhile, and continues.
    """
    folder, parts = Path(f"/proc/{pid}"), []
    os.kill(pid, signal.SIGSTOP)
    try:
        while any(_state(task) != "T" for task in (folder / "task").iterdir()):
            time.sleep(0.001)
        with open(folder / "mem", "rb") as memory:  # buffered, so a read is complete
            for line in (folder / "maps").read_text().splitlines():
                span, access = line.split()[:2]
                if access.startswith("rw"):
                    start, end = (int(bound, 16) for bound in span.split("-"))
                    memory.seek(start)
                    parts.append(memory.read(end - start))
                    assert len(parts[-1]) == end - start
    finally:
        os.kill(pid, signal.SIGCONT)
    return b"".join(parts)


def _state(task: Path) -> str:
    return (task / "stat").read_text().rpartition(")")[2].split()[0]
