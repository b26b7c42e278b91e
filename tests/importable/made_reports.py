"""The four reports, from rows that are made up: lines that end, figures that are not, claims that
fail, names that are long, two splits and one."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from tacit import synthetic
from tacit.experiments.attacks import AttackRequest, experiment, quick_attacks
from tacit.metrics.accuracy import Slice
from tacit.reporting.page import Provenance
from tacit.results.attacks.report import report as attacks
from tacit.results.choice.report import Criteria
from tacit.results.choice.report import report as choice
from tacit.results.choice.tradeoff import Tradeoff, strength
from tacit.results.comparison.device_sample import DeviceSample
from tacit.results.comparison.report import report as comparison
from tacit.results.comparison.row import ResultRow
from tacit.results.crossdomain.report import report as crossdomain
from tacit.results.crossdomain.rows import TrialRow

RATINGS = synthetic(120, 80, 4000, rng=1)
EPSILONS = (0.1, 0.5, 1.0, 3.0, 8.0)
COMPARED: dict[str, Any] = {
    "dataset": "made-up ratings", "plan": "rated", "cap": None, "mode": "strict",
    "channel_id": "ab", "trust": "nobody", "unit": "value", "delta": 0.0, "fold": None,
    "values_epsilon": None, "user_epsilon": None, "tight_epsilon": None, "claim_valid": True,
    "n_train": 90_000, "n_test": 10_000, "rmse_of_mean": 1.12, "coverage_at_20": 0.3,
    "popularity_at_20": 0.2, "niche_ndcg_at_20": 0.1, "fit_seconds": 1.0, "predict_seconds": 0.1,
}  # fmt: skip
TRIED: dict[str, Any] = {
    "replacement_epsilon": None, "neighbour_epsilon": None, "source": "books", "target": "films",
    "test_share": 0.2, "damping": None, "decay": None, "n_train": 9_000, "n_test": 1_200,
    "people": 140, "seconds": 0.1,
}  # fmt: skip
FREE = {"unit": "none", "trust": "everybody", "mode": "none", "claim_valid": None}


def run(command: str) -> Provenance:
    return Provenance.of(RATINGS, command, {"1": "optimal"})


def compared_row(worth: float, epsilon: float | None, seed: int, **values: Any) -> ResultRow:
    """A row whose figures are a share `worth` of the way from a floor to the best, less noise."""
    share = worth * (1 if epsilon is None else 1 - math.exp(-0.9 * epsilon)) + 0.004 * seed
    free = {} if epsilon is not None else {**FREE, "channel_id": None}
    known = values.pop("rates", True)
    figures = {
        "rmse": 1.14 - 0.26 * share, "mae": 0.92 - 0.2 * share,
        "information_efficiency": share if values.get("where") == "device" else math.nan,
        "precision_at_10": 0.5 + share / 5, "recall_at_10": 0.6 + share / 5,
        "f_score_at_10": 0.55 + share / 5,
    }  # fmt: skip
    lists = {
        "ndcg_at_20": 0.02 + 0.3 * share, "recall_at_20": 0.01 + 0.2 * share,
        "mrr": 0.05 + 0.4 * share, "hit_rate_at_20": 0.1 + 0.6 * share,
    }  # fmt: skip
    shown = figures if known else dict.fromkeys(figures, math.nan)
    made = {**COMPARED, **free, **shown, **lists, **values}
    return ResultRow(**{**made, "epsilon": epsilon, "seed": seed})


def slices(worth: float) -> tuple[Slice, ...]:
    return tuple(
        Slice(by="activity", decile=decile, fewest=9 * decile, most=9 * decile + 8, members=90,
              tested=900, slice_rmse=1.2 - worth * decile / 30, privacy_cost=0.3 / decile)
        for decile in range(1, 11)
    )  # fmt: skip


def compared(seeds: int) -> Iterator[ResultRow]:
    """Four models that predict ratings, one of a claim that fails; lists at random and popular."""
    systems = {"bias": 0.55, "mog-mf": 0.75, "channel-mf": 1.0}
    for seed, (model, worth) in product(range(seeds), systems.items()):
        for where in ("provider", "device") if model == "channel-mf" else ("provider",):
            for epsilon, (channel, part) in product(
                EPSILONS, {"optimal": 1.0, "bounded-laplace": 0.8}.items()
            ):
                if model != "mog-mf" or epsilon > 0.1:
                    cut = slices(worth * part) if where == "device" else None
                    yield compared_row(worth * part, epsilon, seed, model=model, channel=channel,
                                       where=where, slices=cut)  # fmt: skip
            yield compared_row(worth, None, seed, model=model, channel="identity", where=where)
        for epsilon in EPSILONS[1:]:
            yield compared_row(0.9, epsilon, seed, model="dpsaobj", channel=None, where="curator",
                               trust="curator", claim_valid=False, mode="faithful")  # fmt: skip
    for model, worth in {"random": 0.02, "popularity": 0.5}.items():
        yield compared_row(worth, None, 0, model=model, channel="identity", where="provider",
                           rates=False)  # fmt: skip


def tried(**values: Any) -> TrialRow:
    worth = values.pop("worth")
    claim = values.get("epsilon")
    share = worth * (1 if claim is None else 1 - math.exp(-claim)) + 0.003 * values["seed"]
    promise = {
        "mode": "strict", "unit": "user", "trust": "curator", "delta": 1e-6, "claim_valid": True,
        "promise": f"Epsilon = {claim} per user, delta = 1e-06, trusting the curator.",
    }  # fmt: skip
    free = {**FREE, "delta": 0.0, "promise": "No privacy: every true rating is released."}
    figures: dict[str, Any] = {
        "mae": 0.95 - 0.2 * share, "mae_rounded": 0.93 - 0.2 * share, "coverage": 0.9,
        "ndcg_at_20": 0.3 * share, "recall_at_20": 0.2 * share, "mrr": 0.4 * share,
        "hit_rate_at_20": 0.7 * share, "coverage_at_20": 0.2, "popularity_at_20": 0.3,
    }  # fmt: skip
    if values.pop("floor", False):
        figures |= dict.fromkeys(("mae", "mae_rounded", "coverage"))
    known = free if claim is None else promise
    return TrialRow(**{**TRIED, "epsilon": None, **known, **figures, **values})


def trials(seeds: int, keeps: tuple[int, ...], overlaps: tuple[float, ...]) -> Iterator[TrialRow]:
    """Systems with and without neighbours, with and without a promise, and floors of lists."""
    for seed, keep, overlap in product(range(seeds), keeps, overlaps):
        at: dict[str, Any] = {"seed": seed, "keep": keep, "overlap": overlap}
        more = keep / 40 + overlap / 10
        yield tried(model="item-average", variant=None, k=None, worth=0.2, **at)
        yield tried(model="item-offset", variant=None, k=None, worth=0.5 + more, **at)
        for k, variant in product((5, 50), ("item", "user")):
            worth = 0.5 + k / 200 + more
            yield tried(model="nx-map-everybody", variant=variant, k=k, worth=worth, **at)
        for epsilon in (0.5, 1.0, 3.0):
            yield tried(model="x-map-strict", variant="item", k=50, worth=0.7 + more,
                        epsilon=epsilon, **at)  # fmt: skip
        for first, second in product((0.3, 0.6), (0.8, 1.0, 2.0)):
            yield tried(
                model="x-map", variant="user", k=50, worth=0.6 + more, epsilon=first + second,
                replacement_epsilon=first, neighbour_epsilon=second, mode="faithful",
                claim_valid=False, promise="Claimed but not satisfied (its noise is of another "
                "scale): epsilon = 1 per user, trusting the curator.", **at,
            )  # fmt: skip
        for name, worth in (("random", 0.02), ("popularity", 0.4)):
            yield tried(model=name, variant=None, k=None, worth=worth, floor=True, **at)


def compared_page(seeds: int = 2) -> str:
    pairs = [("The Long Way Home", 5.0, 3.7), ("Heat", 2.0, 4.1), ("Up", None, 2.9)]
    sample = DeviceSample("A synthetic user", "optimal", "1", pairs, symbols=5)
    attacked = quick_attacks(
        RATINGS, plan="rated", channels=["optimal", "bounded-laplace"], epsilons=["0.5", "1"]
    )
    return comparison(
        list(compared(seeds)), sample=sample, split="0.1 of the ratings, drawn at random",
        attacked=attacked, run=run("tacit compare ratings.csv --report report.html"),
    )  # fmt: skip


def compared_once() -> str:
    """One split at one epsilon."""
    rows = [row for row in compared(1) if row.epsilon in (None, 1.0)]
    return comparison(rows, run=run("tacit compare ratings.csv --epsilon 1"))


def crossed_page(seeds: int = 2) -> str:
    rows = list(trials(seeds, (0, 3), (0.2, 1.0)))
    return crossdomain(rows, run("tacit crossdomain books.csv films.csv --report report.html"))


def crossed_once() -> str:
    """No axis varies: every system beside the others."""
    rows = [row for row in trials(1, (0,), (1.0,)) if row.k != 5 and row.epsilon in (None, 1.0)]
    return crossdomain(rows, run("tacit crossdomain books.csv films.csv --lists"))


def attacked_page() -> str:
    asked = AttackRequest(
        attacks=("linkage", "reconstruction", "order"), epsilons=("0.5", "1", "3"),
        channels=("optimal", "bounded-laplace"),
    )  # fmt: skip
    rows = experiment(asked, RATINGS).rows()
    guilty = next(k for k, row in enumerate(rows) if row.bound and row.epsilon)
    rows[guilty] = replace(rows[guilty], bound=0.01, leaks=True)
    return attacks(rows, run("tacit attack ratings.csv --epsilon 0.5,1,3 --report report.html"))


def chosen_page(seeds: int = 3) -> str:
    epsilons = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
    errors = {
        e: [0.9 + 0.2 * strength(e) ** 1.5 + 0.01 * seed for seed in range(seeds)] for e in epsilons
    }
    found = Tradeoff.of(errors, least=0.9, most=1.1, unit="value")
    return choice(found, Criteria(), run("tacit choose-epsilon ratings.csv --report report.html"))


PAGES = {
    "compare": compared_page,
    "compare-once": compared_once,
    "crossdomain": crossed_page,
    "crossdomain-once": crossed_once,
    "attack": attacked_page,
    "choose-epsilon": chosen_page,
}
