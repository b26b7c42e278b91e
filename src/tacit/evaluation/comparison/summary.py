"""Text output of a comparison: tables, excluded users and guarantees."""

from collections.abc import Sequence

from tacit.evaluation.comparison.guarantee_text import sentences
from tacit.evaluation.comparison.slice_table import slice_tables
from tacit.evaluation.comparison.tables import accuracy, promises
from tacit.evaluation.results import ResultRow
from tacit.reporting.table import Table, text

PRINTED = {
    "rmse": "RMSE",
    "information_efficiency": "Information efficiency of the device",
    "f_score_at_10": "F-score at 10 among test items",
    "ndcg_at_20": "NDCG@20",
    "recall_at_20": "Recall@20",
}
"""Printed metrics. Result rows have more."""


def tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Return the non-empty tables: one per metric, slices, and the guarantee per user."""
    metrics = [
        accuracy(rows, name, f"{words}, mean over splits") for name, words in PRINTED.items()
    ]
    return [table for table in (*metrics, *slice_tables(rows), promises(rows)) if table.lines]


def cold_notice(rows: Sequence[ResultRow]) -> list[str]:
    """Return a sentence on the cold users that top-N metrics exclude, or an empty list."""
    counts = sorted({row.cold_users for row in rows if row.cold_users})
    if not counts:
        return []
    least, most = counts[0], counts[-1]
    several = f"{least} to {most} users" if least < most else f"{most} user{'s' * (most > 1)}"
    return [
        f"Top-N metrics exclude {several} with a test rating and no training rating, in every row."
    ]


def as_text(rows: Sequence[ResultRow]) -> str:
    """Return the tables for a terminal, then notices and guarantees, a sentence each."""
    notices = [*cold_notice(rows), *sentences(rows)]
    return "\n".join([f"{text(table)}\n" for table in tables(rows)] + notices)
