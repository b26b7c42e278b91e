"""Scorers for LensKit pipelines that are trained on noisy reports.

    from lenskit.pipeline import topn_pipeline
    from tacit.lenskit import ReportListScorer, ReportScorer

    pipeline = topn_pipeline(ReportScorer(scale="1:5:1", epsilon_per_value="1"))
    lists = topn_pipeline(ReportListScorer(epsilon_per_slot="2"))

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

from tacit import models, registry
from tacit.collection.named_plans import plan_of, protects_presence
from tacit.collection.perturb import perturb
from tacit.device.list_profile import ListProfile
from tacit.errors import RequestError, must_be
from tacit.models import Fitted, FittedLists
from tacit.privacy.ledger import epsilon_text
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import THERE, RatingScale
from tacit.vocabulary import raw_ids
from tacit.wire.list_model import ListModel

LARGEST_SEED = 2**31
COLUMNS = {"user": "user_id", "item": "item_id"}
UNTRAINED = "The scorer is not trained; train the pipeline first."


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
            raise RequestError(UNTRAINED)
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


class ReportListScorerConfig(BaseModel, frozen=True, extra="forbid"):
    """Configuration of the devices' channel and of the top-N model.

    `epsilon_per_slot`: nats per (user, item) slot, a decimal. It also protects which items a user
    has. `plan`: "catalogue", or "sample:K" for K slots per user. `channel`: name of a channel, or
    "auto". `model`: name of a top-N model. `settings`: changed settings of the model.
    """

    epsilon_per_slot: str | float = "1"
    plan: str = "catalogue"
    channel: str = "randomized-response"
    model: str = "ease"
    settings: dict[str, Any] = {}


class ReportListScorer(Component[ItemList]):
    """Scores items for top-N lists by a model that is fitted to reports of implicit feedback.

    Every interaction of the dataset counts once, whatever its rating. `train` draws a report of
    each user, as the devices would, and stores the fitted model, `fitted`, which has a `guarantee`,
    and `published`, the list model that devices download. A score is computed from `published` and
    the history in the query, as on the user's device, which has that history. A user without
    history gets popularity. Scores order items, and those of unknown items are NaN.
    """

    config: ReportListScorerConfig
    fitted: FittedLists | None = None
    published: ListModel | None = None

    def train(self, data: Dataset, options: TrainingOptions) -> None:
        """Fit the model to reports on the interactions of `data`.

        Privacy: as for `ReportScorer.train`. The sum over slots is an epsilon per user.

        Raises `RequestError` for the plan `rated`, which does not protect interactions, the model
        `random`, which learns nothing, and an unknown name or setting.
        """
        if self.published is not None and not options.retrain:
            return
        config = self.config
        base = registry.named(models.LIST_MODELS, config.model, "model")
        model = registry.changed(base, config.model, "model", config.settings)
        start = int(options.random_generator().integers(LARGEST_SEED))
        fitted = model.fit(models.interactions(self._reports(data)), rng=start)
        remedy = "choose ease, graph-filter or popularity"
        self.fitted = must_be(FittedLists, fitted, "a model that learns from reports", remedy)
        self.published = models.list_model(self.fitted)

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        """Return the items with scores for the query's history.

        Raises `RequestError` before training.
        """
        if self.published is None:
            raise RequestError(UNTRAINED)
        history = RecQuery.create(query).history_items
        known = {str(item): index for index, item in enumerate(self.published.items)}
        ids = [] if history is None else [str(item) for item in history.ids()]
        profile = ListProfile(self.published, [item for item in ids if item in known])
        indices = (known.get(str(item)) for item in items.ids())
        scores = [np.nan if index is None else profile.scores[index] for index in indices]
        return ItemList(items, scores=np.array(scores, np.float32))

    def _reports(self, data: Dataset) -> Reports:
        config = self.config
        if not protects_presence(config.plan):
            raise RequestError(
                "plan must be catalogue or sample:K, because the plan rated protects no "
                "interaction."
            )
        table = data.interaction_table(format="arrow", fields=[], original_ids=True)
        scale = RatingScale.parse(THERE)
        epsilon = epsilon_text(config.epsilon_per_slot)
        plan = plan_of(config.plan, config.channel, epsilon, scale)
        interactions = as_ratings(
            table, scale=scale, columns=COLUMNS, catalogue=data.items.ids().tolist(), name="dataset"
        )
        return perturb(interactions, plan)
