"""Lists of 20 for everybody who did something, from a published split: fit, then recommend.

Every party learns from the same rows, leaves out of a person's list what they had in them, and
writes its lists; whoever runs the parties judges all of them by one code (`judged`). Two threads.
A stated grid is searched on a tenth of the *training* rows (`held`); the test rows choose nothing.
"""

from pathlib import Path
from typing import Any

from measure import Clock, Figures, speak

LENGTH, SHARE = 20, 0.1
ALS_GRID = [(k, a, r) for k in (128, 256) for a in (1, 10, 40) for r in (0.01, 1)]
"""factors, alpha, regularization; the package's defaults are 100, 1, .01."""
BPR_GRID = [(k, r, s) for k in (128, 256) for r in (0.01, 0.05) for s in (0.001, 0.01)]
"""factors, learning rate, regularization; the package's defaults are 100, .01, .01."""


def ours(path: str, part: str, out: str, model: str = "graph-filter") -> Figures:
    import numpy as np
    import polars as pl

    from tacit import fit, synthetic
    from tacit.ratings import Ratings
    from tacit.scale import RatingScale
    from tacit.vocabulary import Vocabulary

    few = synthetic(n_users=50, n_items=40, n_ratings=1000, scale="there")
    fit(model, few).lists(few, LENGTH)  # compile
    users, items, shape = _rows(path, part)
    people, things = (Vocabulary(pl.Series("id", range(n))) for n in shape)
    none = np.zeros(len(users), np.uint8)  # of the only level
    own = Ratings(users, items, none, RatingScale.parse("there"), people, things)
    with Clock() as fitting:
        fitted = fit(model, own)
    with Clock() as listing:
        lists = fitted.lists(own, LENGTH)
    return _said(out, lists, fitting, listing)


def popular(path: str, part: str, out: str) -> Figures:
    return ours(path, part, out, "popularity")


def als(path: str, part: str, out: str, *setting: str) -> Figures:
    from implicit.als import AlternatingLeastSquares

    given = dict(zip(("factors", "alpha", "regularization"), setting, strict=False))
    return _implicit(AlternatingLeastSquares, given, path, part, out)


def bpr(path: str, part: str, out: str, *setting: str) -> Figures:
    from implicit.bpr import BayesianPersonalizedRanking

    given = dict(zip(("factors", "learning_rate", "regularization"), setting, strict=False))
    return _implicit(BayesianPersonalizedRanking, given, path, part, out)


def _implicit(kind: Any, given: dict[str, str], path: str, part: str, out: str) -> Figures:
    import numpy as np
    from scipy.sparse import csr_matrix

    users, items, shape = _rows(path, part)
    seen = csr_matrix((np.ones(len(users), np.float32), (users, items)), shape)
    numbers = {name: float(number) for name, number in given.items() if name != "factors"}
    if "factors" in given:
        numbers["factors"] = int(given["factors"])
    model = kind(num_threads=2, random_state=0, **numbers)
    with Clock() as fitting:
        model.fit(seen, show_progress=False)
    everybody = np.arange(shape[0])
    with Clock() as listing:
        lists, _ = model.recommend(everybody, seen, N=LENGTH, filter_already_liked_items=True)
    return _said(out, lists, fitting, listing)


def _said(out: str, lists: Any, fitting: Clock, listing: Clock) -> Figures:
    import numpy as np

    np.save(out, lists)
    both = fitting.cpu + listing.cpu
    return {"fit_cpu_s": fitting.cpu, "lists_cpu_s": listing.cpu, "cpu_s": both}


def _rows(path: str, part: str) -> tuple[Any, Any, tuple[int, int]]:
    """What is learnt from: the training rows (`test`), or those but for a tenth (`held`)."""
    users, items, judged, shape = _split(path, part)
    return users[judged == 0], items[judged == 0], shape


def judged(path: str, part: str, out: Path) -> Figures:
    """How good the lists in `out` are, by the rows of that part that nobody learnt from."""
    import numpy as np

    from tacit.metrics.lists import list_figures

    users, items, kind, shape = _split(path, part)
    counts = np.bincount(items[kind == 0], minlength=shape[1])
    found = list_figures(np.load(out), users[kind == 1], items[kind == 1], counts, length=LENGTH)
    return {"recall_at_20": found.recall, "ndcg_at_20": found.ndcg}


def _split(path: str, part: str) -> tuple[Any, Any, Any, tuple[int, int]]:
    """Users, items, 0 where a row is learnt from and 1 where it is judged by, and the shape."""
    import numpy as np

    with np.load(path) as columns:
        users, items, test = columns["users"], columns["items"], columns["test"]
    shape = int(users.max()) + 1, int(items.max()) + 1
    if part == "test":
        return users, items, test.astype(np.int8), shape
    users, items = users[~test], items[~test]
    held = np.random.default_rng(0).random(len(users)) < SHARE
    return users, items, held.astype(np.int8), shape


if __name__ == "__main__":
    speak({"ours": ours, "ours-popularity": popular, "implicit-als": als, "implicit-bpr": bpr})
