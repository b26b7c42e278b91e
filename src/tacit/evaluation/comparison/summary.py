"""What is printed of a comparison: its tables, and what is promised in words."""

from collections.abc import Sequence

from tacit.evaluation.comparison.guarantee_text import sentences
from tacit.evaluation.comparison.slice_table import slice_tables
from tacit.evaluation.comparison.tables import Table, accuracy, promises, text
from tacit.evaluation.results import ResultRow

PRINTED = {
    "rmse": "RMSE",
    "information_efficiency": "Information efficiency of the device",
    "f_score_at_10": "F-score of the best 10 test items",
    "ndcg_at_20": "NDCG of lists of 20",
    "recall_at_20": "Recall of lists of 20",
}
"""What is printed; the result rows have the rest."""


def tables(rows: Sequence[ResultRow]) -> list[Table]:
    """Those that have a line: a metric each, slices, and what a whole person can lose."""
    found = [accuracy(rows, name, f"{words}, mean over splits") for name, words in PRINTED.items()]
    return [table for table in (*found, *slice_tables(rows), promises(rows)) if table.lines]


def as_text(rows: Sequence[ResultRow]) -> str:
    """The tables for a terminal, then the promises, a sentence each; epsilons in nats."""
    return "\n".join([f"{text(table)}\n" for table in tables(rows)] + sentences(rows))
