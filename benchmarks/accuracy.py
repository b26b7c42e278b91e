"""`accuracy.py ours|myfm SPLIT.npz`: RMSE without privacy, on one split both are given."""

import sys
from typing import Any

import numpy as np

from measure import Clock, say


def ours(train: Any, test: Any, low: float, high: float) -> Any:
    """channel-mf on true ratings: the identity channel."""
    import polars as pl

    from tacit.models import fit
    from tacit.readers import from_frame

    users, items, values = train
    frame = pl.DataFrame({"user": users, "item": items, "rating": values})
    ratings = from_frame(frame, scale=f"{low:g}:{high:g}:1")
    return fit("channel-mf", ratings).predict_ids(
        pl.Series(test[0].tolist()), pl.Series(test[1].tolist())
    )


def myfm(train: Any, test: Any, low: float, high: float) -> Any:
    """Bayesian factorization machine on user and item, rank 32, 100 Gibbs sweeps, 90 kept."""
    from myfm import MyFMRegressor
    from scipy.sparse import csr_matrix

    people = int(max(train[0].max(), test[0].max())) + 1
    films = int(max(train[1].max(), test[1].max())) + 1

    def design(users: Any, items: Any) -> Any:
        n = len(users)
        columns = np.stack([users, items + people], axis=1).ravel()
        return csr_matrix(
            (np.ones(2 * n), columns, np.arange(0, 2 * n + 1, 2)), (n, people + films)
        )

    model = MyFMRegressor(rank=32, random_seed=0)
    model.fit(
        design(train[0], train[1]), train[2].astype(np.float64),
        n_iter=100, n_kept_samples=90, group_shapes=[people, films],
    )  # fmt: skip
    return np.clip(model.predict(design(test[0], test[1])), low, high)


if __name__ == "__main__":
    with np.load(sys.argv[2]) as file:
        held = file["held"]
        columns = [file[name] for name in ("users", "items", "values")]
    train, test = [c[~held] for c in columns], [c[held] for c in columns]
    low, high = float(columns[2].min()), float(columns[2].max())
    with Clock() as clock:
        predicted = {"ours": ours, "myfm": myfm}[sys.argv[1]](train, test, low, high)
    rmse = float(np.sqrt(np.mean((predicted - test[2]) ** 2)))
    name = "tacit" if sys.argv[1] == "ours" else sys.argv[1]
    say(who=name, rmse=rmse, wall=clock.wall, cpu=clock.cpu)
