"""Rows of a comparison: one model with one channel at one epsilon on one split."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, cast

from tacit.errors import DataError
from tacit.metrics.accuracy import Slice
from tacit.privacy.guarantee import Trust, Unit
from tacit.results.records import OPTIONAL, checked, plain

RANDOM, POPULARITY = "random", "popularity"
"""List models that are baselines of every comparison. The first one is not fitted to data."""
PRIVATE_POPULARITY = "dp-popularity"
BASELINES = (RANDOM, POPULARITY, PRIVATE_POPULARITY)
"""Names of all baselines that a comparison adds."""
STARS = ("rmse", "mae", "rmse_of_mean", "information_efficiency", "precision_at_10",
         "recall_at_10", "f_score_at_10")  # fmt: skip
"""Metrics of predicted ratings. The last three rank test items, as the papers do."""
LISTS = ("ndcg_at_20", "recall_at_20", "mrr", "hit_rate_at_20", "coverage_at_20",
         "popularity_at_20")  # fmt: skip
"""Metrics of top-20 lists over the complete catalogue, as `tacit.metrics.lists` defines them."""
METRICS = (*STARS, *LISTS, "niche_ndcg_at_20")
ADDED = ("niche_ndcg_at_20",)
"""Keys that rows of earlier versions do not have."""


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """One model with one channel at one epsilon on one split, evaluated at one location.

    Epsilons are in nats. `where`: "provider" predicts from reports only, "device" from the user's
    true ratings and the published item model, "curator" from true ratings. `unit`: what `epsilon`
    protects. `claim_valid`: False if the guarantee is known to fail, None without a guarantee.
    `uncovered`: undeclared parts that the guarantee does not cover ("the catalogue, the set of
    people"), or None. `empty_epsilon`: `epsilon` where one of two profiles is empty, for shuffled
    messages, else None. `items`: columns of the public item table that the model used ("title,
    genres"), or None. `plugins`: the channel or model that comes from a plug-in, and the plug-in
    ("halfway of my-package 1.0"), or None. `cold_users`: number of users with a test rating and no
    training rating, whom top-N metrics exclude for every model. None for none. `ranked_by`: "gain"
    for lists of a rating model by expected gain, else None. `niche_ndcg_at_20`:
    NDCG@20 of the quarter of users whose items are least popular, NaN in rows of earlier versions.
    `rmse_of_mean`: RMSE of the mean of the true training ratings. `information_efficiency`: on the
    device, if the model also ran without privacy, as `tacit.experiments.comparison.comparison`
    defines it. `slices`: the error by decile of users and items, None unless requested. Seconds are
    wall seconds; `predict_seconds` covers rating prediction. Metrics that a model or a scale does
    not have are NaN.
    """

    dataset: str
    plan: str
    cap: int | None
    channel: str | None
    channel_id: str | None
    model: str
    mode: str
    where: str
    trust: Trust
    epsilon: float | None
    delta: float
    unit: Unit
    values_epsilon: float | None
    user_epsilon: float | None
    tight_epsilon: float | None
    claim_valid: bool | None
    uncovered: str | None = None
    empty_epsilon: float | None = None
    items: str | None = None
    plugins: str | None = None
    cold_users: int | None = None
    ranked_by: str | None = None
    seed: int
    fold: int | None
    n_train: int
    n_test: int
    rmse: float
    mae: float
    rmse_of_mean: float
    information_efficiency: float
    precision_at_10: float
    recall_at_10: float
    f_score_at_10: float
    ndcg_at_20: float
    recall_at_20: float
    mrr: float
    hit_rate_at_20: float
    coverage_at_20: float
    popularity_at_20: float
    niche_ndcg_at_20: float = math.nan
    fit_seconds: float
    predict_seconds: float
    slices: tuple[Slice, ...] | None = None

    @property
    def method(self) -> str:
        """Name of the model in tables, with the item features used and a mark if its guarantee is
        known to fail."""
        known = self.model if self.items is None else f"{self.model} knowing {self.items}"
        return known if self.claim_valid is not False else f"{known}, claim fails"

    @property
    def via(self) -> str:
        """The channel, or the plan of a trainer with its unit, which usually differs from that of
        channels."""
        who = "curator" if self.trust == "curator" else self.plan
        return self.channel or f"{who} per {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. Missing figures are null.

        The keys in `OPTIONAL` are omitted if None.
        """
        values = plain(self)
        absent = [key for key in OPTIONAL if values[key] is None]
        return {key: value for key, value in values.items() if key not in absent}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        known = checked(cls, {**dict.fromkeys((*OPTIONAL, *ADDED)), **values}, METRICS)
        if known["slices"] is not None:
            parts = (checked(Slice, part, ("slice_rmse",)) for part in known["slices"])
            known["slices"] = tuple(Slice(**part) for part in parts)
        return cls(**known)


KEYS = tuple(field.name for field in fields(ResultRow) if field.name not in OPTIONAL)
"""Keys that every row has."""


def read_rows(path: Path) -> list[ResultRow]:
    """Read the rows that `save` wrote. Raises `DataError` if the file is not a result file."""
    try:
        rows = json.loads(path.read_text())
        if not isinstance(rows, list):
            raise TypeError("it is not a list of rows")
        return [ResultRow.from_dict(values) for values in cast("list[Any]", rows)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path} is not a result file ({error}); run the comparison again."
        ) from error
