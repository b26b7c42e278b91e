"""SVD++ by gradient descent, 20 factors, 20 epochs, beside the peer that made it customary.

Both fit the same rows; row r is held out where `numpy.random.default_rng(seed).random(n)[r] < 0.1`.
`people`: the first so many only, in the order of their ids; 0 for all.
"""

from typing import Any

from measure import Clock, Figures, speak

SHARE = 0.1


def ours(path: str, seed: str, people: str) -> Figures:
    import numpy as np

    from tacit.models import evidence, model
    from tacit.readers import read

    ratings = read(path)
    ratings = ratings.where(ratings.users < (int(people) or ratings.n_users))
    test = np.random.default_rng(int(seed)).random(len(ratings)) < SHARE
    train, held_out = ratings.where(~test), ratings.where(test)
    svdpp = model("svdpp")
    svdpp.fit(evidence(train.where(train.users < 2)))  # compile
    with Clock() as clock:
        fitted = svdpp.fit(evidence(train), rng=int(seed))
    return _figures(held_out.values, fitted.predict(held_out.users, held_out.items), clock)


def surprise(path: str, seed: str, people: str) -> Figures:
    """`path`: what `made.py` wrote of the rating file."""
    import numpy as np
    from surprise import SVDpp, Trainset

    with np.load(path) as columns:
        users, items, stars = columns["users"], columns["items"], columns["ratings"]
    chosen = users < (int(people) or users.max() + 1)
    users, items, stars = users[chosen], items[chosen], stars[chosen].astype(np.float64)
    test = np.random.default_rng(int(seed)).random(len(users)) < SHARE
    by_user: dict[int, list[tuple[int, float]]] = {}
    by_item: dict[int, list[tuple[int, float]]] = {}
    for u, i, r in zip(*(c[~test].tolist() for c in (users, items, stars)), strict=True):
        by_user.setdefault(u, []).append((i, r))
        by_item.setdefault(i, []).append((u, r))
    m, n = int(users.max()) + 1, int(items.max()) + 1
    scale = float(stars.min()), float(stars.max())
    train = Trainset(
        by_user, by_item, m, n, int((~test).sum()), scale,
        {u: u for u in range(m)}, {i: i for i in range(n)},
    )  # fmt: skip
    model = SVDpp(n_factors=20, n_epochs=20, random_state=int(seed))
    with Clock() as clock:
        model.fit(train)
    pairs = zip(users[test].tolist(), items[test].tolist(), strict=True)
    return _figures(stars[test], [model.predict(*pair).est for pair in pairs], clock)


def _figures(true: Any, predicted: Any, clock: Clock) -> Figures:
    import numpy as np

    bounded = np.clip(predicted, true.min(), true.max())
    error = float(np.sqrt(np.mean((bounded - true) ** 2, dtype=np.float64)))
    return {"rmse": error, "wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "surprise": surprise})
