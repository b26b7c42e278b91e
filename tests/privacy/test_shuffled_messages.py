"""The bound of shuffled messages against all outcomes, a Monte Carlo and the Fourier transform."""

import itertools
import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tacit.errors import RequestError
from tacit.privacy.poisson_loss import PoissonCounts, divergence
from tacit.privacy.shuffled_messages import (
    ShuffledRound,
    calibrated,
    shuffled_delta,
    shuffled_epsilon,
)

Law = dict[tuple[int, ...], float]
EPSILONS = (0.0, 0.3, 0.8, 1.5, 2.5)


def law(buckets: int, certain: tuple[int, ...], uniform: int) -> Law:
    """Probability of each vector of counts: `certain` messages, and `uniform` ones."""
    total = {}
    for dividers in itertools.combinations(range(uniform + buckets - 1), buckets - 1):
        ends = (-1, *dividers, uniform + buckets - 1)
        counts = [after - before - 1 for before, after in itertools.pairwise(ends)]
        ways = math.factorial(uniform) // math.prod(map(math.factorial, counts))
        for bucket in certain:
            counts[bucket] += 1
        total[tuple(counts)] = ways / buckets**uniform
    return total


def mixed(laws: list[Law]) -> Law:
    total: Counter[tuple[int, ...]] = Counter()
    for one in laws:
        for counts, probability in one.items():
            total[counts] += probability / len(laws)
    return total


def exact_delta(p: Law, q: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, x - math.exp(epsilon) * q.get(k, 0.0)) for k, x in p.items())


def view(one: ShuffledRound, profile: tuple[int, ...]) -> Law:
    """What one device with D dummies makes the provider see: a random choice of M own buckets."""
    own = list(itertools.combinations(profile, min(one.messages, len(profile))))
    fills = one.messages - len(own[0])
    return mixed([law(one.buckets, chosen, fills + one.dummies) for chosen in own])


