"""`noise.py ours|diffprivlib`: bounded Laplace reports a second, epsilon 1 on 1..5."""

import sys

import numpy as np

from measure import Clock, say

EPSILON, LOW, HIGH = 1.0, 1.0, 5.0


def ours(n: int = 60_000_000) -> None:
    """Certified reports through 64 symbols, words from the operating system's ChaCha20 key."""
    from tacit.channels import compile
    from tacit.collection.perturb import sample
    from tacit.scale import RatingScale

    channel = compile("bounded-laplace", epsilon="1", scale=RatingScale.parse("1:5:1"))
    levels = np.random.default_rng(0).integers(0, 5, n).astype(np.uint8)
    chosen = np.zeros(n, np.uint8)
    sample((channel,), levels[:1000], chosen[:1000])
    with Clock() as clock:
        sample((channel,), levels, chosen)
    say(who="tacit", n=n, wall=clock.wall, cpu=clock.cpu, per_second=n / clock.wall)


def diffprivlib(n: int = 100_000) -> None:
    """One call a value: that is its interface."""
    from diffprivlib.mechanisms import LaplaceBoundedDomain

    mechanism = LaplaceBoundedDomain(epsilon=EPSILON, sensitivity=HIGH - LOW, lower=LOW, upper=HIGH)
    values = np.random.default_rng(0).integers(1, 6, n).astype(float).tolist()
    with Clock() as clock:
        for value in values:
            mechanism.randomise(value)
    say(who="diffprivlib", n=n, wall=clock.wall, cpu=clock.cpu, per_second=n / clock.wall)


if __name__ == "__main__":
    {"ours": ours, "diffprivlib": diffprivlib}[sys.argv[1]]()
