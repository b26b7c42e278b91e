"""The fifty items most like each item: adjusted cosine in integers, plain float32 cosine elsewhere.

Ratings are set up for each party, ours centred by person in integers, theirs centred and normalised
in float32; then every item's fifty best are found. Two threads.
"""

from typing import Any

from measure import Clock, Figures, speak

BEST = 50


def ours(path: str) -> Figures:
    import numpy as np

    from tacit.crossdomain.neighbours import Adjusted
    from tacit.engines.engine import Local
    from tacit.kernels.neighbourhood.search_results import Wanted

    users, items, ratings = _load(path)
    points = np.rint(2 * ratings).astype(np.int64) << 8
    some = users < 50
    shape = int(items.max()) + 1, int(users.max()) + 1
    wanted = Wanted(BEST, signed=True, same=False)
    few = Adjusted.of(items[some], users[some], points[some], *shape)
    few.nearest(items[:9], items[:9], wanted, Local())  # compile
    alike = Adjusted.of(items, users, points, *shape)
    del users, items, ratings, points
    everything = np.arange(shape[0], dtype=np.int32)
    with Clock() as clock:
        alike.nearest(everything, everything, wanted, Local())
    return {"wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


def sparse_dot_topn(path: str) -> Figures:
    import numpy as np
    from scipy import sparse
    from sparse_dot_topn import sp_matmul_topn

    users, items, ratings = _load(path)
    counts = np.bincount(users)
    around = ratings - (np.bincount(users, ratings) / np.maximum(counts, 1))[users]
    norms = np.sqrt(np.bincount(items, around**2))
    values = (around / np.maximum(norms, 1e-12)[items]).astype(np.float32)
    R = sparse.csr_matrix((values, (users, items)))
    T = R.T.tocsr()
    with Clock() as clock:
        sp_matmul_topn(T, R, top_n=BEST + 1, sort=True, n_threads=2)
    return {"wall_seconds": clock.wall, "cpu_seconds": clock.cpu}


def _load(path: str) -> tuple[Any, Any, Any]:
    import numpy as np

    with np.load(path) as columns:
        return columns["users"], columns["items"], columns["ratings"]


if __name__ == "__main__":
    speak({"ours": ours, "sparse_dot_topn": sparse_dot_topn})
