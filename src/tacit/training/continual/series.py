"""One release of a series: what it may read, and how it draws noise.

The noise of all releases together is one Gaussian release: the vector of all y of a total changes
by at most its sensitivity (`tacit.training.continual.contributions`) with one user's ratings at all
releases. That holds on every path, also where later contributions depend on earlier releases, so
Renyi divergences add up to those of a single release of that multiplier (Feldman and Zrnic 2021).
Each release therefore draws its part at the multiplier of the complete series.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.training.continual.contributions import Contributions
from tacit.training.continual.prefix_sums import PrefixSums
from tacit.training.continual.state_file import SeriesState, read_measured
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import require_vocabularies
from tacit.training.mechanism.noisy_releases import MOST_DEVIATION
from tacit.training.person.fitted_model import promise
from tacit.vocabulary import Vocabulary

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
FOLDER = (
    "no earlier copy of the series' folder is ever used again: noise drawn twice for one release "
    "costs more"
)


@dataclass(eq=False)
class Series:
    """A release that is being made.

    `ratings`: by user, then by item, encoded with the ids of the state, after which new ones come.
    `measured`: what this release measured, by total.
    """

    folder: Path
    state: SeriesState
    ratings: Ratings
    account: Account
    prefix: PrefixSums
    streams: dict[str, Contributions]
    measured: dict[str, Longs] = field(default_factory=dict[str, Longs])

    @classmethod
    def opened(cls, folder: Path, state: SeriesState, ratings: Ratings, account: Account) -> Self:
        """Prepare the next release. Raises `RequestError` after the last one, without users or
        items, and where a (user, item) pair occurs twice."""
        if state.done == state.terms.releases:
            raise RequestError(
                f"All {state.done} releases of {folder} are made; a further one needs a new "
                "series, whose epsilon is added."
            )
        require_vocabularies(ratings)
        ratings.require_distinct_pairs()
        users, items = (
            _united(state.users, ratings.user_ids),
            _united(state.items, ratings.item_ids),
        )
        undeclared = ratings.undeclared | state.undeclared
        known = replace(ratings.aligned(users, items), undeclared=undeclared).by_person()
        prefix = PrefixSums(state.terms.releases)
        return cls(folder, state, known, account, prefix, dict(state.streams))

    @property
    def final_deviation(self) -> float:
        """Noise of the sums of the last release, in units of that of a single release."""
        return self.prefix.deviation(self.state.terms.releases)

    @property
    def number(self) -> int:
        """Number of this release, from 1."""
        return self.state.done + 1

    def room(self, name: str, squared: int) -> int:
        """Return the largest sensitivity at |R| = 1, in steps, that noise on the grid allows.

        `squared`: squared sensitivity of the total at a bound of 1 and |R| = 1.
        """
        norm = (squared * self.prefix.squared_norm) ** 0.5
        return int(MOST_DEVIATION / (1.01 * norm * self.account.multiplier(name)))

    def contributions(
        self, name: str, ratings: Ratings, labels: Doubles, *, bound: int, most: int
    ) -> Contributions:
        """Return and remember the contributions of `ratings` to a total, new ones included.

        `labels`: of all ratings, from -1 to 1, shape (n,). Raises `RequestError` where earlier
        contributions have other bounds, which the sensitivity would not cover.
        """
        old = self.streams.get(name, Contributions.none(bound, most))
        if (old.bound, old.most) != (bound, most):
            raise RequestError(
                f"{self.folder} was begun by a version of Tacit with other bounds of "
                "contributions; continue it with that version."
            )
        users, items, columns = ratings.users, ratings.items, ratings.n_items
        old = old.without_missing(users, items, columns)
        new = old.missing(users, items, columns)
        now = old.with_new(
            users[new], items[new], labels[new], release=self.state.done, people=ratings.n_users
        )
        now.require_bounded()
        self.streams[name] = now
        return now

    def measure(self, name: str, totals: Longs, *, sensitivity: int) -> tuple[Doubles, float]:
        """Measure R x of a total at this release. Returns its sum S and the deviation of its noise.

        `totals`: shape (items,), or (items, items), of which the upper triangle is measured.
        `sensitivity`: of all releases together. All in steps.
        """
        cells = np.triu_indices(len(totals), 1) if totals.ndim == 2 else (slice(None),)
        y = np.zeros_like(totals)
        y[cells] = self.account.gaussian(name, totals[cells], sensitivity=sensitivity)
        self.measured[name] = y
        earlier = read_measured(self.folder, name, self.state)
        sums = self.prefix.sums([*earlier, y])
        unit = self.account.multiplier(name) * sensitivity / self.prefix.squared_norm**0.5
        return sums, unit * self.prefix.deviation(len(earlier) + 1)

    def closed(self) -> Guarantee:
        """Close the account. Returns the guarantee of the complete series."""
        self.account.close()
        stated = promise(self.account)
        terms = self.state.terms
        return replace(
            stated,
            released=f"noisy totals in {self.number} of {terms.releases} releases",
            assumptions=(stated.assumptions[0], NEIGHBOURS, FOLDER),
        )

    def after(self, **changes: object) -> SeriesState:
        """Return the state after this release. `changes`: further fields."""
        return replace(
            self.state,
            done=self.number,
            users=self.ratings.user_ids,
            items=self.ratings.item_ids,
            undeclared=self.ratings.undeclared,
            streams=self.streams,
            **changes,
        )


NEIGHBOURS = (
    "neighbouring data differ in one user's complete profile at every release, which may be empty"
)


def _united(known: Vocabulary, new: Vocabulary) -> Vocabulary:
    """Return all ids, known ones first. Ids are compared by their spelling."""
    more = new.ids.filter(pl.Series(known.codes(new.ids) < 0))
    if len(known) == 0:
        return new
    both_integer = known.ids.dtype.is_integer() and more.dtype.is_integer()
    kind = pl.Int64 if both_integer else pl.String
    return Vocabulary(pl.concat([known.ids.cast(kind), more.cast(kind)]).alias("id"))
