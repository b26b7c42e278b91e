"""Cross-domain trials as a grid: which cells, what a row says, and that it goes on."""

import json
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from tacit import crossdomain
from tacit.cli import main
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import Predicted, TrialPredictions
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.experiments.crossdomain.trials import TrialRequest
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.reporting.table import text
from tacit.results.crossdomain.report import report
from tacit.results.crossdomain.rows import CONSTANTS, TrialRow, as_text, behind, promises, table

CONTRACT = (
    "model, variant, mode, epsilon, replacement_epsilon, neighbour_epsilon, delta, unit, trust, "
    "claim_valid, promise, source, target, test_share, overlap, keep, k, damping, decay, seed, "
    "n_train, n_test, people, mae, mae_rounded, coverage, ndcg_at_20, recall_at_20, mrr, "
    "hit_rate_at_20, coverage_at_20, popularity_at_20, seconds"
)


@dataclass(frozen=True, kw_only=True)
class Guess:
    """Tells its first epsilon as a rating; asked more often than `patience`, it is interrupted."""

    mode: str = "none"
    k: int = 5
    neighbour_epsilon: str | None = None
    delta: str = "1e-6"

    name, variant = "guess", "item"
    patience = 10**6

    def budget(self, epsilon):
        if epsilon is None:
            return None
        if self.neighbour_epsilon:
            return epsilon, self.neighbour_epsilon
        return f"{float(epsilon) / 2:g}", f"{float(epsilon) / 2:g}"

    def predict(self, trial, *, engine, epsilon):
        Guess.patience -= 1
        if Guess.patience < 0:
            raise KeyboardInterrupt
        cells = np.ones(len(trial.items))
        claim = NO_PRIVACY
        if epsilon is not None:
            total = f"{sum(map(float, self.budget(epsilon))):g}"
            claim = Guarantee(
                epsilon=total, delta=self.delta, unit="user", trust="curator",
                released="a guess", fails="it is a guess",
            )  # fmt: skip
        told = float(epsilon or 3) * cells
        return TrialPredictions(Predicted(told, cells > 0), claim)


@pytest.fixture
def guess(monkeypatch):
    declared = (Guess(), Guess(mode="strict"), Guess(mode="faithful"))
    monkeypatch.setitem(crossdomain.SYSTEMS, "guess", declared)
    monkeypatch.setattr(Guess, "patience", 10**6)


def run(crossing, domains):
    """The rows of the requested systems."""
    rows = crossing.experiment(domains, Local()).rows()
    return [row for row in rows if row.model not in CONSTANTS]


def cells(crossing, domains):
    """The cells of the requested systems."""
    return [cell for cell in crossing.cells(domains) if cell.system.name not in CONSTANTS]


def test_every_system_runs_once_a_trial_and_once_an_epsilon_it_keeps(guess, domains):
    crossing = TrialRequest(
        models=("guess", "item-average"), mode="both", epsilons=("1", "2"),
        neighbour_epsilons=("1", "3"), ks=(3, 4), overlaps=(0.5, 1.0), keeps=(0, 2), seeds=2,
    )  # fmt: skip
    rows = run(crossing, domains)
    one = [row for row in rows if (row.seed, row.overlap, row.keep) == (1, 0.5, 2)]
    assert len(rows) == 8 * len(one)
    guesses = [r for r in one if r.model == "guess"]
    told = {(r.mode, r.replacement_epsilon, r.neighbour_epsilon, r.k) for r in guesses}
    assert len(told) == len(guesses) == 2 + 2 * 8
    for mode in ("strict", "faithful"):
        expected = {(mode, e, f, k) for e in (1, 2) for f in (1, 3) for k in (3, 4)}
        assert expected < told
    assert [r.epsilon for r in one if r.model == "item-average"] == [None, 1, 2]
    assert {r.k for r in one if r.model == "item-average"} == {None}


def test_rows_of_another_division_into_domains_are_not_reused(domains):
    """The rows and ids are the same."""
    first, middle, last = domains.bounds
    other = replace(domains, bounds=(first, middle - 1, last))
    crossing = TrialRequest(models=("nx-map",))
    one, another = ({cell.key for cell in cells(crossing, each)} for each in (domains, other))
    assert not one & another


def test_decays_are_swept_where_a_system_has_one(domains):
    crossing = TrialRequest(models=("nx-map", "knn-linked"), ks=(3, 4), decays=(0.0, 0.1))
    found = [vars(cell.system) for cell in cells(crossing, domains)]
    mapped = {(c["variant"], c["k"], c["decay"]) for c in found if "decay" in c}
    assert mapped == {(v, k, d) for v in ("item", "user") for k in (3, 4) for d in (0.0, 0.1)}
    assert len(found) == len(mapped) + 2


