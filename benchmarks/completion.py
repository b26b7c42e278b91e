"""Matrix completion at lambda 15 of what damped biases leave of true ratings: error and seconds.

Every party completes the same residuals of the same nine in ten ratings: row r of n is held out
where it is among the first n // 10 of `numpy.random.default_rng(0).permutation(n)`. The biases, of
ten rounds, damped by five ratings, are set-up; so is compiling.
"""

from typing import Any, NamedTuple

from measure import Clock, Figures, speak

SHRINKAGE, GAP, RANK = 15.0, 1e-3, 96
ROUNDS, DAMPING, PASSES = 10, 5, 100


class Task(NamedTuple):
    """`residuals` of the cells (`users`, `items`); of the held-out ones `base`, the prediction of
    the biases alone, and `true`. `shape`: (people, items)."""

    users: Any
    items: Any
    residuals: Any
    held: tuple[Any, Any]
    base: Any
    true: Any
    shape: tuple[int, int]


def ours(path: str) -> Figures:
    """The solver under `completion`, with nothing centred and nothing chosen."""
    import numpy as np
    import polars as pl

    from tacit.kernels.layout import by_user
    from tacit.kernels.predict import bilinear
    from tacit.models import evidence
    from tacit.models.least_squares.nuclear_norm import SoftImpute
    from tacit.ratings import Ratings
    from tacit.scale import RatingScale
    from tacit.vocabulary import Vocabulary

    task = _task(path)
    people, things = (Vocabulary(pl.Series("id", range(n))) for n in task.shape)
    none = np.zeros(len(task.users), np.uint8)  # the numbers are the target's, not levels
    scale = RatingScale.parse("1:5:1")
    cells = evidence(Ratings(task.users, task.items, none, scale, people, things))
    _, order = by_user(task.users, task.items, *task.shape)
    target = task.residuals[order]
    SoftImpute.start(cells, target, rank=1, biases=False).solve(100.0, 1.0)  # compile
    with Clock() as clock:
        problem = SoftImpute.start(cells, target, rank=RANK, biases=False)
        problem.solve(SHRINKAGE, GAP)
    M = bilinear(*task.held, 0.0, problem.factors.people, problem.factors.items)
    return _figures(task, M, clock) | {"rank": len(problem.values)}


def fancyimpute(path: str) -> Figures:
    import numpy as np
    from fancyimpute import SoftImpute

    task = _task(path)
    X = np.full(task.shape, np.nan, np.float32)
    X[task.users, task.items] = task.residuals
    model = SoftImpute(shrinkage_value=SHRINKAGE, max_iters=PASSES, verbose=False)
    with Clock() as clock:
        M = model.fit_transform(X)
    return _figures(task, M[task.held], clock)


def _task(path: str) -> Task:
    import numpy as np

    with np.load(path) as columns:
        users, items, stars = columns["users"], columns["items"], columns["ratings"]
    test = np.zeros(len(stars), bool)
    test[np.random.default_rng(0).permutation(len(stars))[: len(stars) // 10]] = True
    shape = int(users.max()) + 1, int(items.max()) + 1
    u, i, r = users[~test], items[~test], stars[~test].astype(np.float64)
    mu, of_people, of_items = r.mean(), np.zeros(shape[0]), np.zeros(shape[1])
    for _ in range(ROUNDS):
        of_items = _damped(i, r - mu - of_people[u], shape[1])
        of_people = _damped(u, r - mu - of_items[i], shape[0])
    residuals = (r - mu - of_people[u] - of_items[i]).astype(np.float32)
    held = users[test], items[test]
    return Task(
        u, i, residuals, held, mu + of_people[held[0]] + of_items[held[1]], stars[test], shape
    )


def _damped(rows: Any, left: Any, count: int) -> Any:
    import numpy as np

    return np.bincount(rows, left, count) / (np.bincount(rows, minlength=count) + DAMPING)


def _figures(task: Task, M: Any, clock: Clock) -> Figures:
    import numpy as np

    error = np.clip(task.base + M, 1, 5) - task.true
    rmse = float(np.sqrt(np.mean(error * error, dtype=np.float64)))
    return {"rmse": rmse, "wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "fancyimpute": fancyimpute})
