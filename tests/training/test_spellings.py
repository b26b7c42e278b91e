"""However ids are spelled, one user's rows move a count by at most the declared sensitivity."""

from inspect import signature
from random import Random

import numpy as np
import polars as pl
import pytest

from tacit import vocabulary
from tacit.audit.replay import replay
from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit.readers import from_frame
from tacit.testing.trainings import trained
from tacit.training import LIST_TRAININGS, PER_PERSON, list_training, training
from tacit.training.gradient_report import Questions
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.pg_mf import PGMF

NUMBERS = (0, 1, 2, 3, 7, 10, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TEXTS = (
    "1", "01", "+1", " 1", "1 ", "1.0", "1e0", "-1", "2", "02", "3", "7", "true", "True", "a", "A",
    "9223372036854775807", "9223372036854775808", "\u0661",
)  # fmt: skip
USER_LEVEL = [*map(training, PER_PERSON), *map(list_training, LIST_TRAININGS)]
TRAINERS = [each for each in USER_LEVEL if "releases" in signature(each.fit).parameters]
MANY_SPELLINGS = (45, 48, 52)
"""Seeds of which the removed user rated many items under two spellings of their ids."""
SEEDS = (*range(8), *MANY_SPELLINGS)


def ids(chance: Random, count: int, of_text: bool) -> list:
    """Distinct ids, as numbers, as text, or as text of which some are numbers."""
    pool = TEXTS if of_text else NUMBERS
    return chance.sample(pool, min(count, len(pool)))


def frame(rows: list[tuple]) -> pl.DataFrame:
    users, items, stars = zip(*rows, strict=True)
    return pl.DataFrame({"user": users, "item": items, "rating": stars}, strict=False)


def neighbours(seed: int) -> tuple[Ratings, Ratings]:
    """Ratings of declared items by declared users, with and without the rows of one user."""
    chance = Random(seed)
    of_text = [chance.random() < 0.7 for _ in range(4)]
    users, items = (ids(chance, 12, each) for each in of_text[:2])
    people, catalogue = (ids(chance, 12, each) for each in of_text[2:])
    rows = [
        (user, item, chance.randint(1, 5))
        for user in users
        for item in items
        if chance.random() < 0.8
    ]
    listed = [row for row in rows if str(row[0]).strip() in map(str, people)]
    person = str(chance.choice(listed if listed and chance.random() < 0.8 else rows)[0]).strip()
    others = [row for row in rows if str(row[0]).strip() != person]

    def read(rows: list[tuple]) -> Ratings:
        return from_frame(
            frame(rows), scale="1:5:1", catalogue=catalogue, people=people, notify=str
        )

    return read(rows), read(others)


def findings(trainer: object, seed: int) -> list[str]:
    """What the replay finds wrong, and a refusal, which would show one of both data sets."""
    try:
        return replay(trained(trainer), *neighbours(seed), SecretReleases())
    except RequestError as error:
        return [str(error)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)
def test_no_spelling_of_ids_moves_a_count_by_more_than_declared(trainer):
    for seed in SEEDS:
        assert findings(trainer, seed) == [], f"seed {seed}"


def test_neighbours_differ_by_declared_rows_of_one_user():
    moved = [len(one) - len(other) for one, other in map(neighbours, SEEDS)]
    assert sum(rows > 0 for rows in moved) > len(SEEDS) / 3
    assert min(moved) >= 0


def lenient(ids: vocabulary.Vocabulary, raw: pl.Series) -> np.ndarray:
    """Codes of ids that are equal once both are integers."""
    table = {value: code for code, value in enumerate(ids.ids.cast(pl.Int64, strict=False))}
    table.pop(None, None)
    numbers = raw.cast(pl.Int64, strict=False)
    return np.array([table.get(number, -1) for number in numbers], np.int32)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)
def test_a_cast_to_integers_after_duplicates_were_dropped_is_found(trainer, monkeypatch):
    monkeypatch.setattr(vocabulary.Vocabulary, "codes", lenient)
    assert any(findings(trainer, seed) for seed in SEEDS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [one.name for one in TRAINERS if one.name in LIST_TRAININGS])
