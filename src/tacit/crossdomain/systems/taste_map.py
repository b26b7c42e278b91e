"""taste-map: an AlterEgo made of all of one's ratings at once, through tastes that domains share.

Where X-Map replaces one item by one other, all items of all domains have a place among the same
tastes here (`channel-mf` on true ratings). A profile anywhere tells a person's place, as a
distribution, and so a distribution of each of their target ratings. The prediction is its median,
which no other guess beats in mean absolute error.
"""

from dataclasses import dataclass, field

from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.models import AbstractModel, ChannelMF, evidence


@dataclass(frozen=True, kw_only=True)
class TasteMap:
    """`model`: whose draws are posterior draws of people's and items' tastes. As it stands it does
    not read who rated what (`directions=0`): a tested person has rated nothing in the target as it
    is hidden, and whoever rates in one domain alone may not know the other."""

    model: AbstractModel = field(default_factory=lambda: ChannelMF(directions=0))

    name = "taste-map"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`."""
        del engine, epsilon  # the sampler has its own kernels; nothing is promised
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.median(trial.users, trial.items)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)
