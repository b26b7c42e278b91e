"""Poisoning: how much fake users shift an item's predictions, and its share of lists.

Each target has separate fake users, who report about it the symbol that is the strongest evidence
for the top of the scale. The results of real users are compared with those without the reports of
fake ones: the same users, noise and random numbers, so sampling noise mostly cancels. The
experiment is repeated with screened reports (`tacit.models.evidence.screening`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.linkage import drawn
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import Fillers, PoisonedReports, World, poisoned_reports
from tacit.channels import choose_channel
from tacit.errors import RequestError
from tacit.models import ChannelMF, Fitted, evidence, fold_in
from tacit.models.top_n import rating_model_lists
from tacit.ratings import Ratings
from tacit.reports import Reports

Codes = NDArray[np.int32]
Doubles = NDArray[np.float64]
Worth = Literal["reporters", "people", "repeats"]
WORDS: dict[Worth, str] = {
    "reporters": "fake users, {share:g} % of an item's raters",
    "people": "fake users, {share:g} % of all users",
    "repeats": "one fake user with the same number of reports, without a limit",
}
"""Attackers of a target: fake users, as a share of its raters or of all users; or one fake user
with as many reports, of which a collector stores only the first."""
LENGTH = 20
SHORT = ChannelMF(factors=11, directions=20, burn_in=40, draws=20, every=1)
"""A third of the usual sweeps. Factors are fixed, so they do not depend on the attack."""


@dataclass(frozen=True, eq=False)
class Push:
    """Attack on `targets`, each by `people` fake users who repeat their report `times`.

    Shapes (n,).
    """

    worth: Worth
    targets: Codes
    people: Codes
    times: Codes


@dataclass(frozen=True, eq=False)
class Pushed:
    """Result of an attack, with `screened` reports or not.

    `shift`: change of predictions on real users' devices, in stars, mean over users. `before`,
    `after`: fraction of users without a rating of the target who have it in their list of 20. All
    shape (n,).
    """

    push: Push
    screened: bool
    shift: Doubles
    before: Doubles
    after: Doubles


@dataclass(frozen=True, kw_only=True)
class Poisoning:
    """Settings of the poisoning attack.

    `targets`: number of items, each attacked by reports that amount to `share`, through the most
    informative channel at `epsilon`, nats per value. `fillers`: profiles of fake users.

    Targets are spread evenly over items by popularity; if `share` is relative to an item's raters,
    over those with at least `least` ratings. `most_people`: a sample of this size is drawn from
    more users. `model`: the attacked model. Raises `RequestError` for no target, and for a share
    outside of 0 to 1.
    """

    epsilon: str = "1"
    share: float = 0.01
    targets: int = 10
    least: int = 100
    worth: tuple[Worth, ...] = ("reporters", "people", "repeats")
    fillers: Fillers = "popular"
    most_people: int = 1000
    model: ChannelMF = field(default=SHORT)

    name = "poisoning"
    knows = (
        "The attacker controls fake users, has access to each item's popularity and rating "
        "distribution, and reports for one item the symbol that is the strongest evidence for "
        "the top rating."
    )
    baseline = "without the attack"
    needs = "ratings"

    def __post_init__(self) -> None:
        if self.targets < 1 or not 0 < self.share < 1:
            raise RequestError(
                f"targets must be at least 1 and share between 0 and 1, got {self.targets} "
                f"targets and a share of {self.share}."
            )

    def run(self, world: World) -> list[Finding]:
        """Return the mean shift of a target in stars, and the mean fraction of lists with it."""
        findings: list[Finding] = []
        for each in self.played(world):
            how = "reports screened" if each.screened else "undefended"
            setting = f"{WORDS[each.push.worth].format(share=100 * self.share)}, {how}"
            findings += [
                _finding(setting, "shift, stars", each.shift, np.zeros_like(each.shift)),
                _finding(setting, f"in lists of {LENGTH}", each.after, each.before),
            ]
        return findings

    def played(self, world: World) -> Iterator[Pushed]:
        """Yield the result of each attack, undefended and then screened."""
        users = drawn(world, self.most_people, np.random.default_rng(world.seed))
        real = replace(world, ratings=world.among(users).by_person())
        pushes = self._pushes(real)
        if not pushes:  # no item has enough ratings
            return
        sent = self._reports(real, pushes)
        ends = np.cumsum([real.ratings.n_users, *(push.people.sum() for push in pushes)])
        for screened in (False, True):
            learner = replace(self.model, screened=screened)
            clean = _Seen.of(learner, sent.by(slice(0)), real.ratings)
            for push, group in zip(pushes, pairwise(ends.tolist()), strict=True):
                times = np.repeat(push.times, push.people)
                pushed = _Seen.of(learner, sent.by(slice(*group), times), real.ratings)
                yield _compared(push, screened, clean, pushed, real)

    def _pushes(self, world: World) -> list[Push]:
        popularity = np.bincount(world.ratings.items, minlength=world.ratings.n_items)
        every = [self._push(worth, popularity, world.ratings.n_users) for worth in self.worth]
        return [push for push in every if len(push.targets)]

    def _reports(self, world: World, pushes: Sequence[Push]) -> PoisonedReports:
        channel = choose_channel(epsilon=self.epsilon, scale=world.ratings.scale)[1]
        targets = [np.repeat(push.targets, push.people) for push in pushes]
        return poisoned_reports(world, channel, np.concatenate(targets), self.fillers)

    def _push(self, worth: Worth, popularity: NDArray[np.intp], people: int) -> Push:
        order = np.argsort(popularity, kind="stable").astype(np.int32)
        possible = order[popularity[order] >= (self.least if worth == "reporters" else 1)]
        middles = (np.arange(self.targets) + 0.5) / self.targets * len(possible)
        targets = possible[np.unique(middles.astype(np.int64))] if len(possible) else possible
        base = popularity[targets] if worth == "reporters" else np.full(len(targets), people)
        reports = np.ceil(self.share * base).astype(np.int32)
        once = np.ones_like(reports)
        return Push(worth, targets, *((once, reports) if worth == "repeats" else (reports, once)))


@dataclass(frozen=True, eq=False)
class _Seen:
    """Results on the devices of real users: predictions, and lists, shape (users, 20)."""

    home: Fitted
    lists: Codes

    @classmethod
    def of(cls, model: ChannelMF, sent: Reports, real: Ratings) -> "_Seen":
        fitted = model.fit(evidence(sent))
        own_ratings = replace(real, user_ids=sent.user_ids)
        return cls(
            fold_in(fitted, own_ratings),
            rating_model_lists(fitted, own_ratings, LENGTH)[: real.n_users],
        )

    def stars(self, item: int) -> float:
        """Return the item's predicted rating, mean over all users."""
        people = np.arange(len(self.lists), dtype=np.int32)
        return float(self.home.predict_codes(people, np.full_like(people, item)).mean(dtype="f8"))

    def share(self, item: int, among: NDArray[np.bool_]) -> float:
        """Return the fraction of these users with the item in their list."""
        return float((self.lists[among] == item).any(1).mean()) if among.any() else 0.0


def _compared(push: Push, screened: bool, clean: _Seen, pushed: _Seen, world: World) -> Pushed:
    items = push.targets.tolist()
    shift = np.array([pushed.stars(item) - clean.stars(item) for item in items])
    new = [world.rows[:, item] == 0 for item in items]
    before, after = (
        np.array([seen.share(item, who) for item, who in zip(items, new, strict=True)])
        for seen in (clean, pushed)
    )
    return Pushed(push, screened, shift, before, after)


def _finding(setting: str, figure: str, values: Doubles, without: Doubles) -> Finding:
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Finding(
        setting=setting,
        figure=figure,
        value=float(values.mean()),
        baseline=float(without.mean()),
        error=spread / math.sqrt(len(values)),
        count=len(values),
    )
