"""Error on held-out ratings without privacy: channel-mf on true ratings beside Gibbs peers.

Both see the same rows in the same order; row r is held out where
`numpy.random.default_rng(seed).random(n)[r] < 0.1`.
"""

from typing import Any

from measure import Clock, Figures, speak

RANK, ITERATIONS, KEPT, SHARE = 32, 100, 90, 0.1


def ours(path: str, seed: str, directions: int | None = None) -> Figures:
    import numpy as np

    from tacit.models import ChannelMF, evidence
    from tacit.readers import read

    ratings = read(path)
    test = np.random.default_rng(int(seed)).random(len(ratings)) < SHARE
    train, held_out = ratings.where(~test), ratings.where(test)
    with Clock() as clock:
        fitted = ChannelMF(directions=directions).fit(evidence(train), rng=int(seed))
    return _figures(held_out.values, fitted.predict_codes(held_out.users, held_out.items), clock)


def ours_blind(path: str, seed: str) -> Figures:
    """Without who-rated-what, which the peers are not told either."""
    return ours(path, seed, directions=0)


def myfm(path: str, seed: str) -> Figures:
    """`path`: what `made.py` wrote of the rating file."""
    from myfm import MyFMRegressor

    X, stars, test, groups = _indicators(path, seed)
    model = MyFMRegressor(rank=RANK, random_seed=int(seed))
    with Clock() as clock:
        model.fit(
            X[~test], stars[~test], n_iter=ITERATIONS, n_kept_samples=KEPT, group_shapes=groups
        )
    return _figures(stars[test], model.predict(X[test]), clock)


def myfm_ordinal(path: str, seed: str) -> Figures:
    """The peer's ordered probit: levels as classes, the expected rating as prediction."""
    import numpy as np
    from myfm import MyFMOrderedProbit

    X, stars, test, groups = _indicators(path, seed)
    levels, classes = np.unique(stars, return_inverse=True)
    model = MyFMOrderedProbit(rank=RANK, random_seed=int(seed))
    with Clock() as clock:
        model.fit(
            X[~test], classes[~test], n_iter=ITERATIONS, n_kept_samples=KEPT, group_shapes=groups
        )
    return _figures(stars[test], model.predict_proba(X[test]) @ levels, clock)


def _indicators(path: str, seed: str) -> tuple[Any, Any, Any, list[int]]:
    """Rows with a one for the person and a one for the item, ratings, and who is held out."""
    import numpy as np
    from scipy.sparse import csr_matrix

    with np.load(path) as columns:
        users, items, stars = columns["users"], columns["items"], columns["ratings"]
    n, groups = len(users), [int(users.max()) + 1, int(items.max()) + 1]
    columns_of = np.stack([users, items + groups[0]], axis=1).ravel()
    X = csr_matrix((np.ones(2 * n), columns_of, np.arange(0, 2 * n + 1, 2)), (n, sum(groups)))
    test = np.random.default_rng(int(seed)).random(n) < SHARE
    return X, stars.astype(np.float64), test, groups


def _figures(true: Any, predicted: Any, clock: Clock) -> Figures:
    import numpy as np

    bounded = np.clip(predicted, true.min(), true.max())
    error = float(np.sqrt(np.mean((bounded - true) ** 2, dtype=np.float64)))
    return {"rmse": error, "wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "ours-blind": ours_blind, "myfm": myfm, "myfm-ordinal": myfm_ordinal})
