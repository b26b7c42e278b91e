"""taste-map: an AlterEgo from all ratings of a user jointly, through factors common to all domains.

X-Map replaces single items. Here the items of all domains have factors in a common space
(`channel-mf` on true ratings). A profile in any domain gives a posterior of the user's factors, and
of each target rating. The prediction is its median, which minimizes the expected absolute error.
"""

from dataclasses import dataclass, field

from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.models import AbstractModel, ChannelMF, evidence


@dataclass(frozen=True, kw_only=True)
class TasteMap:
    """`model`: a model with posterior draws of user and item factors. By default it does not use
    implicit feedback (`directions=0`): test users have no visible target ratings because these are
    hidden, and users of a single domain may not use the other."""

    model: AbstractModel = field(default_factory=lambda: ChannelMF(directions=0))

    name = "taste-map"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # in this process, without a guarantee
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.median(trial.users, trial.items)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)
