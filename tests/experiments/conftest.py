"""Result rows that are unremarkable but for what a test says; two domains of the same people."""

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from tacit.crossdomain.domains import Domains
from tacit.readers import from_frame, synthetic
from tacit.results.comparison.row import ResultRow

ROW = {
    "dataset": "made-up", "plan": "rated", "cap": None, "channel": "even", "channel_id": "ab",
    "model": "mean", "mode": "strict", "where": "provider", "trust": "nobody", "epsilon": 1.0,
    "delta": 0.0, "unit": "value", "values_epsilon": None, "user_epsilon": None,
    "tight_epsilon": None, "claim_valid": True, "seed": 0, "fold": None, "n_train": 90,
    "n_test": 10, "rmse": 1.0, "mae": 0.8, "rmse_of_mean": 1.5,
    "information_efficiency": 0.75, "precision_at_10": 0.6, "recall_at_10": 0.9,
    "f_score_at_10": 0.7, "ndcg_at_20": 0.3, "recall_at_20": 0.2, "mrr": 0.4,
    "hit_rate_at_20": 0.5, "coverage_at_20": 0.1, "popularity_at_20": 0.05,
    "niche_ndcg_at_20": 0.1,
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


def parts() -> Iterator[tuple[str, pl.DataFrame]]:
    """Ratings of 40 books and of 40 films by 60 people."""
    made = synthetic(60, 80, 1800).to_polars()
    yield "books", made.filter(pl.col("item") <= 40)
    yield "films", made.filter(pl.col("item") > 40)


@pytest.fixture(scope="session")
def domains() -> Domains:
    """Books and films, the target last."""
    return Domains.join([from_frame(f, scale="1:5:1", name=name) for name, f in parts()])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The same as two tables."""
    for name, frame in parts():
        frame.write_csv(tmp_path / f"{name}.csv")
    return [str(tmp_path / f"{name}.csv") for name in ("books", "films")]