def test_such_a_cast_moves_counts_by_more_than_declared(name, monkeypatch):
    monkeypatch.setattr(vocabulary.Vocabulary, "codes", lenient)
    # Trainers refuse a pair that occurs twice. The replay finds it without that check.
    monkeypatch.setattr(Ratings, "require_distinct_pairs", lambda ratings: None)
    for seed in MANY_SPELLINGS:
        assert "steps and declares" in findings(list_training(name), seed)[0]


class SameWords:
    """Random words of a round, the same in every run. For tests only."""

    def __init__(self, number: int) -> None:
        self.rng = np.random.default_rng(number)

    def fill(self, words: np.ndarray) -> None:
        words[:] = self.rng.integers(0, 1 << 64, len(words), dtype=np.uint64)


def findings_on_devices(trainer: PGMF, seed: int, epsilon: str = "2") -> list[str]:
    """What differs between both data sets, if the server receives the reports of the first."""
    sent, answered, found = [], Questions.answered, []

    def recorded(asked, side, ratings, home, channel, words):
        symbols = answered(asked, side, ratings, home, channel, SameWords(len(sent)))
        sent.append((asked.seeds.tobytes(), asked.columns.tobytes(), symbols))
        return symbols

    def replayed(asked, side, ratings, home, channel, words):
        number = next(rounds)
        again = answered(asked, side, ratings, home, channel, SameWords(number))
        *questions, symbols = sent[number]
        if questions != [asked.seeds.tobytes(), asked.columns.tobytes()]:
            found.append(f"round {number} has other questions")
        changed.extend(np.flatnonzero(again != symbols))
        return symbols

    fitted, changed, rounds = [], [], iter(range(trainer.rounds))
    with pytest.MonkeyPatch.context() as patch:
        for data, run in zip(neighbours(seed), (recorded, replayed), strict=True):
            patch.setattr(Questions, "answered", run)
            fitted.append(trainer.fit(data, epsilon=epsilon))
    if len(changed) > trainer.budget(epsilon)[0]:
        found.append(f"{len(changed)} reports depend on one user")
    if len({(one.mu.tobytes(), one.items.tobytes()) for one in fitted}) > 1:
        found.append("the item model is another")
    return found


def test_a_trainer_without_releases_draws_its_noise_on_devices():
    local = [each for each in USER_LEVEL if each not in TRAINERS]
    shuffled = ["covariance", "item-mean", "ease", "popularity"]
    assert [each.name for each in local] == ["pg-mf", *(f"shuffled-{name}" for name in shuffled)]
    assert PGMF().guarantee("1").trust == "nobody"
    trusts = {each.fit(neighbours(0)[0], epsilon="1").guarantee.trust for each in local[1:]}
    assert trusts == {"shuffler"}


def test_of_pg_mf_only_the_reports_of_one_user_depend_on_their_rows():
    """The replay of a trainer on devices: reports take the place of releases."""
    for seed in SEEDS:
        assert findings_on_devices(PGMF(rounds=8), seed) == [], f"seed {seed}"


def mean_of_all(home, ratings):
    return home._replace(mu=float(ratings.values.mean()) if len(ratings) else 3.0)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [("mean", "the item model is another"), ("groups", "has other questions")],
)
def test_a_fault_on_devices_is_found(fault, sentence, monkeypatch):
    """Planted: initial values depend on the mean rating, or public draws on how many there are."""
    home = PGMF._home

    def faulty(self, ratings, rng):
        rng.random(len(ratings) if fault == "groups" else 0)
        started = home(self, ratings, rng)
        return started if fault == "groups" else mean_of_all(started, ratings)

    monkeypatch.setattr(PGMF, "_home", faulty)
    found = (" ".join(findings_on_devices(PGMF(rounds=4), seed)) for seed in SEEDS)
    assert any(sentence in each for each in found)
