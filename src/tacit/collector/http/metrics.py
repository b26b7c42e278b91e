"""Operator metrics: totals since the start, without personal data."""

from collections.abc import Iterator

from tacit.collector.http.erasing import Erasing
from tacit.collector.http.upload import UploadHandler
from tacit.collector.storage.writer import Writer


def text(upload: UploadHandler, erasing: Erasing, writer: Writer) -> str:
    """Return the metrics in the Prometheus text format."""
    return "".join(f"{line}\n" for line in _lines(upload, erasing, writer))


def _lines(upload: UploadHandler, erasing: Erasing, writer: Writer) -> Iterator[str]:
    yield "# TYPE tacit_uploads_total counter"
    for answer, count in sorted(upload.counts.items()):
        yield f'tacit_uploads_total{{answer="{answer}"}} {count}'
    yield "# TYPE tacit_erasures_total counter"
    for answer, count in sorted(erasing.counts.items()):
        yield f'tacit_erasures_total{{answer="{answer}"}} {count}'
    yield "# TYPE tacit_reports_total counter"
    for outcome in ("stored", "duplicate", "conflict"):
        yield f'tacit_reports_total{{outcome="{outcome}"}} {writer.counts[outcome]}'
    yield "# TYPE tacit_commits_total counter"
    yield f"tacit_commits_total {writer.counts['commits']}"
    yield "# TYPE tacit_commit_failures_total counter"
    yield f"tacit_commit_failures_total {writer.counts['failures']}"
    yield "# TYPE tacit_reports_waiting gauge"
    yield f"tacit_reports_waiting {writer.waiting}"
