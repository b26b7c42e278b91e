"""A scorer for LensKit pipelines that is trained on noisy reports.

    from lenskit.pipeline import topn_pipeline
    from tacit.lenskit import ReportScorer

    pipeline = topn_pipeline(ReportScorer(scale="1:5:1", epsilon_per_value="1"))

Nothing else of Tacit needs LensKit, which is installed by the extra `lenskit`.
"""

# LensKit brings torch along, so that it is not where types are checked.
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
    """What is asked of the devices, and what learns from their reports.

    `scale`: the public grid of ratings, such as "1:5:1"; without it nothing is trained.
    `epsilon_per_value`: nats per rating value, a decimal, which covers how an item was rated, not
    that it was. `channel`: a channel's name, or "auto" for the most telling one. `model`: the name
    of a model of ratings; `settings`: those of it that are to be changed.
    """

    scale: str | None = None
    epsilon_per_value: str | float = "1"
    channel: str = "auto"
    model: str = "channel-mf"
    settings: dict[str, Any] = {}


class ReportScorer(Component[ItemList]):
    """Scores items by the ratings that a model predicts, which has seen reports alone.

    `train` sends every rating of the data through the channel, as the devices would, and keeps
    nothing but what the model learnt: `fitted`, whose `guarantee` says what is promised. Whoever
    sent no report, and an item that the data have not, are scored NaN. What a query holds of a
    person's own ratings is not looked at: a provider has none of it.
    """

    config: ReportScorerConfig
    fitted: Fitted | None = None

    def train(self, data: Dataset, options: TrainingOptions) -> None:
        """Learn from reports on the ratings of `data`, once for each time that it is called.

        Privacy: reports are drawn by the operating system. The `rng` of `options` starts the
        model's chain, which is no secret; no seed brings the same reports about again. Training
        again on the same ratings sends them again, and costs epsilon again.

        Raises `RequestError` for a config without a scale, for a name or a setting that does not
        exist, and `DataError` for ratings off the scale.
        """
        if self.fitted is not None and not options.retrain:
            return
        start = int(options.random_generator().integers(LARGEST_SEED))
        self.fitted = models.model(self.config.model, **self.config.settings).fit(
            models.evidence(self._reports(data)), rng=start
        )

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        """The items with the ratings that the query's person is predicted to give them.

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