def test_a_damping_reaches_every_system_that_has_one_and_0_is_a_damping(domains):
    names = ("nx-map", "nx-map-everybody", "x-map", "knn-linked", "item-average")

    def dampings(damping):
        asked = TrialRequest(models=names, mode="faithful", damping=damping, ks=(2,))
        found = cells(asked, domains)
        return {(c.system.name, getattr(c.system, "damping", None)) for c in found}

    own = {"nx-map": 0, "nx-map-everybody": 50, "x-map": 0, "knn-linked": 50, "item-average": None}
    assert dampings(None) == set(own.items())
    for damping in (0, 7):
        given = {(name, None if own[name] is None else damping) for name in names}
        assert dampings(damping) == given
    (row,) = run(TrialRequest(models=("knn-linked",), damping=0), domains)
    assert row.damping == 0


def test_both_budgets_of_x_map_are_named(domains):
    crossing = TrialRequest(
        models=("x-map",), mode="faithful", epsilons=("0.6", "0.3"), neighbour_epsilons=("0.8", "2")
    )
    parts = {(c.system.variant, *c.system.budget(c.epsilon)) for c in cells(crossing, domains)}
    pairs = [("0.6", "0.8"), ("0.6", "2"), ("0.3", "0.8"), ("0.3", "2")]
    assert parts == {(variant, *pair) for variant in ("item", "user") for pair in pairs}


def test_a_row_says_what_was_run_and_how_far_it_was_off(guess, domains):
    (row,) = run(TrialRequest(models=("guess",), mode="faithful", keeps=(1,)), domains)[-1:]
    assert ", ".join(row.to_dict()) == CONTRACT
    assert (row.epsilon, row.unit, row.claim_valid, row.k) == (1, "user", False, 5)
    assert (row.source, row.target, row.keep) == ("books", "films", 1)
    assert row.n_train + row.n_test == len(domains.ratings)
    assert row.mae_rounded == row.mae > 1
    assert row.method == "guess (item), claim fails"
    assert row.claim == "faithful, 0.5 + 0.5"
    assert TrialRow.from_dict(row.to_dict()) == row


def test_either_domain_may_be_the_target(domains):
    (row,) = run(TrialRequest(models=("remote-user",), target=0), domains)
    assert (row.source, row.target, row.variant) == ("films", "books", "user")


def test_a_table_has_the_columns_that_vary_and_each_promise_once(guess, domains):
    models = ("guess", "item-average", "item-offset")
    rows = run(TrialRequest(models=models, keeps=(0, 2), seeds=2), domains)
    shown = table(rows)
    assert shown.heading == ("system", "epsilon", "keep", "MAE", "rounded", "coverage")
    assert len(shown.lines) == len(rows) / 2
    assert "2 draws" in text(shown)
    assert [said.split(":")[0] for said in promises(rows)] == [
        "guess (item), item-average, item-offset", "guess (item), claim fails",
        "item-average, item-offset",
    ]  # fmt: skip


def test_constants_are_in_every_trial_and_are_the_best_constants(domains):
    """Against every level, on the known target ratings."""
    rows = TrialRequest(models=("item-average",), keeps=(0, 3)).experiment(domains, Local()).rows()
    for keep in (0, 3):
        level, average = [r for r in rows if r.keep == keep and r.model in CONSTANTS]
        hidden = Holdout(keep=keep).hide(domains, 1, 0)
        known = hidden.trial.domains.ratings.where(hidden.trial.in_target).values.astype(float)
        best = min(range(1, 6), key=lambda one: np.abs(known - one).mean())
        assert level.mae == level.mae_rounded == pytest.approx(np.abs(hidden.values - best).mean())
        assert average.mae == pytest.approx(np.abs(hidden.values - known.mean()).mean())
        rounded = np.floor(known.mean() + 0.5)
        assert average.mae_rounded == pytest.approx(np.abs(hidden.values - rounded).mean())
        assert (level.coverage, average.coverage) == (0, 0)


def test_constants_are_listed_once(domains):
    for models in (("constant",), ("item-average", "constant-mean")):
        cells = TrialRequest(models=models).cells(domains)
        names = [cell.system.name for cell in cells]
        assert sorted(name for name in names if name in CONSTANTS) == list(CONSTANTS)


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """Hits every hidden rating but by `error`."""

    error: float
    mode: str = "strict"
    name, variant = "ahead", None
    truth = None

    def predict(self, trial, *, engine, epsilon):
        claim = Guarantee(epsilon=epsilon, unit="user", trust="curator", released="it")
        values = Ahead.truth + np.where(Ahead.truth > 2.5, -self.error, self.error)
        return TrialPredictions(Predicted(values, values > 0), claim)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("error", [0.05, 0.9, 1.6])
