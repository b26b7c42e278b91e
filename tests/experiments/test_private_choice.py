"""Choosing epsilon on private ratings: replayed on neighbours, look by look."""

from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from tacit.audit.replay import Recorder, Replayer
from tacit.collection.named_plans import plan_of
from tacit.errors import RequestError
from tacit.experiments.choice import private_choice
from tacit.experiments.choice.private_choice import STEPS, PrivateChoice, squared_errors
from tacit.learners.learner import learner
from tacit.metrics.split import SplitProtocol, at_random
from tacit.models import MODELS, device_predict
from tacit.privacy.guarantee import PARTS
from tacit.readers import synthetic
from tacit.reports import Reports
from tacit.training.mechanism.noisy_releases import SecretReleases

PAIRS = 60
RATINGS = synthetic(40, 60, 1000)
SPLIT = SplitProtocol(seeds=1)
SHORT = {"burn_in": 5, "draws": 4}
QUICK = {"channel-mf": SHORT, "channel-mf-screened": SHORT}


def choice(model: str, **changes) -> PrivateChoice:
    asked = {"channel": "optimal", "model": model, "epsilons": ("0.5", "2"), "protocol": SPLIT}
    return PrivateChoice(**asked | changes)


class FrozenReports:
    """Reports of the first run, whatever ratings come later.

    A model is fitted once to each table of reports: it gets nothing else, or the test ends.
    """

    def __init__(self, monkeypatch) -> None:
        self._reports: dict[str, Reports] = {}
        self._fitted: dict[int, object] = {}
        self._perturb = private_choice.perturb
        self.changes = {"make_plan": cache(plan_of), "learner": self.learner}
        monkeypatch.setattr(private_choice, "perturb", self.perturb)

    def perturb(self, ratings, plan):
        if plan.epsilon not in self._reports:
            self._reports[plan.epsilon] = self._perturb(ratings, plan)
        return self._reports[plan.epsilon]

    def learner(self, name, mode="strict"):
        """The learner, whose fit gets reports and a seed, or the test ends."""
        known, frozen = learner(name, mode), self

        class Frozen:
            name, plugin = "bias", None

            where = known.where

            def fit(self, data, **settings):
                assert isinstance(data, Reports)
                assert settings == {"rng": 0}
                if id(data) not in frozen._fitted:
                    quick = QUICK.get(name, {})
                    frozen._fitted[id(data)] = known.fit(data, **settings, **quick)
                return frozen._fitted[id(data)]

        return Frozen()


def tradeoff(chosen, ratings, releases=None):
    """The trade-off of a private choice, and that of its rows."""
    rows = chosen.experiment(ratings, releases).rows()
    return chosen.tradeoff(rows, ratings.scale)


class NothingMayMove(Replayer):
    """The recorded answers, and a finding wherever an input moved at all."""

    def laplace(self, name, totals, *, sensitivity, epsilon):
        return super().laplace(name, totals, sensitivity=0, epsilon=epsilon)


def findings(recorder, training, neighbour, kind=Replayer):
    """What a second run finds that gets the first one's answers."""
    looks = recorder.looks
    if kind is NothingMayMove:
        looks = [replace(look, sensitivity=0) for look in looks]
    replayer = kind(looks)
    training(neighbour, replayer)
    return replayer.findings


def moved(ratings, row: int, by: int = 2):
    """The neighbour in which one rating is another one."""
    levels = ratings.levels.copy()
    levels[row] = (levels[row] + by) % ratings.scale.n_levels
    return replace(ratings, levels=levels)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", MODELS)
