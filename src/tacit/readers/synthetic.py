"""Synthetic ratings with realistic marginals, for demonstrations and tests.

The latent rating of item i by user u is

    theta = b_u + b_i + <p_u, q_i> + noise,

with the variances of MovieLens 100K. Cut points map it to levels with the level shares of that data
set. User activity and item popularity follow power laws, popular items have better ratings, and
users rate in sessions.
"""

from dataclasses import dataclass

import numba
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError, integer
from tacit.ratings import Codes, Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Floats = NDArray[np.float32]

# Shares of one to five stars, and standard deviations in stars, as in MovieLens 100K.
SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)
SPREAD_USER, SPREAD_ITEM, SPREAD_TASTE, SPREAD_NOISE = 0.45, 0.62, 0.5, 0.88
TASTES = 8
LIKED = 4.0  # effect of one star of taste on an interaction, in logits
FEWEST = 20
MOST_OF_CATALOGUE = 0.5
BEGIN, SPAN, BETWEEN = 874_724_710, 18_500_000, 25
CHUNK = 1 << 20


@dataclass(frozen=True)
class _World:
    """Parameters of the synthetic users and items."""

    user_bias: Floats
    item_bias: Floats
    user_taste: Floats
    item_taste: Floats
    popularity: NDArray[np.float64]


def synthetic(
    n_users: int = 943,
    n_items: int = 1682,
    n_ratings: int = 100_000,
    scale: RatingScale | str = "1:5:1",
    rng: int = 0,
    *,
    fewest: int = FEWEST,
) -> Ratings:
    """Generate `n_ratings` synthetic ratings in order of time, determined by `rng`.

    Every user rates at least `fewest` items and at most half of the catalogue. Users and items have
    the ids 1, 2, .. On the scale "there" they are interactions that depend on taste: an item that
    is proposed by popularity is accepted with probability 1 / (1 + exp(-4 <p_u, q_i>)). Raises
    `RequestError` for a number of ratings outside these limits.

    >>> ratings = synthetic(n_users=50, n_items=80, n_ratings=1500)
    >>> len(ratings), ratings.n_users, ratings.n_items
    (1500, 50, 80)
    """
    if integer("fewest", fewest) < 1:
        raise RequestError(f"fewest must be an integer of at least 1, got {fewest}.")
    integer("rng", rng, 0)
    sizes = {"n_users": n_users, "n_items": n_items, "n_ratings": n_ratings}
    n_users, n_items, n_ratings = (integer(name, n, 1) for name, n in sizes.items())
    most = int(n_items * MOST_OF_CATALOGUE)
    if most < fewest:
        raise RequestError(
            f"n_items must be at least {int(fewest / MOST_OF_CATALOGUE)}, so that every user can "
            f"rate {fewest} items of half the catalogue, got {n_items}; generate more items, or "
            "pass a smaller fewest."
        )
    if not n_users * fewest <= n_ratings <= n_users * most:
        raise RequestError(
            f"n_ratings must be from {n_users * fewest} to {n_users * most} for {n_users} users "
            f"with {fewest} to {most} ratings each, got {n_ratings}."
        )
    grid = scale if isinstance(scale, RatingScale) else RatingScale.parse(scale)
    generator = np.random.default_rng(rng)
    world = _world(n_users, n_items, generator)
    activity = _activity(n_users, n_ratings, fewest, most, generator)
    users = np.repeat(np.arange(n_users, dtype=np.int32), activity)
    cumulative = np.cumsum(world.popularity)
    if grid.has_one_level:
        items = choose_liked(users, cumulative, world.user_taste, world.item_taste, generator)
    else:
        items = choose_items(users, cumulative, generator)
    times = _times(users, generator)
    order = np.argsort(times, kind="stable")
    users, items = users[order], items[order]
    return Ratings(
        users=users,
        items=items,
        levels=_levels(_latent(world, users, items, generator), grid),
        scale=grid,
        user_ids=_numbers(n_users),
        item_ids=_numbers(n_items),
        times=times[order],
        name="synthetic",
        undeclared=frozenset(),
    )


def _world(n_users: int, n_items: int, rng: np.random.Generator) -> _World:
    def normal(*shape: int) -> Floats:
        return rng.standard_normal(shape, np.float32)

    # Zipf-Mandelbrot: the shift limits the share of the most popular item.
    rank = rng.permutation(n_items) / n_items
    popularity = (rank + 0.15) ** -2.4
    fame = _standard(np.log(popularity).astype(np.float32))
    width = SPREAD_TASTE**0.5 * TASTES**-0.25
    return _World(
        user_bias=SPREAD_USER * normal(n_users),
        item_bias=(SPREAD_ITEM * (0.55 * fame + 0.835 * normal(n_items))).astype(np.float32),
        user_taste=width * normal(n_users, TASTES),
        item_taste=width * normal(n_items, TASTES),
        popularity=popularity / popularity.sum(),
    )


def _standard(values: Floats) -> Floats:
    return (values - values.mean()) / values.std()