SMALL = [
    ShuffledRound(buckets=nb, messages=m, dummies=d)
    for nb, m, d in [(3, 1, 5), (4, 1, 3), (5, 1, 4), (5, 2, 6), (6, 1, 3), (6, 2, 5)]
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("buckets", [3, 4, 5, 6])
@pytest.mark.parametrize("own", [1, 2, 3])
@pytest.mark.parametrize("background", [1, 3, 5])
def test_likelihood_ratio_equals_the_formula(buckets, own, background):
    total = background + own
    p = law(buckets, tuple(range(own)), background)
    q = law(buckets, (), total)
    falling = math.prod(range(total - own + 1, total + 1))
    for counts, probability in q.items():
        ratio = math.prod(counts[:own]) * buckets**own / falling
        assert p.get(counts, 0.0) == pytest.approx(ratio * probability, rel=1e-12, abs=1e-300)


THREE = ShuffledRound(buckets=7, messages=3, dummies=8)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("one", [*SMALL, pytest.param(THREE, marks=pytest.mark.long)], ids=str)
def test_bound_is_never_below_any_pair_of_profiles(one):
    sizes = range(one.messages + 2)
    profiles = [tuple(range(size)) for size in sizes]
    others = [
        tuple(range(first, first + size))
        for size in sizes
        for first in range(one.buckets - size + 1)
    ]
    bounds = {e: shuffled_delta([one], devices=1, epsilon=e) for e in EPSILONS}
    views = {profile: view(one, profile) for profile in (*profiles, *others)}
    for mine, other in itertools.product(profiles, others):
        for epsilon, bound in bounds.items():
            assert exact_delta(views[mine], views[other], epsilon) <= bound
            assert exact_delta(views[other], views[mine], epsilon) <= bound


@pytest.mark.sampled(3)
@pytest.mark.parametrize("one", [*SMALL, THREE], ids=str)
def test_bound_against_an_empty_profile_is_never_below_and_smaller(one):
    nothing = view(one, ())
    for size, epsilon in itertools.product(range(1, one.messages + 2), EPSILONS):
        bound = shuffled_delta([one], devices=1, epsilon=epsilon, neighbour="empty")
        mine = view(one, tuple(range(size)))
        assert exact_delta(mine, nothing, epsilon) <= bound
        assert exact_delta(nothing, mine, epsilon) <= bound
        assert bound <= shuffled_delta([one], devices=1, epsilon=epsilon)


def test_two_rounds_are_never_above_their_common_bound():
    first, second = SMALL[1], SMALL[3]
    laws = [(view(one, (0, 1)), view(one, (2, 3))) for one in (first, second)]
    p, q = (
        {x + y: a * b for (x, a), (y, b) in itertools.product(one.items(), other.items())}
        for one, other in zip(*laws, strict=True)
    )
    for epsilon in EPSILONS:
        bound = shuffled_delta([first, second], devices=1, epsilon=epsilon)
        assert exact_delta(p, q, epsilon) <= bound


def test_two_messages_in_one_bucket_exceed_the_bound_of_two_buckets():
    """Exact binomial counts of the bucket, so a device must draw distinct own buckets."""
    one = ShuffledRound(buckets=10, messages=2, dummies=2_000)
    epsilon = shuffled_epsilon([one], devices=1, delta=1e-3, neighbour="empty")
    counts = np.arange(600)
    p = stats.binom.pmf(counts - 2, 2_000, 0.1)
    q = stats.binom.pmf(counts, 2_002, 0.1)
    assert np.maximum(q - math.exp(epsilon) * p, 0).sum() > 1.2e-3


@pytest.mark.parametrize(("mean", "gained", "lost"), [(25.0, 2, 0), (25.0, 0, 2), (25.0, 1, 2)])
def test_divergence_equals_a_sum_over_all_counts(mean, gained, lost):
    counts = np.arange(100)
    poisson = np.exp(counts * np.log(mean) - mean - [math.lgamma(k + 1) for k in counts])
    shifted = np.append(0.0, poisson[:-1])
    p, q = np.ones(1), np.ones(1)
    for more in (True,) * gained + (False,) * lost:
        one, other = (shifted, poisson) if more else (poisson, shifted)
        p, q = np.multiply.outer(p, one).ravel(), np.multiply.outer(q, other).ravel()
    some = [PoissonCounts(mean=mean, gained=gained, lost=lost)]
    for epsilon in (0.8, 1.2, 1.6):
        exact = np.maximum(p - np.exp(epsilon) * q, 0).sum()
        closer = np.maximum(p - np.exp(0.98 * epsilon) * q, 0).sum()
        assert exact <= divergence(some, epsilon) <= closer


def fourier_delta(mean: float, copies: int, epsilon: float, *, up: bool) -> float:
    """delta of `copies` gained and lost counts, losses rounded `up` or down to a grid."""
    size, step = 1 << 18, 1e-4
    k = np.arange(1, int(mean + 14 * math.sqrt(mean)) + 60)
    logs = k * math.log(mean) - mean - np.array([math.lgamma(j + 1) for j in k])
    transform = np.ones(size // 2 + 1, complex)
    for loss, weight in (
        (np.log(k / mean), np.exp(logs + np.log(k / mean))),
        (-np.log(k / mean), np.exp(logs)),
    ):
        cells = (np.ceil if up else np.floor)(loss / step).astype(int) % size
        transform *= np.fft.rfft(np.bincount(cells, weight, size)) ** copies
    law = np.fft.irfft(transform, size)
    losses = (np.arange(size) + size // 2) % size - size // 2
    return float((law * np.maximum(-np.expm1(epsilon - losses * step), 0)).sum())


@pytest.mark.parametrize(("mean", "copies", "epsilon"), [(441.0, 10, 1.0), (340.0, 100, 3.0)])
def test_divergence_lies_between_two_fourier_transforms(mean, copies, epsilon):
    some = [PoissonCounts(mean=mean, gained=copies, lost=copies)]
    bound = divergence(some, epsilon)
    assert fourier_delta(mean, copies, epsilon, up=False) < bound
    assert bound < fourier_delta(mean, copies, 0.99 * epsilon, up=True)


@pytest.mark.parametrize(
    ("buckets", "messages", "background"),
    [(20_000, 10, 1_000_000), pytest.param(2_000, 30, 2_000_000, marks=pytest.mark.long)],
)
def test_bound_is_within_one_percent_of_a_monte_carlo(buckets, messages, background):
    """Exact multinomial counts. A loss above 0.99 epsilon is likelier than the bound at epsilon."""
    one = ShuffledRound(buckets=buckets, messages=messages, dummies=background)
    epsilon = shuffled_epsilon([one], devices=1, delta=3e-3)
    cells = np.full(2 * messages + 1, 1 / buckets)
    cells[-1] = 1 - cells[:-1].sum()
    rng = np.random.default_rng(0)
    counts = rng.multinomial(background, cells, 400_000)[:, :-1]
    loss = np.log(counts[:, :messages] + 1).sum(1) - np.log(counts[:, messages:]).sum(1)

    def estimate(at: float) -> tuple[float, float]:
        gains = np.maximum(-np.expm1(at - loss), 0)
        return float(gains.mean()), float(gains.std() / math.sqrt(len(gains)))

    mean, error = estimate(epsilon)
    assert mean - 4 * error <= 3e-3
    mean, error = estimate(0.99 * epsilon)
    assert mean + 4 * error >= 3e-3


DESIGN = [  # M, delta, neighbour, epsilon, dummies per bucket and message
    (10, 1e-7, "empty", 1, 23.5),
    (100, 1e-7, "empty", 0.5, 81.7),
    (100, 1e-8, "empty", 4, 2.0),
    (100, 1e-7, "replaced", 1, 44.1),
]
MORE_OF_DESIGN = [
    (10, 1e-7, "empty", 0.5, 83.8),
    (10, 1e-7, "empty", 2, 6.9),
    (10, 1e-7, "empty", 4, 2.3),
    (100, 1e-7, "empty", 1, 22.1),
    (100, 1e-7, "empty", 2, 6.1),
    (100, 1e-7, "empty", 4, 1.74),
    (100, 1e-8, "empty", 1, 26.3),
    (100, 1e-7, "replaced", 2, 12.1),
    (100, 1e-7, "replaced", 4, 3.4),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("messages", "delta", "neighbour", "epsilon", "density"),
    [*DESIGN, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE_OF_DESIGN)],
)
def test_dummies_match_independent_figures(messages, delta, neighbour, epsilon, density):
    """The figures come from another implementation, by Fourier transforms."""
    shape = ShuffledRound(buckets=44_850, messages=messages)
    (one,) = calibrated(
        [shape], [1.0], devices=1, epsilon=epsilon, delta=delta, neighbour=neighbour
    )
    assert one.dummies / (44_850 * messages) == pytest.approx(density, rel=0.02)


def test_calibrated_dummies_are_the_fewest_and_shared_as_requested():
    shapes = [ShuffledRound(buckets=500, messages=10), ShuffledRound(buckets=4_950, messages=20)]
    rounds = calibrated(shapes, [0.1, 0.9], devices=1, epsilon=2, delta=1e-6)
    assert shuffled_delta(rounds, devices=1, epsilon=2) <= 1e-6
    fewer = [
        ShuffledRound(buckets=r.buckets, messages=r.messages, dummies=int(r.dummies * 0.999))
        for r in rounds
    ]
    assert shuffled_delta(fewer, devices=1, epsilon=2) > 1e-6
    shares = [r.messages * r.buckets / r.dummies for r in rounds]
    assert shares[1] / shares[0] == pytest.approx(9, rel=1e-3)


@pytest.mark.parametrize("neighbour", ["replaced", "empty"])
def test_epsilon_is_the_inverse_of_delta(neighbour):
    rounds = [ShuffledRound(buckets=500, messages=10, dummies=90)]
    epsilon = shuffled_epsilon(rounds, devices=1_000, delta=1e-7, neighbour=neighbour)
    at = shuffled_delta(rounds, devices=1_000, epsilon=epsilon, neighbour=neighbour)
    assert 1e-7 * math.exp(-2e-3) <= at <= 1e-7


def test_a_document_cannot_make_the_bound_expensive():
    """The mean of a count is bounded, which is a valid bound of larger ones."""
    one = ShuffledRound(buckets=28, messages=3, dummies=4_900)
    large, larger = 10_000_000 * 28 // 4_900, (1 << 53) - 1
    tracemalloc.start()
    bound = shuffled_delta([one], devices=larger, epsilon=0.01)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 << 20
    assert bound == pytest.approx(shuffled_delta([one], devices=large, epsilon=0.01), rel=1e-5)
    assert bound < shuffled_delta([one], devices=large // 2, epsilon=0.01)


def test_a_round_without_dummies_has_no_bound_below_one():
    assert shuffled_delta([ShuffledRound(buckets=9, messages=1)], devices=9, epsilon=9) == 1.0
    with pytest.raises(RequestError, match="exceeds 64 nats per user; add dummies"):
        shuffled_epsilon([ShuffledRound(buckets=9, messages=1, dummies=1)], devices=2, delta=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ShuffledRound(buckets=6, messages=3), "below half of the 6 buckets, got 3"),
        (lambda: ShuffledRound(buckets=6, messages=0), "messages must be an integer of at least 1"),
        (lambda: calibrated([], [], devices=0, epsilon=1, delta=1e-7), "devices"),
        (lambda: calibrated([], [], devices=1, epsilon=0, delta=1e-7), "epsilon must be above 0"),
        (lambda: calibrated([], [1.0], devices=1, epsilon=1, delta=1e-7), "0 positive numbers"),
        (lambda: shuffled_epsilon([], devices=1, delta=0), "delta must be between 0 and 1"),
        (lambda: shuffled_delta([], devices=1, epsilon=1, neighbour="near"), "got 'near'"),
    ],
)
def test_invalid_arguments_are_refused_with_the_value(call, words):
    with pytest.raises(RequestError, match=words):
        call()


def test_an_epsilon_that_would_exhaust_the_memory_is_refused():
    rounds = [ShuffledRound(buckets=1_000, messages=100, dummies=0)]
    with pytest.raises(RequestError, match="epsilon 1e-05 per user requires more than 10,000,000"):
        calibrated(rounds, [1.0], devices=10_000, epsilon=1e-5, delta=1e-7)


def test_rounds_without_dummies_are_refused():
    with pytest.raises(RequestError, match="no finite epsilon; add dummies"):
        shuffled_epsilon([ShuffledRound(buckets=10, messages=1, dummies=0)], devices=9, delta=1e-7)
