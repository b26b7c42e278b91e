"""An interrupted grid keeps what is finished, and goes on where it stopped."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.experiments.experiment import Experiment, Journal
from tacit.metrics.split import SplitProtocol
from tacit.results.comparison.row import ResultRow
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary


@pytest.fixture
def grid(ratings, compared):
    """The cells of a comparison with these changes."""

    def cells(**changes):
        usual = {"channels": ["identity", "even"], "epsilons": ["0.5", "1"]}
        return compared(**{**usual, "protocol": SplitProtocol(seeds=2), **changes}).cells(ratings)

    return cells


@pytest.fixture
def cells(grid):
    return grid()


def run(cells, measure, journal=None, *progress):
    """Rows of an experiment on these cells."""
    declared = Experiment(title="testing", row=ResultRow, cells=cells, measure=measure)
    return declared.rows(journal, *progress)


@pytest.fixture
def run_cell(make_row):
    """A runner that notes what it ran and stops at the fourth cell."""
    seen = []

    def run(cell):
        if len(seen) == run.stop:
            raise KeyboardInterrupt
        seen.append(cell.label)
        epsilon = None if cell.epsilon is None else float(cell.epsilon)
        row = make_row(channel=cell.channel, model=cell.model, seed=cell.seed)
        return [row] if epsilon is None else [row, make_row(epsilon=epsilon, where="device")]

    run.seen, run.stop = seen, None
    return run


def test_the_grid_has_the_identity_once_and_every_other_channel_at_every_epsilon(cells):
    first = [(cell.channel, cell.epsilon, cell.model) for cell in cells if cell.seed == 0]
    assert first == [
        ("identity", None, "mean"), ("identity", None, "other"),
        ("even", "0.5", "mean"), ("even", "0.5", "other"),
        ("even", "1", "mean"), ("even", "1", "other"),
    ]  # fmt: skip
    assert len(cells) == 12
    assert len({cell.key for cell in cells}) == 12


def test_a_training_runs_once_an_epsilon_with_no_channel(grid):
    cells = grid(
        channels=["even", "odd"], models=["mean", "asks"], protocol=SplitProtocol(),
        plan="catalogue", cap=5,
    )  # fmt: skip
    asks = [cell for cell in cells if cell.model == "asks"]
    assert [(c.channel, c.plan, c.cap, c.epsilon, c.mode) for c in asks] == [
        (None, "rounds", None, "0.5", "strict"), (None, "rounds", None, "1", "strict"),
    ]  # fmt: skip
    assert asks[0].label == "asks, rounds at 0.5, seed 0"
    assert {(cell.plan, cell.cap) for cell in cells if cell.model == "mean"} == {("catalogue", 5)}


def test_an_interrupted_run_is_resumed(tmp_path, cells, run_cell):
    path = tmp_path / "out.json.journal"
    run_cell.stop = 3
    with pytest.raises(KeyboardInterrupt):
        run(cells, run_cell, Journal(path, ResultRow))
    assert len(path.read_text().splitlines()) == 3
    kept = Journal(path, ResultRow)
    assert len(kept.rows(cell.key for cell in cells)) == 4
    run_cell.stop = None
    rows = run(cells, run_cell, kept)
    assert run_cell.seen == [cell.label for cell in cells]
    assert rows == run(cells, run_cell, Journal(path, ResultRow))
    assert len(run_cell.seen) == 12
    kept.remove()
    assert not path.exists()


def test_a_torn_line_costs_one_cell_only(tmp_path, cells, run_cell):
    path = tmp_path / "out.json.journal"
    run(cells[:3], run_cell, Journal(path, ResultRow))
    path.write_bytes(path.read_bytes()[:-20])
    run(cells[:4], run_cell, Journal(path, ResultRow))
    assert len(run_cell.seen) == 5
    assert all(cell.key in Journal(path, ResultRow) for cell in cells[:4])


def test_rows_of_another_run_are_not_taken(tmp_path, cells, run_cell, ratings, grid, compared):
    journal = Journal(tmp_path / "j", ResultRow)
    run(cells, run_cell, journal)
    some = ratings.where(ratings.users > 3)
    others = compared(protocol=SplitProtocol(seeds=2)).cells(some)
    assert not any(cell.key in journal for cell in others)
    again = grid(protocol=SplitProtocol(seeds=2, share=0.2))
    assert not any(cell.key in journal for cell in again)


def test_more_seeds_go_on_from_fewer(tmp_path, cells, run_cell, grid):
    journal = Journal(tmp_path / "j", ResultRow)
    run(cells, run_cell, journal)
    run(grid(protocol=SplitProtocol(seeds=3)), run_cell, journal)
    assert len(run_cell.seen) == 12 + 6


def test_progress_is_told(cells, run_cell):
    states = []
    run(cells, run_cell, None, lambda *state: states.append(state))
    assert states[0] == ("mean, identity, seed 0", 0, 12)
    assert states[-1] == ("", 12, 12)


def test_another_published_split_is_other_data(ratings):
    """The split's name is the same: a row of the one is not taken for one of the other."""
    masks = (None, np.arange(len(ratings)) < 5, np.arange(len(ratings)) < 6)
    prints = [replace(ratings, held_out=mask).fingerprint for mask in masks]
    assert len(set(prints)) == 3
    assert prints[0] == ratings.fingerprint


def renamed(vocabulary):
    return Vocabulary(vocabulary.ids.cast(pl.String) + "x")


@pytest.mark.parametrize(
    "change",
    [
        lambda known: {"item_ids": renamed(known.item_ids)},
        lambda known: {"user_ids": renamed(known.user_ids)},
        lambda known: {
            "user_ids": Vocabulary(known.user_ids.ids.clone().append(pl.Series([10**6])))
        },
        lambda known: {"item_ids": Vocabulary(known.item_ids.ids.cast(pl.String))},
        lambda known: {"times": np.arange(len(known))},
        lambda known: {"undeclared": frozenset({"catalogue"})},
        lambda known: {"scale": RatingScale.parse("0:4:1")},
    ],
    ids=["items", "users", "one more user", "type of ids", "times", "declared", "scale"],
)
def test_rows_of_other_data_are_not_reused(ratings, compared, change):
    """The levels of all ratings are the same."""
    other = replace(ratings, **change(ratings))
    assert ratings.checksum == replace(ratings).checksum != other.checksum
    one = compared(channels=["identity"], epsilons=["1"])
    keys = [{cell.key for cell in one.cells(data)} for data in (ratings, other)]
    assert not keys[0] & keys[1]
