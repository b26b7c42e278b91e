"""SVD++ by gradient descent, 20 factors, 20 epochs, beside the peer that made it customary.

Both fit the same rows; row r is held out where `numpy.random.default_rng(seed).random(n)[r] < 0.1`.
`people`: the first so many only, in the order of their ids; 0 for all.
"""

from typing import Any

from measure import Clock, Figures, speak

SHARE, STARTS = 0.1, 10


def ours(path: str, seed: str, people: str) -> Figures:
    """The model as it comes; error and time are means over starts, which move the error by .002."""
    from tacit.models import evidence, model

    train, held_out = _split(path, seed, people)
    svdpp = model("svdpp")
    svdpp.fit(evidence(train.where(train.users < 2)))  # compile
    said: list[Figures] = []
    for start in range(STARTS):
        with Clock() as clock:
            fitted = svdpp.fit(evidence(train), rng=start)
        predicted = fitted.predict_codes(held_out.users, held_out.items)
        said.append(_figures(held_out.values, predicted, clock))
    return {figure: sum(one[figure] for one in said) / STARTS for figure in said[0]}


def ours_same_start(path: str, seed: str, people: str) -> Figures:
    """The kernel from where the peer starts: what is left is no matter of luck."""
    import numpy as np

    from tacit.kernels.layout import by_user, layout
    from tacit.kernels.sgd import Parameters, Rates, descend, implicit

    train, test = _split(path, seed, people)
    m = int(max(train.users.max(), test.users.max())) + 1
    n = int(max(train.items.max(), test.items.max())) + 1
    cells, order = layout(train.users, train.items, m, n)
    ratings = train.values[order].astype(np.float64)
    mu, draw = float(ratings.mean()), np.random.RandomState(int(seed))
    p, q, y = (draw.normal(0, 0.1, (rows, 20)) for rows in (m, n, n))
    at, rates = Parameters(np.zeros(m), np.zeros(n), p, q, y), Rates(*[0.007] * 4)
    none = by_user(train.users[:0], train.items[:0], m, n)[0]
    descend(none, ratings[:0], at, rates, 0.02)  # compile
    with Clock() as clock:
        for _ in range(20):
            descend(cells.users, ratings - mu, at, rates, 0.02)
    at.q[cells.items.counts == 0] = 0
    x = at.p + implicit(cells.users, at.y)
    theta = mu + at.b_u[test.users] + at.b_i[test.items]
    theta += np.einsum("nk,nk->n", x[test.users], at.q[test.items])
    return _figures(test.values, theta, clock)


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
    order = np.lexsort((items, users))  # the order in which ours takes them
    order = order[~test[order]]
    for u, i, r in zip(*(c[order].tolist() for c in (users, items, stars)), strict=True):
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


def _split(path: str, seed: str, people: str) -> tuple[Any, Any]:
    import numpy as np

    from tacit.readers import read

    ratings = read(path)
    ratings = ratings.where(ratings.users < (int(people) or ratings.n_users))
    test = np.random.default_rng(int(seed)).random(len(ratings)) < SHARE
    return ratings.where(~test), ratings.where(test)


def _figures(true: Any, predicted: Any, clock: Clock) -> Figures:
    import numpy as np

    bounded = np.clip(predicted, true.min(), true.max())
    error = float(np.sqrt(np.mean((bounded - true) ** 2, dtype=np.float64)))
    return {"rmse": error, "wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "ours-same-start": ours_same_start, "surprise": surprise})
