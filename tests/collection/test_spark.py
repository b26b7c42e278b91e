"""Reports drawn on Spark's workers: the cells, the law and the promise of a single machine's."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.channels import compile_channel, threshold_mix
from tacit.channels.table import Channel
from tacit.cli import main
from tacit.collection import spark as module
from tacit.collection.named_plans import plan
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.collection.report_file import read_reports, write_blocks
from tacit.collection.spark import write_perturbed_on_spark
from tacit.engines.spark_session import session
from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

STARS = RatingScale.parse("1:5:1")
MASTER = "local[2]"
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def spark():
    """One Spark for this module's tests; each job finds it running."""
    with session(MASTER, "1g") as running:
        yield running


def ratings_of(people=40, items=30, count=500, named="p{}") -> Ratings:
    """Ratings in no order; the last person has rated nothing."""
    chance = np.random.default_rng(5)
    cells = chance.permutation((people - 1) * items)[:count]
    ids = [named.format(k) if named else 10 * k for k in range(people)]
    return Ratings(
        (cells // items).astype(np.int32),
        (cells % items).astype(np.int32),
        chance.integers(0, 5, count).astype(np.uint8),
        STARS,
        Vocabulary(pl.Series("id", sorted(ids))),
        Vocabulary(pl.Series("id", range(items))),
    )


def drawn(truth, chosen, tmp_path):
    path = tmp_path / "r.parquet"
    written = write_perturbed_on_spark(truth, chosen, path, master=MASTER)
    reports = read_reports(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.parquet"]
    assert len(reports) == written
    return reports


def cells(reports):
    """Who reported what through which channel, in the file's order."""
    return reports.users, reports.items, reports.channel_of


@pytest.mark.parametrize("name", ["rated", "catalogue", "sample:7"])
@pytest.mark.parametrize("cap", [None, 4])
@pytest.mark.parametrize("named", ["p{}", None])
def test_the_file_says_what_a_single_machines_would(name, cap, named, tmp_path):
    truth = ratings_of(named=named)
    hides = name != "rated"
    channels = (
        compile_channel("randomized-response", epsilon="3", scale=STARS, missing=True)
        if hides
        else threshold_mix(epsilon="2", scale=STARS)
    )
    chosen = plan(name, channels, cap)
    reports, whole = drawn(truth, chosen, tmp_path), perturb(truth, chosen)
    for same in ("channels", "scale", "guarantee", "plan", "name"):
        assert getattr(reports, same) == getattr(whole, same)
    assert reports.symbols.dtype == whole.symbols.dtype
    assert reports.user_ids.ids.to_list() == truth.user_ids.ids.to_list()
    assert reports.item_ids.ids.to_list() == truth.item_ids.ids.to_list()
    if name != "catalogue":  # whose kept cells are drawn
        for mine, theirs in zip(cells(reports), cells(whole), strict=True):
            assert (mine == theirs).all()
    assert (np.diff(reports.users) >= 0).all()


def test_symbols_have_the_tables_law_and_are_drawn_anew(tmp_path):
    """Six deviations of chi-square with 20 degrees; the table of another epsilon is convicted."""
    truth = ratings_of(people=301, items=200, count=60_000)
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    reports = drawn(truth, Rated(channel), tmp_path)
    levels = truth.by_person().levels
    assert (reports.items == truth.by_person().items).all()

    def fits(likelihood):
        expected = np.bincount(levels)[:, None] * np.array(likelihood)
        counts = np.histogram2d(levels, reports.symbols, [range(6), range(6)])[0]
        return ((counts - expected) ** 2 / expected).sum() < 20 + 6 * np.sqrt(40) + 20  # its tail

    assert fits(channel.likelihood)
    assert not fits(compile_channel("randomized-response", epsilon="1.1", scale=STARS).likelihood)
    again = drawn(truth, Rated(channel), tmp_path)
    agree = (again.symbols == reports.symbols).mean()
    by_chance = (np.array(channel.likelihood) ** 2).sum(1).mean()
    assert abs(agree - by_chance) < 6 * 0.5 / np.sqrt(len(levels))


@pytest.mark.parametrize("name", ["rated", "catalogue", "sample:7"])
@pytest.mark.parametrize("cap", [None, 4])
def test_the_order_of_the_file_leaves_no_trace(name, cap, tmp_path):
    """Through a table that errs once in 2^61 draws, so that whole files can be compared."""
    truth, hides = ratings_of(), name != "rated"
    outputs = (None,) * hides + STARS.levels
    rows = np.identity(len(outputs), object) * ((1 << 64) - len(outputs)) + 1
    sure = Channel(STARS.levels, outputs, tuple(map(tuple, rows.tolist())), "46", missing=hides)
    shuffled = truth.take(np.random.default_rng(6).permutation(len(truth)))
    for rows, path in ((truth, tmp_path / "a"), (shuffled, tmp_path / "b")):
        write_perturbed_on_spark(rows, plan(name, sure, cap), path, master=MASTER)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_workers_draw_apart_from_each_other(tmp_path):
    """The same person 400 times over: no two send the same 60 symbols."""
    users = np.repeat(np.arange(400, dtype=np.int32), 60)
    items = np.tile(np.arange(60, dtype=np.int32), 400)
    ids = [Vocabulary(pl.Series("id", range(n))) for n in (400, 60)]
    truth = Ratings(users, items, np.full(24_000, 2, np.uint8), STARS, *ids)
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    reports = drawn(truth, Rated(channel), tmp_path)
    rows = reports.symbols.reshape(400, 60)
    assert len(np.unique(rows, axis=0)) == 400


@pytest.mark.parametrize(("piece", "most"), [(module.PIECE, 3), (13, 1)])
def test_a_task_answers_for_few_people(piece, most, tmp_path, monkeypatch):
    """At least sixteen tasks, and as many as bound the memory of one; a task is a block here."""
    people = []

    def counted(ratings, plan, blocks, path):
        kept = list(blocks)
        people.extend(len(set(block.users.tolist())) for block in kept)
        return write_blocks(ratings, plan, kept, path)

    monkeypatch.setattr(module, "PIECE", piece)
    monkeypatch.setattr(module, "write_blocks", counted)
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    drawn(ratings_of(), Rated(channel), tmp_path)  # 13 cells a person
    assert sum(people) == 39  # and one who has rated nothing
    assert max(people) == most


def test_a_catalogue_is_reported_as_often_as_the_table_says(tmp_path):
    truth = ratings_of(people=201, items=100, count=8000)
    channel = compile_channel("randomized-response", epsilon="3", scale=STARS, missing=True)
    reports = drawn(truth, plan("catalogue", channel), tmp_path)
    told = 1 - np.array(channel.likelihood)[:, channel.outputs.index(None)]
    kinds = [201 * 100 - 8000, *np.bincount(truth.levels)]
    expected, spread = told @ kinds, np.sqrt((told * (1 - told)) @ kinds)
    assert abs(len(reports) - expected) < 6 * spread


def test_what_cannot_be_drawn_is_refused_before_it_is_sent(tmp_path):
    tens = compile_channel("duchi", epsilon="1", scale=RatingScale.parse("1:10:1"))
    with pytest.raises(RequestError, match="must be on the ratings' scale 1:5:1"):
        write_perturbed_on_spark(ratings_of(), Rated(tens), tmp_path / "r", master=MASTER)
    both = [
        compile_channel("randomized-response", epsilon=e, scale=STARS, missing=True)
        for e in ("1", "2")
    ]
    with pytest.raises(RequestError, match="all slots of a user must use the same channel"):
        write_perturbed_on_spark(
            ratings_of(), plan("catalogue", both), tmp_path / "r", master=MASTER
        )
    assert not list(tmp_path.iterdir())


def test_from_the_command_line_to_a_model(tmp_path, capsys):
    truth = replace(ratings_of(), times=None)
    truth.to_polars().write_csv(tmp_path / "r.csv")
    output, model = str(tmp_path / "r.parquet"), str(tmp_path / "model")
    request = ["perturb", str(tmp_path / "r.csv"), "--scale", "1:5:1", "--channel", "auto"]
    request += ["--epsilon", "1", "--engine", "spark", "--master", MASTER, "-o", output]
    for verb in (request, ["fit", output, "--model", "item-mean", "-o", model]):
        with pytest.raises(SystemExit) as end:
            main(verb)
        assert not end.value.code
    said = capsys.readouterr()
    assert said.out == ""
    assert "500 reports in" in said.err
    assert "Epsilon = 1 per value, trusting nobody" in said.err


def test_an_interrupt_in_the_middle_of_the_job_leaves_nothing(tmp_path):
    """A sentence and status 130; neither reports nor a word of Java's or Python's."""
    folder = tmp_path / "out"
    folder.mkdir()
    ratings_of(people=1500, items=3000, count=60_000).to_polars().write_csv(tmp_path / "r.csv")
    request = ["perturb", str(tmp_path / "r.csv"), "--scale", "1:5:1", "--plan", "catalogue"]
    request += ["--channel", "optimal", "--epsilon", "0.1", "--engine", "spark"]
    request += ["--master", "local[1]", "-o", str(folder / "r.parquet")]
    running = subprocess.Popen(
        [sys.executable, "-m", "tacit", *request],
        stderr=subprocess.PIPE,
        text=True,
        # A shell's job in the background ignores interrupts, and so do all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(folder.glob("*/parts")) and running.poll() is None:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    said = running.communicate()[1].splitlines()
    assert said[-1] == "Interrupted."
    assert not [line for line in said if "Traceback" in line or "ERROR" in line]
    assert running.returncode == 130
    assert not list(folder.iterdir())
