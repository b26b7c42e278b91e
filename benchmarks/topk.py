"""`topk.py ours|implicit DATA.npz`: top 10 of every person, seen items left out, 64 factors."""

import sys
from typing import Any

import numpy as np

from measure import Clock, say

FACTORS = 64


def ours(people: Any, films: Any, users: Any, items: Any) -> Clock:
    """Exact inner products in blocks."""
    from tacit.kernels.layout import layout
    from tacit.kernels.topk import top_k

    seen = layout(users, items, len(people), len(films)).users
    top_k(people[:2000], films, seen, 10)  # compiles
    with Clock() as clock:
        top_k(people, films, seen, 10)
    return clock


def implicit(people: Any, films: Any, users: Any, items: Any) -> Clock:
    """Its own recommend, two threads."""
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    model = AlternatingLeastSquares(factors=FACTORS, num_threads=2)
    model.user_factors, model.item_factors = people, films
    seen = csr_matrix((np.ones(len(users), np.float32), (users, items)), (len(people), len(films)))
    with Clock() as clock:
        model.recommend(np.arange(len(people)), seen, N=10, filter_already_liked_items=True)
    return clock


if __name__ == "__main__":
    with np.load(sys.argv[2]) as file:
        users, items = file["users"], file["items"]
    rng = np.random.default_rng(0)
    people = rng.standard_normal((int(users.max()) + 1, FACTORS), np.float32)
    films = rng.standard_normal((int(items.max()) + 1, FACTORS), np.float32)
    clock = {"ours": ours, "implicit": implicit}[sys.argv[1]](people, films, users, items)
    name = "tacit" if sys.argv[1] == "ours" else sys.argv[1]
    say(
        who=name,
        people=len(people),
        wall=clock.wall,
        cpu=clock.cpu,
        per_second=len(people) / clock.wall,
    )
