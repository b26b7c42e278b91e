"""Result rows that are unremarkable but for what a test says."""

from collections.abc import Callable

import pytest

from tacit.evaluation.results import ResultRow

ROW = {
    "dataset": "made-up", "plan": "rated", "cap": None, "channel": "even", "channel_id": "ab",
    "model": "mean", "mode": "strict", "where": "provider", "trust": "nobody", "epsilon": 1.0,
    "delta": 0.0, "unit": "value", "values_epsilon": None, "user_epsilon": None,
    "tight_epsilon": None, "claim_valid": True, "seed": 0, "fold": None, "n_train": 90,
    "n_test": 10, "rmse": 1.0, "mae": 0.8, "precision_at_10": 0.6, "recall_at_10": 0.9,
    "f_score_at_10": 0.7, "ndcg_at_20": 0.3, "recall_at_20": 0.2, "mrr": 0.4,
    "hit_rate_at_20": 0.5, "coverage_at_20": 0.1, "popularity_at_20": 0.05,
    "fit_seconds": 1.0, "predict_seconds": 0.1,
}  # fmt: skip


@pytest.fixture
def make_row() -> Callable[..., ResultRow]:
    """A row with the given values, the others unremarkable."""

    def make(**values) -> ResultRow:
        if values.get("channel") == "identity":
            none = {"epsilon": None, "unit": "none", "trust": "everybody", "mode": "none"}
            values = {**none, "channel_id": None, "claim_valid": None, **values}
        return ResultRow(**{**ROW, **values})

    return make
