"""Explicit alternating least squares, 64 factors, float32: CPU seconds a sweep over both sides.

Every party reads the same file; reading and the party's own data set are set-up and not counted.
Ours solves the weighted problem, with random weights, the peers the plain one.
"""

from typing import Any

from measure import Clock, Figures, speak

FACTORS, RIDGE = 64, 10.0


def ours(path: str, sweeps: str) -> Figures:
    import numpy as np

    from tacit.kernels.als import SideProblem, half_step
    from tacit.kernels.layout import by_user, layout

    users, items, ratings = _load(path)
    n_users, n_items = int(users.max()) + 1, int(items.max()) + 1
    cells, order = layout(users, items, n_users, n_items)
    target = ratings[order] - ratings.mean()
    chance = np.random.default_rng(0)
    weight = chance.random(len(target), np.float32) + np.float32(0.5)
    ridge = np.full(FACTORS, RIDGE, np.float32)
    people, level = np.zeros(n_users, np.float32), np.zeros(n_items, np.float32)
    Y = np.float32(0.1) * chance.standard_normal((n_items, FACTORS), np.float32)
    none = by_user(users[:0], items[:0], 1, n_items)[0]
    half_step(none, SideProblem(target[:0], weight[:0], Y, level, ridge))  # compile
    with Clock() as clock:
        for _ in range(int(sweeps)):
            X = half_step(cells.users, SideProblem(target, weight, Y, level, ridge))
            Y = half_step(cells.items, SideProblem(target, weight, X, people, ridge))
    return _a_sweep(clock, sweeps)


def lenskit(path: str, sweeps: str) -> Figures:
    import pandas as pd
    from lenskit.als import BiasedMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.training import TrainingOptions

    users, items, ratings = _load(path)
    table = pd.DataFrame({"user_id": users, "item_id": items, "rating": ratings})
    data = from_interactions_df(table)
    model = BiasedMFScorer(features=FACTORS, epochs=int(sweeps))
    with Clock() as clock:
        model.train(data, TrainingOptions(rng=0))
    return _a_sweep(clock, sweeps)


def cmfrec(path: str, sweeps: str) -> Figures:
    import pandas as pd
    from cmfrec import CMF

    users, items, ratings = _load(path)
    table = pd.DataFrame({"UserId": users, "ItemId": items, "Rating": ratings})
    model = CMF(
        k=FACTORS, lambda_=RIDGE, method="als", use_cg=True, finalize_chol=False,
        niter=int(sweeps), use_float=True, nthreads=2, verbose=False, random_state=0,
        precompute_for_predictions=False,
    )  # fmt: skip
    with Clock() as clock:
        model.fit(table)
    return _a_sweep(clock, sweeps)


def _load(path: str) -> tuple[Any, Any, Any]:
    import numpy as np

    with np.load(path) as columns:
        return columns["users"], columns["items"], columns["ratings"]


def _a_sweep(clock: Clock, sweeps: str) -> Figures:
    n = int(sweeps)
    return {"cpu_seconds": clock.cpu / n, "wall_seconds": clock.wall / n, "sweeps": n}


if __name__ == "__main__":
    speak({"ours": ours, "lenskit": lenskit, "cmfrec": cmfrec})
