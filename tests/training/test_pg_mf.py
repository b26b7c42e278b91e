"""Private gradients: the exact law of a report, what a server sees, and that it is worth it."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tacit import fit
from tacit.channels.certificate import exp_lower, flaw
from tacit.errors import RequestError
from tacit.kernels.foldin import Home
from tacit.kernels.layout import Side, layout
from tacit.kernels.projection import lifted, projected, sign
from tacit.models import Fitted, device_predict, fold_in, item_model
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.training import training
from tacit.training.gradient_report import ENTRIES, Questions, two_points
from tacit.training.pg_mf import PGMF
from tacit.wire.item_model import ItemModel

EPSILONS = ("0.0078125", "0.1", "0.5", "1", "2.5", "16")
HALF = 2.0
COPIES = 50_000


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=150, n_items=90, n_ratings=4500, rng=3)


def home(ratings: Ratings, factors: int = 2, people: int = 0) -> Home:
    items = np.random.default_rng(4).standard_normal((ratings.n_items, 1 + factors))
    prior = np.zeros((people, 1 + factors))
    levels = np.asarray(ratings.scale.values)
    return Home(3.0, items.astype(np.float32), np.full(1 + factors, 2.0), prior, levels, 0.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_report_says_the_entry_on_average_and_keeps_its_epsilon_exactly(epsilon: str) -> None:
    channel, odds = two_points(epsilon), math.exp(float(epsilon))
    bound = (odds + 1) / (odds - 1)
    assert flaw(channel.weights, 64, epsilon) is None
    assert channel.exact_epsilon > 0.999 * float(epsilon)
    assert [float(y) for y in channel.outputs if y] == pytest.approx([-bound, bound], rel=1e-6)
    for row, x in enumerate(ENTRIES.levels):
        assert float(channel.mean(row)) == pytest.approx(float(x), abs=1e-6)
        second = channel.variance(row) + channel.mean(row) ** 2
        assert float(second) == pytest.approx(bound**2, rel=1e-5)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "1.6", "7", "33"])
@pytest.mark.parametrize("reports", [1, 2, 64, 128])
def test_the_reports_of_a_person_never_cost_more_than_was_promised(
    epsilon: str, reports: int
) -> None:
    member = PGMF(reports=reports)
    count, share = member.budget(epsilon)
    assert count == reports
    assert reports * Decimal(share) <= Decimal(epsilon)
    assert reports * Decimal(share) > Decimal("0.999999") * Decimal(epsilon)


def test_the_certificate_refutes_a_budget_that_is_not_divided() -> None:
    """The planted mistake: each of four reports drawn as if it were the only one."""
    reports, share = PGMF(reports=4).budget("2")
    assert flaw(two_points(share).weights, 64, share) is None
    assert "above e^0.5" in str(flaw(two_points("2").weights, 64, share))
    assert two_points(share).worst_ratio ** reports <= exp_lower(Fraction(2))


def copies(profile: tuple[int, int], rating: float, seed: int, epsilon: str, width: int) -> float:
    """Share of `COPIES` users with one profile (first item, number of items) that answer +."""
    people, (first, count) = COPIES, profile
    start = np.arange(people + 1, dtype=np.int64) * count
    other = np.tile(np.arange(first, first + count, dtype=np.int32), people)
    side = Side(start, other, np.arange(len(other)))
    asked = Questions(np.full(people, seed, np.uint64), np.zeros(people, np.int64), width)
    levels = np.arange(1.0, 6.0)
    nothing = np.zeros((people, 2))
    items = np.zeros((70, 2), np.float32)
    device = Home(3.0, items, np.array([1e9, 1.0]), nothing, levels, 0.0)
    ratings = np.full(len(other), rating)
    symbols = asked.answered(side, ratings, device, two_points(epsilon), None)
    return float(symbols.mean())


def test_what_two_opposite_profiles_send_differs_by_epsilon_and_no_more() -> None:
    seed = next(s for s in range(100) if sign(np.uint64(s), 3) == sign(np.uint64(s), 40) == 1)
    adores, hates = (copies((item, 1), r, seed, "1", 1) for item, r in ((3, 5.0), (40, 1.0)))
    odds = np.log([hates / adores, (1 - adores) / (1 - hates)])
    noise = 6 * math.sqrt(2 / COPIES / (1 - hates))  # 0.07
    assert np.all(odds < 1 + noise)
    assert np.all(odds > 1 - noise)  # so twice the epsilon, undivided, would have been caught
    everything = copies((0, 60), 5.0, seed, "1", 8)
    assert min(adores, hates) - noise < everything < max(adores, hates) + noise


@pytest.mark.parametrize("item", [np.nan, np.inf, -1e30, 0.0])
def test_whatever_the_server_sends_an_input_of_the_table_is_drawn_from(item: float) -> None:
    side = Side(np.array([0, 2, 2]), np.array([0, 1], np.int32), np.arange(2))
    items = np.full((2, 2), item, np.float32)
    device = Home(3.0, items, np.ones(2), np.zeros((2, 2)), np.arange(1.0, 6.0), 0.0)
    asked = Questions.draw(2, 2, 8, np.random.default_rng(0))
    shares = []
    for end in (0, (1 << 64) - 1):

        class Same:
            def fill(self, words, end=end) -> None:
                words[:] = end

        shares.append(
            asked.answered(side, np.array([5.0, 1.0]), device, two_points("1"), Same()).tolist()
        )
    assert shares == [[0, 0], [1, 1]]


class Recorder:
    """A test's words, and how many were asked for."""

    def __init__(self) -> None:
        self.chance, self.counts = np.random.default_rng(0), []

    def fill(self, words) -> None:
        self.counts.append(len(words))
        words[:] = self.chance.integers(0, 1 << 64, len(words), dtype=np.uint64)


