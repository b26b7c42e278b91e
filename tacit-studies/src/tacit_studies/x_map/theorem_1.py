"""X-Map's Theorem 1: is a replacement epsilon-private?

With a fixed set of candidates I(i) it is: changing all X-Sims changes no probability by more than a
factor of e^epsilon, which the integer weights are checked for on random X-Sims. But I(i) depends on
the ratings. A meta-path may exist through a single user, and then so does a candidate: without that
user its probability is 0, and no epsilon is finite. Users of the data are left out, one at a time,
and the candidates of all source items are compared.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import extend
from tacit.crossdomain.x_map.replacement import STEPS, weights
from tacit.engines.engine import Local
from tacit.kernels.neighbourhood.search_results import Wanted
from tacit.progress import bar
from tacit.ratings import Mask
from tacit.reporting.table import Table
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.paper import whole_profiles
from tacit_studies.verdict import ClaimVerdict

MOST = 50
"""Candidates of a random case, at most."""


@dataclass(frozen=True)
class XMapTheorem1:
    """Random X-Sims at each of the `epsilons`, in nats per item, in that number of `cases`.

    `users`: number of users who are left out, one at a time, of complete profiles with up to
    `ratings` ratings. `k`: edges kept.
    """

    epsilons: tuple[str, ...] = ("0.1", "0.6", "2")
    cases: int = 1000
    users: int = 20
    k: int = 50
    ratings: int = 1_000_000

    name: ClassVar[str] = "theorem-1"
    title: ClassVar[str] = "Theorem 1: private replacements"
    covers: ClassVar[tuple[str, ...]] = ("Theorem 1", "PRS")
    own_data: ClassVar[str] = ""

    def find(self, data: Domains, kept: Kept) -> StudyResult:
        """Check the law for fixed candidates, and leave users out."""
        del kept  # Every figure is exact.
        losses = {epsilon: fixed_loss(epsilon, self.cases) for epsilon in self.epsilons}
        known = replace(data, ratings=whole_profiles(data.ratings, self.ratings))
        changed = changed_items(known, self.users, self.k)
        most = max(changed, default=0.0)
        several = sum(share > 0 for share in changed)
        return StudyResult(
            claims=(
                PaperClaim.of_cases(
                    "Theorem 1, with a fixed set of candidates", "at most epsilon",
                    {epsilon: loss <= float(epsilon) for epsilon, loss in losses.items()},
                    "up to " + ", ".join(f"{loss:.3f} at {e}" for e, loss in losses.items()),
                ),
                PaperClaim(
                    "Theorem 1, with the candidates that users' ratings reach", "at most epsilon",
                    f"no finite epsilon: candidates change without {several} of {len(changed)} "
                    f"users, for up to {most:.1%} of the source items",
                    ClaimVerdict.FAILS if several else ClaimVerdict.HOLDS,
                ),
            ),
            tables=(table(losses),),
            remarks=("Each item's replacement is a release, so a map of n items costs n epsilon.",),
        )  # fmt: skip


def fixed_loss(epsilon: str, cases: int) -> float:
    """Return the largest log ratio of a replacement's probabilities under two random X-Sims.

    Half of the cases have X-Sims of -1 and 1 alone, where the largest ratios are.
    """
    table = weights(epsilon)
    chance = np.random.default_rng(0)
    largest = 0.0
    for number in range(cases):
        steps = chance.integers(0, 2 * STEPS + 1, (2, int(chance.integers(2, MOST + 1))))
        if number % 2:
            steps = 2 * STEPS * (steps > STEPS)
        heavy = table[steps]
        # Integers are added up exactly: the sum of fifty weights has at most 48 bits.
        law = heavy / heavy.sum(1, keepdims=True)
        largest = max(largest, float(np.abs(np.log(law[0] / law[1])).max()))
    return largest


def changed_items(domains: Domains, users: int, k: int) -> list[float]:
    """Return, for each user left out, the share of source items whose candidates change."""
    chance = np.random.default_rng(0)
    straddlers = domains.straddlers(len(domains.names) - 1)
    left_out = chance.choice(straddlers, min(users, len(straddlers)), replace=False)
    everybody = candidates(domains, np.ones(domains.ratings.n_users, np.bool_), k)
    shares: list[float] = []
    with bar("users left out") as progress:
        for number, user in enumerate(left_out.tolist()):
            progress("", number, len(left_out))
            others = np.arange(domains.ratings.n_users) != user
            fewer = candidates(domains, others, k)
            items = everybody.keys() | fewer.keys()
            changed = sum(everybody.get(item) != fewer.get(item) for item in items)
            shares.append(changed / max(len(items), 1))
    return shares


def candidates(domains: Domains, users: Mask, k: int) -> dict[int, bytes]:
    """Return I(i), the target items reached, of every source item that reaches any.

    Only ratings of `users`, a mask, are read.
    """
    ratings = domains.ratings
    known = replace(domains, ratings=ratings.where(users[ratings.users]))
    in_target: NDArray[np.bool_] = known.of_item == len(known.names) - 1
    base = baseline(compare_items(known.ratings), in_target, Local(), Wanted(k))
    extension = extend(base, in_target, Local())
    start, other, _ = extension.found
    return {
        item: other[start[row] : start[row + 1]].tobytes()
        for row, item in enumerate(extension.sources.tolist())
        if start[row] < start[row + 1]
    }


def table(losses: dict[str, float]) -> Table:
    """Return the largest loss at each epsilon, and the odds of the best replacement."""
    lines = tuple(
        (epsilon, f"{loss:.3f}", f"{math.exp(float(epsilon) / 2):.2f}")
        for epsilon, loss in losses.items()
    )
    heading = ("epsilon", "largest loss", "odds of the best over the worst")
    return Table("Fixed candidates; nats per source item", heading, lines)
