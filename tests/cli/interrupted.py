"""Run the command line with a model that waits, for a test to interrupt it.

    python interrupted.py CELLS_BEFORE_THE_WAIT ARGUMENTS..

Not a test: a process of its own, since a signal goes to a process.
"""

import sys
import time

import numpy as np

from tacit.cli import main
from tacit.experiments import tools
from tacit.experiments.tools import Tools


class Middle:
    """Predicts 3."""

    def predict_codes(self, users, items):
        """Three stars."""
        return np.full(len(users), 3.0)


def waiting_after(before):
    """A model's fit that counts, and from some cell on waits for a signal."""
    begun = []

    def fit(model, data, *, rng, **options):
        begun.append(model)
        if len(begun) > before:
            print("waiting", flush=True)
            time.sleep(60)
        return Middle()

    return fit


def stubs(before):
    """What the module of tools has instead of its own, by name."""
    replaced = Tools(
        tools.plan,
        tools.perturb,
        waiting_after(before),
        tools.train,
        lambda fitted, own, users, items: fitted.predict_codes(users, items),
        lambda fitted, own, where, length: np.zeros((own.n_users, 1), np.int32),
    )
    return {"check": lambda *names, items=False: None, "tools": lambda: replaced}


if __name__ == "__main__":
    for name, stub in stubs(int(sys.argv[1])).items():
        setattr(tools, name, stub)
    main(sys.argv[2:])
