"""Alternating least squares of Spark MLlib over all domains as one catalogue, the baseline of
X-Map's authors (MLlib-ALS)."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tacit.crossdomain.systems.item_means import item_means
from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.engines.spark import Spark
from tacit.engines.spark_session import quiet, session
from tacit.errors import RequestError
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.ratings import Codes


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
        if not isinstance(engine, Spark):
            raise RequestError("mllib-als runs on Spark only; use --engine spark, or leave it out.")
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
