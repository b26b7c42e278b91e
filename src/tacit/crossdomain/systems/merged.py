"""One model over all domains as one catalogue, in this process or by Spark's MLlib."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from tacit.crossdomain.systems.item_means import item_means
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.engines.spark import Spark
from tacit.engines.spark_session import quiet, session
from tacit.errors import RequestError
from tacit.models import MF, AbstractModel, evidence
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.ratings import Codes, Mask


@dataclass(frozen=True, kw_only=True)
class Merged:
    """`model`: fitted to all known ratings of all domains, including those of test users. Its item
    factors connect the domains."""

    model: AbstractModel = field(default_factory=MF)

    variant = None
    mode = "none"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return f"{self.model.name}-merged"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # in this process, without a guarantee
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.predict_codes(trial.users, trial.items).astype(np.float64)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)


def known(trial: Trial) -> Mask:
    """Return whether user and item both have a known rating, which makes a queried cell covered.

    Shape (n,).
    """
    ratings = trial.domains.ratings
    return (
        _any(ratings.users, ratings.n_users)[trial.users]
        & (_any(ratings.items, ratings.n_items)[trial.items])
    )


def _any(codes: Codes, count: int) -> Mask:
    return np.bincount(codes, minlength=count) > 0


@dataclass(frozen=True, kw_only=True)
class MllibALS:
    """`factors`, `rounds`, `ridge`: rank, maxIter and regParam of MLlib, with its defaults. The
    paper does not state its own. `seed`: of the random start."""

    factors: int = 10
    rounds: int = 10
    ridge: float = 0.1
    seed: int = 0

    name = "mllib-als"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`, with the item mean for unknown users and items.

        Raises `RequestError` for another engine than Spark.
        """
        del epsilon  # without a guarantee
        trial.require_stars()
        if not isinstance(engine, Spark):
            raise RequestError(
                "mllib-als runs on Spark only; pass a Spark engine (--engine spark), or leave out "
                "mllib-als."
            )
        with session(engine.master, engine.memory) as spark, quiet():
            predicted = self._predicted(spark, trial)
        covered = known(trial) & np.isfinite(predicted)
        values = np.where(covered, predicted, item_means(trial.domains)[trial.items])
        return TrialPredictions(Predicted(values, covered), NO_PRIVACY)

    def _predicted(self, spark: Any, trial: Trial) -> Any:
        pa: Any = import_module("pyarrow")
        library: Any = import_module("pyspark.ml.recommendation")

        def frame(users: Codes, items: Codes, **more: Any) -> Any:
            return spark.createDataFrame(pa.table({"user": users, "item": items} | more))

        ratings = trial.domains.ratings
        als = library.ALS(
            rank=self.factors, maxIter=self.rounds, regParam=self.ridge, seed=self.seed,
            userCol="user", itemCol="item", ratingCol="rating", coldStartStrategy="nan",
        )  # fmt: skip
        model = als.fit(frame(ratings.users, ratings.items, rating=ratings.values))
        queries = frame(trial.users, trial.items, place=np.arange(len(trial.users)))
        answers = model.transform(queries).select("place", "prediction").toArrow().sort_by("place")
        return answers["prediction"].to_numpy().astype(np.float64)