@pytest.mark.parametrize("member", [PGMF(rounds=16, reports=1), PGMF(rounds=16, reports=16)])
def test_questions_and_their_number_do_not_depend_on_anybodys_profile(
    member: PGMF, ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[bytes]] = []
    answered = Questions.answered

    def recorded(self: Questions, *given):
        seen[-1].append(self.seeds.tobytes() + self.columns.tobytes())
        return answered(self, *given)

    monkeypatch.setattr(Questions, "answered", recorded)
    mine = ratings.users == 7
    counts = []
    for other in (ratings, ratings.where(~mine), ratings.where(mine)):
        seen.append([])
        words = Recorder()
        member.fit(other, epsilon="1", rng=5, words=words)
        counts.append(words.counts)
    assert seen[0] == seen[1] == seen[2]
    assert counts[0] == counts[1] == counts[2]
    assert sum(counts[0]) == ratings.n_users * (member.reports or 1)


def test_few_people_answer_no_more_often_than_many() -> None:
    made = synthetic(n_users=5, n_items=90, n_ratings=150)
    words = Recorder()
    PGMF(rounds=64, reports=2).fit(made, epsilon="1", words=words)
    assert sum(words.counts) == 5 * 2


def test_every_entry_is_asked_for_equally_often() -> None:
    asked = Questions.draw(80_000, 4, 8, np.random.default_rng(0))
    counts = np.bincount(asked.columns, minlength=4)
    assert np.abs(counts - 20_000).max() < 5 * math.sqrt(15_000)
    signs = np.array([[sign(seed, item) for item in (0, 1, 63, 64, 900)] for seed in asked.seeds])
    assert np.abs(signs.mean(0)).max() < 5 / math.sqrt(80_000)
    between = signs.T @ signs / 80_000 - np.eye(5)
    assert np.abs(between).max() < 5 / math.sqrt(80_000)


def test_projecting_and_lifting_equal_the_matrices_they_stand_for(ratings: Ratings) -> None:
    cells, order = layout(ratings.users, ratings.items, ratings.n_users, ratings.n_items)
    values, chance = ratings.values[order].astype(float), np.random.default_rng(1)
    device, rows = home(ratings), chance.standard_normal((ratings.n_users, 3))
    asked = Questions.draw(ratings.n_users, 3, 8, chance)
    entries = projected(cells.users, values, device, rows, asked.columns, asked.seeds)
    signs = np.array([[sign(s, i) for i in range(ratings.n_items)] for s in asked.seeds])
    factors = np.column_stack([np.ones(len(rows)), rows[:, 1:]])
    own = device.items[:, 1:].astype(float)
    theta = 3.0 + rows[:, :1] + device.items[:, 0] + rows[:, 1:] @ own.T
    gradient = np.zeros((*theta.shape, 3))
    for user, item, value in zip(ratings.users, ratings.items, ratings.values, strict=True):
        gradient[user, item] = -2 * (value - theta[user, item]) * factors[user]
    picked = [signs[u] @ gradient[u, :, asked.columns[u]] for u in range(len(rows))]
    assert entries == pytest.approx(picked, rel=1e-6, abs=1e-6)
    said = chance.standard_normal(len(rows))
    twin = np.zeros((ratings.n_items, 3))
    for u, column in enumerate(asked.columns):
        twin[:, column] += signs[u] * said[u]
    assert lifted(said, asked.columns, asked.seeds, twin.shape) == pytest.approx(twin)


