"""Run the command line with a model that waits, for a test to interrupt it.

    python interrupted.py CELLS_BEFORE_THE_WAIT ARGUMENTS..

Not a test: a process of its own, since a signal goes to a process.
"""

import sys
import time

from tacit.cli import main
from tacit.experiments.comparison import members
from tacit.learners.learner import Learner
from tacit.models import model


class Waiting:
    """A model whose fit counts, and from some cell on waits for a signal."""

    def __init__(self, before):
        self._before, self._begun = before, 0

    def fit(self, data, *, rng=0):
        """Fit the mean."""
        self._begun += 1
        if self._begun > self._before:
            print("waiting", flush=True)
            time.sleep(60)
        return model("global-mean").fit(data, rng=rng)


def learner(before):
    """Look-up of learners by which every name is a waiting model."""
    waiting = Waiting(before)
    return lambda name, mode="strict": Learner(name=name, settings=waiting)


if __name__ == "__main__":
    members.learner = learner(int(sys.argv[1]))
    main(sys.argv[2:])
