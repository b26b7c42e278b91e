"""Counts of a shuffled batch: messages per bucket of a task, and their file."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError, DataError
from tacit.wire import strict
from tacit.wire.shuffled.task import ShuffledTask, loads

FORMAT = "tacit-shuffled-counts-1"
KEYS = ("format", "task", "bundles", "counts")
LONGEST = 1 << 28
"""Most bytes of a file of counts."""
WHAT = "The file of counts"


@dataclass(frozen=True, eq=False)
class BucketCounts:
    """Messages per bucket of a task. `bundles`: in its batch. `counts`: shape (buckets,).

    Raises `DataError` for counts of another shape or sign, and `CertificateError` for a batch of
    fewer bundles than the certificate requires: its epsilon would not hold.
    """

    task: ShuffledTask
    bundles: int
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        buckets, least = self.task.round.buckets, self.task.certificate.bundles
        if self.counts.shape != (buckets,) or self.counts.min(initial=0) < 0:
            raise DataError(
                f"counts must be {buckets:,} numbers of at least 0, one per bucket, got shape "
                f"{self.counts.shape} and a minimum of {self.counts.min(initial=0)}."
            )
        if self.bundles < least:
            raise CertificateError(
                f"bundles must be at least {least:,}, which the task's epsilon requires, got "
                f"{self.bundles:,}."
            )

    @property
    def document(self) -> bytes:
        """The counts as JSON, with the task."""
        values = (FORMAT, self.task.document.decode(), self.bundles, self.counts.tolist())
        return json.dumps(dict(zip(KEYS, values, strict=True)), ensure_ascii=False).encode()


def load_counts(path: Path) -> BucketCounts:
    """Return the counts in a file, and verify their task.

    Raises `DataError` for another file, and `CertificateError` for a task whose epsilon does not
    hold.
    """
    fields = strict.fields(strict.parse(path.read_bytes(), WHAT, LONGEST), WHAT, KEYS)
    if fields["format"] != FORMAT:
        raise DataError(f"{path} must have the format {FORMAT}.")
    task = loads(strict.typed(fields, "task", str, WHAT).encode())
    counts = strict.listed(fields["counts"], "counts", strict.integral, WHAT)
    return BucketCounts(task, strict.integer(fields, "bundles", WHAT), np.array(counts, np.int64))


def counts_of(task: ShuffledTask, path: Path) -> BucketCounts | None:
    """Return the counts of a task in a file, None if the file is absent, or is another one."""
    try:
        counts = load_counts(path)
    except (FileNotFoundError, DataError, CertificateError):
        return None
    return counts if counts.task.address == task.address else None
