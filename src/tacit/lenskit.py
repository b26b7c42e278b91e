"""Scorer for LensKit pipelines that is trained on noisy reports.

    from lenskit.pipeline import topn_pipeline
    from tacit.lenskit import ReportScorer

    pipeline = topn_pipeline(ReportScorer(scale="1:5:1", epsilon_per_value="1"))

Requires the extra `lenskit`.
"""

# LensKit depends on torch, so it is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from typing import Any

import numpy as np
from lenskit.data import Dataset, ItemList, QueryInput, RecQuery
from lenskit.pipeline import Component
from lenskit.training import TrainingOptions
from pydantic import BaseModel

from tacit import models
from tacit.collection.named_plans import plan_of
from tacit.collection.perturb import perturb
from tacit.errors import RequestError
from tacit.models import Fitted
from tacit.privacy.ledger import epsilon_text
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import raw_ids

LARGEST_SEED = 2**31
COLUMNS = {"user": "user_id", "item": "item_id"}


class ReportScorerConfig(BaseModel, frozen=True, extra="forbid"):
    """Configuration of the devices' channel and of the model.

    `scale`: public rating scale, such as "1:5:1", required for training. `epsilon_per_value`: nats
    per rating value, a decimal. It protects the ratings, and not which items were rated. `channel`:
    name of a channel, or "auto" for the one with the most information. `model`: name of a rating
    model. `settings`: changed settings of the model.
    """

    scale: str | None = None
    epsilon_per_value: str | float = "1"
    channel: str = "auto"
    model: str = "channel-mf"
    settings: dict[str, Any] = {}


class ReportScorer(Component[ItemList]):
    """Scores items by predicted ratings of a model that is fitted to reports.

    `train` draws a report of every rating, as the devices would, and stores only the fitted model,
    `fitted`, which has a `guarantee`. Scores of users without reports and of unknown items are NaN.
    Ratings in a query are ignored, because a provider does not have them.
    """

    config: ReportScorerConfig
    fitted: Fitted | None = None

    def train(self, data: Dataset, options: TrainingOptions) -> None:
        """Fit the model to reports on the ratings of `data`.

        Privacy: reports are drawn with random bits of the operating system. The `rng` of `options`
        seeds only the model. Each call on the same ratings draws new reports and costs epsilon
        again.

        Raises `RequestError` for a config without a scale, and for an unknown name or setting, and
        `DataError` for ratings off the scale.
        """
        if self.fitted is not None and not options.retrain:
            return
        start = int(options.random_generator().integers(LARGEST_SEED))
        self.fitted = models.model(self.config.model, **self.config.settings).fit(
            models.evidence(self._reports(data)), rng=start
        )

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        """Return the items with predicted ratings of the query's user as scores.

        Raises `RequestError` before training.
        """
        if self.fitted is None:
            raise RequestError("The scorer is not trained; train the pipeline first.")
        asked = RecQuery.create(query).user_id
        person = -1 if asked is None else self.fitted.user_ids.code(asked)
        codes = self.fitted.item_ids.codes(raw_ids(items.ids()))
        scores = self.fitted.predict_codes(np.full(len(codes), person, np.int32), codes)
        known = (codes >= 0) & (person >= 0)
        return ItemList(items, scores=np.where(known, scores, np.float32(np.nan)))

    def _reports(self, data: Dataset) -> Reports:
        config = self.config
        if config.scale is None:
            raise RequestError(
                "scale is required, as in scale='1:5:1': the scale of the ratings must be public "
                "and cannot be inferred from them."
            )
        table = data.interaction_table(format="arrow", fields=["rating"], original_ids=True)
        scale = RatingScale.parse(config.scale)
        epsilon = epsilon_text(config.epsilon_per_value)
        plan = plan_of("rated", config.channel, epsilon, scale)
        ratings = as_ratings(
            table, scale=scale, columns=COLUMNS, catalogue=data.items.ids().tolist(), name="dataset"
        )
        return perturb(ratings, plan)