def test_a_strict_system_that_is_not_ahead_of_a_constant_is_named(domains, monkeypatch, error):
    monkeypatch.setitem(crossdomain.SYSTEMS, "ahead", (Ahead(error=error),))
    monkeypatch.setattr(Ahead, "truth", Holdout().hide(domains, 1, 0).values)
    asked = TrialRequest(models=("ahead", "item-average"), epsilons=("2",))
    rows = asked.experiment(domains, Local()).rows()
    constants = [row for row in rows if row.model in CONSTANTS]
    (mine,) = [row for row in rows if row.model == "ahead"]
    expected = {
        what
        for metric, what in (("mae", "MAE"), ("mae_rounded", "rounded MAE"))
        if getattr(mine, metric) >= min(getattr(each, metric) for each in constants)
    }
    sentences = [sentence for sentence in behind(rows) if "ahead, strict, 2" in sentence]
    assert {sentence.split(" in ")[1].split(":")[0] for sentence in sentences} == expected
    assert (error == 0.05) == (not expected)
    shown = as_text(rows)
    assert all(sentence in shown and sentence in report(rows) for sentence in sentences)


def test_an_interrupted_request_is_compared_over_common_draws(guess, domains):
    """The second draw, of the first system alone, is easier by more than systems differ."""
    asked = TrialRequest(models=("guess",), mode="strict", epsilons=("2",), seeds=2)
    rows = asked.experiment(domains, Local()).rows()
    by = {False: 0.7, True: 0.8}  # constants are ahead in each draw
    rows = [
        replace(row, mae=by[row.model == "guess"] - 0.3 * row.seed, mae_rounded=None)
        for row in rows
    ]
    first = [row for row in rows if row.seed == 0 or row.model == "guess"]
    assert len(first) < len(rows)
    assert behind(first) == behind(rows) != []
    shown, alone = table(first), table([row for row in rows if row.seed == 0])
    assert "mean over 1 draw of test users (of 2, the others are incomplete)" in shown.caption
    assert shown.caption in report(first)
    assert shown.lines == alone.lines
    assert "mean over 2 draws of test users;" in table(rows).caption


def test_systems_without_privacy_are_not_compared_with_constants(guess, domains):
    rows = TrialRequest(models=("guess",), mode="faithful").experiment(domains, Local()).rows()
    assert {row.mode for row in rows} == {"none", "faithful"}
    assert behind(rows) == []


def test_every_point_is_compared_with_the_constants_of_its_trials(guess, domains):
    asked = TrialRequest(models=("guess",), mode="strict", keeps=(0, 2), ks=(3, 4))
    (sentence, _) = behind(asked.experiment(domains, Local()).rows())
    for keep in (0, 2):
        assert sentence.count(f"keep {keep}") == 2


@pytest.mark.parametrize(
    "odd",
    [{"models": ("x",)}, {"mode": "x"}, {"delta": "2"}, {"seeds": 0}, {"overlaps": (2.0,)},
     {"models": ("remote-user",), "ks": (0,)}, {"models": ("knn-single",), "damping": -1}],
)  # fmt: skip
def test_requests_that_cannot_be_met_are_refused_before_any_work(odd):
    with pytest.raises(RequestError):
        TrialRequest(**{"models": ("item-average",), **odd})


def command(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["crossdomain", *arguments, "--scale", "1:5:1"])
    return ended.value.code, *capsys.readouterr()


def test_an_interrupted_run_keeps_its_rows_and_goes_on(guess, files, tmp_path, capsys):
    out = tmp_path / "out.json"
    ask = (*files, "--model", "guess", "--k", "1,2,3", "--epsilon", "1", "--json", str(out))
    Guess.patience = 4
    status, printed, said = command(capsys, *ask)
    assert status == 130
    assert "Interrupted after 4 rows" in said
    assert "guess (item)" in printed
    first = json.loads(out.read_text())
    assert len(first) == 4
    Guess.patience = 2
    status, printed, said = command(capsys, *ask)
    assert status == 0
    assert "4 rows of an earlier run were found" in said
    assert json.loads(out.read_text())[:4] == first
    assert len(pl.read_parquet(tmp_path / "out.parquet")) == 6 + len(CONSTANTS)
    assert not list(tmp_path.glob("*.journal"))
    assert "No privacy: every true rating" in printed
    assert "not satisfied (it is a guess)" in printed


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        (["--model", "nobody"], 1, "system must be one of"),
        (["--overlap", "0.2,x"], 1, "--overlap 0.2,0.5,1"),
        (["--keep", "999"], 1, "no rating would be held out"),
        (["--delta", "0"], 1, "delta must be between 0 and 1"),
    ],
)
def test_a_request_that_cannot_be_met_is_a_sentence(files, capsys, asked, status, said):
    found = command(capsys, *files, *asked)
    assert found[0] == status
    assert found[1] == ""
    assert said in found[2].splitlines()[-1]


def test_one_domain_is_none_to_learn_from(files, capsys):
    assert command(capsys, files[0])[0] == 2
