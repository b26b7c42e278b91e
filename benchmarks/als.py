"""`als.py ours|lenskit|cmfrec DATA.npz [SWEEPS]`: explicit ALS, 64 factors, CPU seconds a sweep.

Ours is timed with a weight of its own for every rating; the peers have none to give. Compiling,
set-up and conversion stay outside the clock; lenskit's and cmfrec's biases stay inside.
"""

import os
import sys
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the peers run their own threads

import numpy as np

from measure import Clock, say

FACTORS = 64
Data = dict[str, Any]


def ours(data: Data, sweeps: int) -> float:
    """Weighted half-steps over both sides."""
    from tacit.kernels.als import Problem, half_step
    from tacit.kernels.layout import layout

    users, items, values = data["users"], data["items"], data["values"]
    cells = layout(users, items, int(users.max()) + 1, int(items.max()) + 1)
    target = values[cells.order] - values.mean()
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 1.5, len(target)).astype(np.float32)
    people = np.zeros((len(cells.users.counts), FACTORS), np.float32)
    films = (0.1 * rng.standard_normal((len(cells.items.counts), FACTORS))).astype(np.float32)
    ridge = np.full(FACTORS, 5.0, np.float32)

    def sweep(people: Any, films: Any) -> Any:
        nothing = np.zeros(len(films), np.float32)
        people = half_step(cells.users, Problem(target, weight, films, nothing, ridge))
        nothing = np.zeros(len(people), np.float32)
        return people, half_step(cells.items, Problem(target, weight, people, nothing, ridge))

    people, films = sweep(people, films)  # compiles
    with Clock() as clock:
        for _ in range(sweeps):
            people, films = sweep(people, films)
    return clock.cpu / sweeps


def lenskit(data: Data, sweeps: int) -> float:
    """BiasedMFScorer, exact Cholesky."""
    import pandas as pd
    from lenskit.als import BiasedMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.training import TrainingOptions

    frame = pd.DataFrame(
        {"user_id": data["users"], "item_id": data["items"], "rating": data["values"]}
    )
    dataset = from_interactions_df(frame)
    model = BiasedMFScorer(features=FACTORS, epochs=sweeps)
    with Clock() as clock:
        model.train(dataset, TrainingOptions(rng=0))
    return clock.cpu / sweeps


def cmfrec(data: Data, sweeps: int) -> float:
    """CMF by conjugate gradients, its default."""
    import pandas as pd
    from cmfrec import CMF

    frame = pd.DataFrame(
        {"UserId": data["users"], "ItemId": data["items"], "Rating": data["values"]}
    )
    model = CMF(
        k=FACTORS, method="als", niter=sweeps, lambda_=10, use_cg=True, nthreads=2,
        verbose=False, random_state=0, use_float=True, precompute_for_predictions=False,
    )  # fmt: skip
    with Clock() as clock:
        model.fit(frame)
    return clock.cpu / sweeps


if __name__ == "__main__":
    who, path, sweeps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with np.load(path) as file:
        arrays = dict(file)
    seconds = {"ours": ours, "lenskit": lenskit, "cmfrec": cmfrec}[who](arrays, sweeps)
    name = "tacit" if who == "ours" else who
    say(who=name, ratings=len(arrays["users"]), sweeps=sweeps, cpu_per_sweep=seconds)