def _activity(
    n_users: int, n_ratings: int, fewest: int, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the number of ratings per user: `fewest` plus a Lomax tail of index 6, exact in sum."""
    extra = rng.pareto(6.0, n_users)
    extra *= (n_ratings - fewest * n_users) / extra.sum()
    counts = np.minimum(fewest + np.floor(extra).astype(np.int64), most)
    while short := n_ratings - int(counts.sum()):
        room = np.flatnonzero(counts < most)
        counts[rng.permutation(room)[:short]] += 1
    return counts


@numba.njit(cache=True)
def choose_items(
    users: Codes, cumulative: NDArray[np.float64], rng: np.random.Generator
) -> Codes:  # pragma: no cover
    """Draw an item for each row of `users` (grouped) by popularity, without repeats per user."""
    items = np.empty(len(users), np.int32)
    last_user = np.full(len(cumulative), -1, np.int32)
    for row in range(len(users)):
        while True:
            item = min(np.searchsorted(cumulative, rng.random()), len(cumulative) - 1)
            if last_user[item] != users[row]:
                break
        last_user[item] = users[row]
        items[row] = item
    return items


@numba.njit(cache=True)
def choose_liked(
    users: Codes,
    cumulative: NDArray[np.float64],
    user_taste: Floats,
    item_taste: Floats,
    rng: np.random.Generator,
) -> Codes:  # pragma: no cover
    """Draw items as `choose_items`, and accept each with a probability that depends on taste."""
    items = np.empty(len(users), np.int32)
    last_user = np.full(len(cumulative), -1, np.int32)
    for row in range(len(users)):
        mine = user_taste[users[row]]
        while True:
            item = min(np.searchsorted(cumulative, rng.random()), len(cumulative) - 1)
            taste = np.sum(mine * item_taste[item])
            if last_user[item] != users[row] and rng.random() * (1 + np.exp(-LIKED * taste)) < 1:
                break
        last_user[item] = users[row]
        items[row] = item
    return items


def _times(users: Codes, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw Unix seconds: each user starts at a random time and rates every 25 s on average."""
    people = np.arange(int(users[-1]) + 1)
    start = BEGIN + rng.integers(0, SPAN, len(people))
    gaps = np.cumsum(rng.exponential(BETWEEN, len(users)))
    first = np.searchsorted(users, people)
    return start[users] + (gaps - gaps[first][users]).astype(np.int64)


def _latent(world: _World, users: Codes, items: Codes, rng: np.random.Generator) -> Floats:
    theta = SPREAD_NOISE * rng.standard_normal(len(users), np.float32)
    for at in range(0, len(users), CHUNK):
        u, i = users[at : at + CHUNK], items[at : at + CHUNK]
        taste = np.einsum("rk,rk->r", world.user_taste[u], world.item_taste[i])
        theta[at : at + CHUNK] += world.user_bias[u] + world.item_bias[i] + taste
    return theta


def _levels(theta: Floats, scale: RatingScale) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Map latent ratings to levels, with quantile cuts that give each level its share of rows."""
    places = np.arange(1, scale.n_levels) * len(SHARES) / scale.n_levels
    below = [_share_below(float(position)) for position in places]
    cuts = np.quantile(theta, np.array(below, np.float32))
    level = np.searchsorted(cuts, theta)
    return level.astype(np.uint8) if scale.n_levels <= 256 else level.astype(np.uint16)


def _share_below(stars: float) -> float:
    """Return the share of ratings below `stars`, linear between integers."""
    full = int(stars)
    return (sum(SHARES[:full]) + (stars - full) * SHARES[full]) / sum(SHARES)


def _numbers(count: int) -> Vocabulary:
    return Vocabulary(pl.Series("id", np.arange(1, count + 1, dtype=np.int64)))


# Titles of synthetic films, for demonstrations.

QUALITIES = (
    "Quiet", "Second", "Borrowed", "Glass", "Distant", "Last", "Crooked", "Silver", "Hungry",
    "Patient", "Electric", "Forgotten", "Northern", "Painted", "Reluctant", "Burning", "Paper",
    "Midnight", "Gentle", "Impossible", "Velvet", "Stolen", "Winter", "Honest", "Hollow", "Golden",
    "Wandering", "Careful", "Broken", "Invisible", "Salted", "Restless", "Emerald", "Sleeping",
    "Unwritten", "Marble", "Distracted", "Thirteenth", "Drowned", "Ordinary",
)  # fmt: skip
THINGS = (
    "Harbour", "Orchard", "Letter", "Clockmaker", "River", "Witness", "Garden", "Lantern",
    "Passenger", "Season", "Mirror", "Cartographer", "Storm", "Library", "Violin", "Frontier",
    "Neighbour", "Bridge", "Summer", "Detective", "Island", "Promise", "Machine", "Waltz",
    "Lighthouse", "Inheritance", "Train", "Sparrow", "Kitchen", "Kingdom", "Stranger", "Alphabet",
    "Mountain", "Photograph", "Thief", "Carnival", "Window", "Voyage", "Choir", "Rehearsal",
    "Tailor", "Archive", "Meadow",
)  # fmt: skip


def made_up_titles(count: int) -> list[str]:
    """Return `count` distinct titles, always the same, at most 1,720.

    Raises `RequestError` for more.

    >>> made_up_titles(3)
    ['The Quiet Harbour', 'The Second Orchard', 'The Borrowed Letter']
    """
    most = len(QUALITIES) * len(THINGS)
    if count > most:
        raise RequestError(f"count must be at most {most} titles, got {count}.")
    # The lengths of the lists are coprime, so no pair occurs twice.
    return [f"The {QUALITIES[k % len(QUALITIES)]} {THINGS[k % len(THINGS)]}" for k in range(count)]
