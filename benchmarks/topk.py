"""The ten best items for everybody, those already rated left out: 64 random factors, float32."""

from typing import Any

from measure import Clock, Figures, speak

FACTORS, BEST = 64, 10


def ours(path: str) -> Figures:
    from tacit.kernels.layout import by_user
    from tacit.kernels.ranking.topk import top_k

    users, items, people, catalogue = _load(path)
    seen = by_user(users, items, len(people), len(catalogue))[0]
    top_k(people[:1], catalogue[:100], by_user(users[:0], items[:0], 1, 100)[0], BEST)  # compile
    with Clock() as clock:
        top_k(people, catalogue, seen, BEST)
    return _rates(len(people), clock)


def implicit(path: str) -> Figures:
    import numpy as np
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    users, items, people, catalogue = _load(path)
    shape = (len(people), len(catalogue))
    seen = csr_matrix((np.ones(len(users), np.float32), (users, items)), shape)
    model = AlternatingLeastSquares(factors=FACTORS, num_threads=2)
    model.user_factors, model.item_factors = people, catalogue
    everybody = np.arange(len(people))
    with Clock() as clock:
        model.recommend(everybody, seen, N=BEST, filter_already_liked_items=True)
    return _rates(len(people), clock)


def _load(path: str) -> tuple[Any, Any, Any, Any]:
    import numpy as np

    with np.load(path) as columns:
        users, items = columns["users"], columns["items"]
    chance = np.random.default_rng(0)
    people = chance.standard_normal((int(users.max()) + 1, FACTORS), np.float32)
    return users, items, people, chance.standard_normal((int(items.max()) + 1, FACTORS), np.float32)


def _rates(n: int, clock: Clock) -> Figures:
    return {"per_second": n / clock.wall, "per_cpu_second": n / clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "implicit": implicit})
