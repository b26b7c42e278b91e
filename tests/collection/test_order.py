"""The order of a file may follow its ratings; the order of what leaves does not."""

import numpy as np
import polars as pl
import pytest

from tacit.channels import compile_channel, threshold_mix
from tacit.collection.named_plans import plan
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import write_reports
from tacit.ratings import Ratings
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

STARS = RatingScale.parse("1:5:1")


class RepeatableWordsForTestsOnly:
    """The k-th word of a run is always the same: fixed for each cell, if cells have an order."""

    def __init__(self) -> None:
        self.chance = np.random.default_rng(0)

    def fill(self, words) -> None:
        words[:] = self.chance.integers(0, 1 << 64, len(words), dtype=np.uint64)


def ratings_of_many() -> Ratings:
    chance = np.random.default_rng(5)
    slots = chance.permutation(40 * 30)[:500]
    return Ratings(
        (slots // 30).astype(np.int32),
        (slots % 30).astype(np.int32),
        chance.integers(0, 5, 500).astype(np.uint8),
        STARS,
        Vocabulary(pl.Series("id", [f"p{k:02}" for k in range(40)])),
        Vocabulary(pl.Series("id", range(30))),
    )


def most_likely_ascending(symbols, likelihood):
    """The ascending sequence of levels under which the symbols are most likely, by Viterbi."""
    gain = np.log(np.array(likelihood))[:, symbols]
    best, came_from = gain[:, 0].copy(), np.zeros(gain.shape, int)
    for t in range(1, gain.shape[1]):
        for level in range(len(best)):
            came_from[level, t] = best[: level + 1].argmax()
        best = best[came_from[:, t]] + gain[:, t]
    path = [int(best.argmax())]
    for t in range(gain.shape[1] - 1, 0, -1):
        path.append(came_from[path[-1], t])
    return np.array(path[::-1])


def test_a_file_sorted_by_rating_gives_no_more_away_than_one_report_allows():
    truth = synthetic(60, 200, 4886)
    truth = truth.take(np.argsort(truth.levels, kind="stable"))
    channel = compile_channel("randomized-response", epsilon="1", scale=truth.scale)
    reports = perturb(truth, Rated(channel))
    rating = {(u, i): r for u, i, r in zip(truth.users, truth.items, truth.levels, strict=True)}
    guessed = most_likely_ascending(reports.symbols, channel.likelihood)
    true = [rating[cell] for cell in zip(reports.users, reports.items, strict=True)]
    assert (guessed == true).mean() <= 0.41
    # The attacker is able: in the order of the ratings nearly all of them fall.
    sorted_again = np.argsort(true, kind="stable")
    guessed = most_likely_ascending(reports.symbols[sorted_again], channel.likelihood)
    assert (guessed == np.array(true)[sorted_again]).mean() > 0.97


@pytest.mark.parametrize("name", ["rated", "catalogue", "sample:7"])
@pytest.mark.parametrize("cap", [None, 4])
def test_permuting_the_file_changes_no_byte(name, cap, tmp_path):
    hides = name != "rated"
    channels = (
        compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True)
        if hides
        else threshold_mix(epsilon="1", scale=STARS)
    )
    chosen, truth = plan(name, channels, cap), ratings_of_many()
    shuffled = truth.take(np.random.default_rng(6).permutation(len(truth)))
    for rows, path in ((truth, tmp_path / "a"), (shuffled, tmp_path / "b")):
        write_reports(perturb(rows, chosen, words=RepeatableWordsForTestsOnly()), path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
