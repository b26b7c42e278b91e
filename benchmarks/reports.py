"""Bulk reports: ratings through bounded Laplace at epsilon 1 on one to five stars.

Ours draws exactly from a certified table of 64 symbols, from secret words. The peer draws
floating-point values, one call each, from the system's randomness.
"""

from measure import Clock, Figures, speak

EPSILON, REPEATS = 1, 5


def ours(n: str = "20000000") -> Figures:
    import numpy as np

    from tacit.channels import certify, compile_channel
    from tacit.collection.sampler import BulkSampler
    from tacit.scale import RatingScale

    channel = compile_channel(
        "bounded-laplace", epsilon=str(EPSILON), scale=RatingScale.parse("1:5:1")
    )
    certify(channel)
    levels = np.random.default_rng(0).integers(0, 5, int(n)).astype(np.uint8)
    sampler = BulkSampler((channel,))
    sampler.draw(levels[:1000])
    with Clock() as clock:
        for _ in range(REPEATS):
            sampler.draw(levels)
    return _rates(REPEATS * len(levels), clock) | {"symbols": len(channel.outputs)}


def diffprivlib(n: str = "50000") -> Figures:
    import random

    from diffprivlib.mechanisms import LaplaceBoundedDomain

    mechanism = LaplaceBoundedDomain(epsilon=EPSILON, sensitivity=4, lower=1, upper=5)
    stars = random.Random(0).choices([1.0, 2.0, 3.0, 4.0, 5.0], k=int(n))
    mechanism.randomise(3.0)
    with Clock() as clock:
        for value in stars:
            mechanism.randomise(value)
    return _rates(len(stars), clock)


def _rates(n: int, clock: Clock) -> Figures:
    return {"per_second": n / clock.wall, "per_cpu_second": n / clock.cpu}


if __name__ == "__main__":
    speak({"ours": ours, "diffprivlib": diffprivlib})
