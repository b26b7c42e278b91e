"""Error on held-out ratings without privacy: channel-mf on true ratings beside Gibbs peers.

Both see the same rows in the same order; row r is held out where
`numpy.random.default_rng(seed).random(n)[r] < 0.1`.
"""

from typing import Any

from measure import Clock, Figures, speak

RANK, ITERATIONS, KEPT, SHARE = 32, 100, 90, 0.1
TOLD_RANK, TOLD_ITERATIONS = 20, 120  # where the peer is told who rated what


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
    """Without who-rated-what, which `myfm` and `myfm-ordinal` are not told either."""
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


def myfm_told(path: str, seed: str) -> Figures:
    """The peer told who rated what, on both sides: features of "SVD++ flipped" beside the ones."""
    from myfm import MyFMRegressor, RelationBlock

    X, stars, test, groups = _indicators(path, seed)
    rated = _rated(X[~test], groups)
    sides = [(rated, X.indices[0::2]), (rated.T.tocsr(), X.indices[1::2] - groups[0])]
    model = MyFMRegressor(rank=TOLD_RANK, random_seed=int(seed))

    def blocks(chosen: Any) -> Any:
        return [RelationBlock(rows[chosen], _with_own(cells)) for cells, rows in sides]

    with Clock() as clock:
        model.fit(
            None,
            stars[~test],
            X_rel=blocks(~test),
            n_iter=TOLD_ITERATIONS,
            n_kept_samples=TOLD_ITERATIONS - 10,
            group_shapes=[groups[0], groups[1], groups[1], groups[0]],
        )
    return _figures(stars[test], model.predict(None, blocks(test)), clock)


def _rated(X: Any, groups: list[int]) -> Any:
    """Who rated what in these rows, people x items."""
    import numpy as np
    from scipy.sparse import csr_matrix

    places = X.indices[0::2], X.indices[1::2] - groups[0]
    return csr_matrix((np.ones(X.shape[0]), places), tuple(groups))


def _with_own(cells: Any) -> Any:
    """A one for the row itself, and its cells over the root of how many there are."""
    import numpy as np
    from scipy.sparse import diags, eye, hstack

    share = 1 / np.sqrt(np.maximum(np.asarray(cells.sum(1)).ravel(), 1))
    return hstack([eye(cells.shape[0]), diags(share) @ cells]).tocsr()


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
    speak(
        {
            "ours": ours,
            "ours-blind": ours_blind,
            "myfm": myfm,
            "myfm-ordinal": myfm_ordinal,
            "myfm-told": myfm_told,
        }
    )