def test_a_test_value_moves_a_sum_by_its_sensitivity_at_most_and_a_training_value_by_nothing(
    model, monkeypatch
):
    frozen, known = FrozenReports(monkeypatch), RATINGS.by_person()
    chosen, held_out = choice(model, **frozen.changes), at_random(len(known), 0.1, 0)

    def training(ratings, releases):
        return [np.array(tradeoff(chosen, ratings, releases).points)]

    recorder = Recorder(SecretReleases())
    training(known, recorder)
    assert [look.price for look in recorder.looks] == ["0.5", "2"]
    chance = np.random.default_rng(7)
    for row in chance.choice(np.flatnonzero(held_out), PAIRS // 2):
        assert findings(recorder, training, moved(known, row)) == []
    for row in chance.choice(np.flatnonzero(~held_out), PAIRS // 2):
        assert findings(recorder, training, moved(known, row), NothingMayMove) == []


def test_the_extreme_test_value_moves_its_sum_by_all_that_is_declared():
    one = RATINGS.take(np.array([0]))
    low, high = (replace(one, levels=np.array([k], np.uint8)) for k in (0, 4))
    (below, most), (above, _) = (squared_errors(r, np.array([9.0])) for r in (low, high))
    assert (below[0] - above[0], most) == (16 * STEPS, 16 * STEPS)
    assert squared_errors(RATINGS, np.full(len(RATINGS), 3.0))[0].dtype == np.int64
    with pytest.raises(RequestError, match="non-finite"):
        squared_errors(one, np.array([np.nan]))


def test_what_reads_training_values_is_caught(monkeypatch):
    """Planted: predictions of a device, whose owner's row is solved from true ratings."""
    frozen, known = FrozenReports(monkeypatch), RATINGS.by_person()
    held_out = at_random(len(known), 0.1, 0)

    def training(ratings, releases):
        class OnDevice:
            name, plugin = "bias", None

            where = ("provider",)

            def fit(self, data, **settings):
                self.fitted = frozen.learner("bias").fit(data, **settings)
                return self

            def predict_codes(self, users, items):
                return device_predict(self.fitted, ratings.where(~held_out), users, items)

        planted = {**frozen.changes, "learner": lambda name, mode: OnDevice()}
        return [np.array(tradeoff(choice("bias", **planted), ratings, releases).points)]

    recorder = Recorder(SecretReleases())
    training(known, recorder)
    tested = np.isin(known.users, known.users[held_out])
    row = int(np.flatnonzero(tested & ~held_out)[0])
    assert findings(recorder, training, moved(known, row), NothingMayMove) != []


def test_the_price_is_every_training_and_every_error():
    assert choice("bias").guarantee(RATINGS).epsilon == "5"
    twice = choice("bias", protocol=SplitProtocol(seeds=3, folds=4))
    cost = twice.guarantee(RATINGS)
    assert Decimal(cost.epsilon) == 12 * 2 * Decimal("2.5")
    assert (cost.unit, cost.trust) == ("value", "curator")
    recorder = Recorder(SecretReleases())
    tradeoff(twice, RATINGS, recorder)
    spent = sum(Decimal(look.price) for look in recorder.looks)
    assert 2 * spent == Decimal(cost.epsilon)


def test_a_fit_costs_the_epsilon_of_its_table():
    """At sensitivity 1 of 4, the tables prove 4 and 8 nats per value at 1 and 2."""
    weak = choice("global-mean", channel="laplace sensitivity=1", epsilons=("1", "2"))
    assert weak.guarantee(RATINGS).epsilon == "15"
    inferred = replace(RATINGS, undeclared=frozenset({"scale"}))
    assert choice("bias").guarantee(inferred).uncovered == (PARTS["scale"],)


def test_a_run_is_not_continued_by_another_one(tmp_path):
    """A journal of another model, channel, split or data set has none of its cells."""
    keys = {
        cell.key
        for known in (RATINGS, replace(RATINGS, name="other"))
        for changes in ({}, {"channel": "laplace"}, {"protocol": SplitProtocol(seeds=1, share=0.3)})
        for model in ("bias", "global-mean")
        for cell in choice(model, **changes).experiment(known).cells
    }
    assert len(keys) == 2 * 3 * 2 * 2


def test_the_order_of_the_file_decides_nothing(monkeypatch):
    frozen = FrozenReports(monkeypatch).changes
    shuffled = RATINGS.take(np.random.default_rng(2).permutation(len(RATINGS)))
    sums = []
    for ratings in (RATINGS, shuffled):
        recorder = Recorder(SecretReleases())
        tradeoff(choice("global-mean", **frozen), ratings, recorder)
        sums.append([look.given.tolist() for look in recorder.looks])
    assert sums[0] == sums[1]


@pytest.mark.parametrize("model", ["dpals", "dpss", "psgd", "pg-mf"])
def test_trainings_are_refused(model):
    with pytest.raises(RequestError, match="use true training ratings"):
        tradeoff(choice(model), RATINGS)


def test_noise_of_errors_is_laplace_of_the_declared_scale(monkeypatch):
    asked, noisy = choice("global-mean", **FrozenReports(monkeypatch).changes), []
    for _ in range(120):
        recorder = Recorder(SecretReleases())
        tradeoff(asked, RATINGS, recorder)
        noisy.append([int(look.returned[0] - look.given[0]) for look in recorder.looks])
    # The mean size of Laplace noise is its scale; six deviations of 120 draws.
    for size, epsilon in zip(np.abs(noisy).mean(0), (0.5, 2.0), strict=True):
        assert abs(size * epsilon / (16 * STEPS) - 1) < 6 / np.sqrt(120)