def test_the_mean_of_the_answers_is_the_gradient_with_the_noise_that_is_stated() -> None:
    """Copies of one person: what clipping leaves alone comes back, item by item."""
    people, items, width = COPIES, 70, 64
    cells = np.tile(np.array([2, 9, 66], np.int32), people)
    side = Side(np.arange(people + 1) * 3, cells, np.arange(len(cells)))
    levels, chance = np.arange(1.0, 6.0), np.random.default_rng(2)
    start, nobody = np.zeros((items, 2), np.float32), np.zeros((people, 2))
    device = Home(3.0, start, np.array([1e9, 1.0]), nobody, levels, 0.0)
    asked, channel = Questions.draw(people, 2, width, chance), two_points("2")
    true = np.tile([5.0, 4.0, 2.0], people)
    said = asked.gradient(asked.answered(side, true, device, channel, None), channel, (items, 2))
    expected = np.zeros((items, 2))
    expected[[2, 9, 66], 0] = -2 * (np.array([5.0, 4.0, 2.0]) - 3) / HALF
    noise = asked.noise(channel, 2)
    assert noise == pytest.approx(width * 2 * float(channel.outputs[1]) ** 2 / people)
    off = said - expected
    assert np.abs(off).max() < 6 * math.sqrt(noise)
    assert (off**2).mean() == pytest.approx(noise, rel=6 * math.sqrt(2 / off.size))


@pytest.mark.long
def test_it_learns_what_nobody_told() -> None:
    made = synthetic(n_users=12_000, n_items=120, n_ratings=300_000, rng=2)
    held = np.random.default_rng(0).random(len(made)) < 0.1
    train_, test = made.where(~held), made.where(held)

    def error(fitted: Fitted) -> float:
        values = device_predict(fitted, train_, test.users, test.items)
        return float(np.sqrt(np.mean((values - test.values) ** 2)))

    middle = float(np.sqrt(np.mean((3 - test.values) ** 2)))
    deaf = error(fit("pg-mf", train_, epsilon="0.001"))
    private = error(fit("pg-mf", train_, epsilon="16"))
    assert private < deaf - 0.02 < middle - 0.1


def test_the_default_takes_the_split_with_the_least_noise() -> None:
    assert PGMF().budget("1") == (1, "1")
    assert PGMF().budget("3") == (1, "3")
    assert PGMF().budget("10") == (4, "2.5")
    assert PGMF().budget("100")[0] >= 32
    assert PGMF(rounds=16, reports=16).budget("1") == (16, "0.0625")


def test_the_guarantee_speaks_of_a_person(ratings: Ratings) -> None:
    fitted = fit("pg-mf", ratings, epsilon="1", rounds=4)
    promise = fitted.guarantee
    assert (promise.epsilon, promise.unit, promise.trust, promise.delta) == (
        "1",
        "user",
        "nobody",
        "0",
    )
    assert promise.exact
    assert promise.sentence == (
        "Epsilon = 1 per user, trusting nobody: "
        "releasing one bit per user in each of 1 of 4 rounds protects "
        "all data of one user. Public: who takes part, the catalogue and the scale, "
        "which entry each report is about."
    )


def test_the_provider_knows_nobody_and_devices_take_the_item_model_home(
    ratings: Ratings, tmp_path
) -> None:
    fitted = fit("pg-mf", ratings, epsilon="4", rounds=8, factors=2)
    assert not fitted.people.any()
    fitted.save(tmp_path / "model")
    again = Fitted.load(tmp_path / "model")
    assert again.guarantee == fitted.guarantee
    assert fold_in(again, ratings).people.any()
    assert ItemModel.from_bytes(item_model(fitted).to_bytes()).factors == 2


def test_what_cannot_be_asked_is_refused(ratings: Ratings) -> None:
    assert training("pg-mf").where == ("device",)
    with pytest.raises(RequestError, match="has no setting 'ridgge'"):
        training("pg-mf", ridgge=3)
    with pytest.raises(RequestError, match="trainer must be one of pg-mf"):
        training("odd")
    with pytest.raises(RequestError, match="reports must be a divisor of the 128 rounds"):
        training("pg-mf", reports=3)
    with pytest.raises(RequestError, match="rounds must be an integer of at least 1, got 0"):
        training("pg-mf", rounds=0)
    with pytest.raises(RequestError, match="got '0'"):
        fit("pg-mf", ratings, epsilon="0")
    with pytest.raises(RequestError, match="must be above 0 and at most 16"):
        fit("pg-mf", ratings, epsilon="17", reports=1)
