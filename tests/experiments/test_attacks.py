"""`AttackRequest`: which attack meets which reports, what is kept, and what is reported."""

import json
from dataclasses import replace
from html import escape

import pytest

from tacit.audit.attacks.world import World
from tacit.channels import compile_channel
from tacit.collection import named_plans
from tacit.errors import RequestError
from tacit.experiments.attacks import AttackRequest, experiment
from tacit.experiments.experiment import Journal
from tacit.readers import synthetic
from tacit.results.attacks.report import EXPERIMENT, attack_figure, report
from tacit.results.attacks.rows import AttackRow, leaks, tables

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture(scope="module")
def few():
    """Made-up ratings of 60 people."""
    return synthetic(60, 50, 1500, rng=2)


def quiet(label, done, total):
    """Nobody is told."""


ASKED = AttackRequest(
    attacks=("linkage", "reconstruction", "order"),
    plans=("rated", "catalogue"),
    channels=("randomized-response",),
    epsilons=("1", "2"),
)


@pytest.fixture(scope="module")
def rows(few):
    return experiment(ASKED, few).rows()


def test_every_attack_meets_what_it_needs(rows):
    terms = {}
    for row in rows:
        terms.setdefault(row.attack, {})[(row.plan, row.epsilon, row.unit)] = None
    protected = {
        ("rated", 1.0, "value"), ("rated", 2.0, "value"),
        ("catalogue", 1.0, "slot"), ("catalogue", 2.0, "slot"),
    }  # fmt: skip
    assert terms["linkage"].keys() == protected | {(None, None, None)}
    assert terms["order"].keys() == protected


def test_a_row_is_of_the_channel_that_it_names(rows, few):
    channel = compile_channel("randomized-response", epsilon="2", scale=few.scale, missing=True)
    ids = {row.channel_id for row in rows if (row.plan, row.epsilon) == ("catalogue", 2.0)}
    assert ids == {channel.id}
    assert {row.channel_id for row in rows if row.epsilon is None} == {None}


def test_rows_survive_their_file(rows):
    assert [AttackRow.from_dict(json.loads(json.dumps(row.to_dict()))) for row in rows] == rows


def test_what_the_journal_has_is_not_run_again(few, rows, tmp_path, monkeypatch):
    path = tmp_path / "j"
    made = []
    through = World.through.__func__

    def counted(cls, *given):
        made.append(given)
        return through(cls, *given)

    monkeypatch.setattr(World, "through", classmethod(counted))
    first = experiment(ASKED, few).rows(Journal(path, AttackRow))
    assert len(made) == 4  # one world for all attacks on it
    again = experiment(ASKED, few).rows(Journal(path, AttackRow))
    assert len(made) == 4
    assert again == first
    assert [replace(row, seconds=0) for row in first] == [replace(row, seconds=0) for row in rows]
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:5]))
    resumed = experiment(ASKED, few).rows(Journal(path, AttackRow))
    assert [replace(row, seconds=0) for row in resumed] == [replace(r, seconds=0) for r in rows]


def test_other_settings_are_other_experiments(few):
    changed = replace(ASKED, changes={"linkage": {"known": (3,)}})
    keys = [{one.key for one in asked.cells(few)} for asked in (ASKED, changed)]
    assert len(keys[0] - keys[1]) == 5  # linkage under two plans at two epsilons, and without


def test_a_leak_is_reported(monkeypatch):
    """Planted: devices that draw at epsilon 1.1 under a table that is shown as 1."""
    many = synthetic(600, 400, 90_000, rng=6)
    asked = AttackRequest(attacks=("reconstruction",), channels=("randomized-response",))
    assert leaks(experiment(asked, many).rows())[0].startswith("None of")
    hot = compile_channel("randomized-response", epsilon="1.1", scale=many.scale)
    through = World.through.__func__

    def leaky(cls, ratings, plan, seed, people):
        world = through(cls, ratings, plan, seed, people)
        hotter = through(cls, ratings, named_plans.plan("rated", hot), 0)
        return replace(world, collect=hotter.collect)

    monkeypatch.setattr(World, "through", classmethod(leaky))
    rows = experiment(asked, many).rows()
    assert any(row.leaks for row in rows)
    (said, *_) = leaks(rows)
    assert "above the guaranteed 0.4046" in said
    assert "randomized-response at 1 under rated" in said


def test_every_figure_is_in_a_table_and_in_the_report(rows):
    page = report(rows)
    made = tables(rows)
    assert [table.caption.split(",")[0] for table in made] == ["linkage", "reconstruction", "order"]
    cells = {cell for table in made for line in table.lines for cell in line}
    for row in rows:
        most = "" if row.bound is None else f", at most {row.bound:.3f}"
        cell = f"{row.value:.3f} ({row.baseline:.3f}{most})"
        assert cell in cells
        assert cell in page
    assert EXPERIMENT in page


def test_the_figure_of_an_attack_has_the_first_figure_of_each_setting(rows):
    mine = [row for row in rows if row.attack == "linkage"]
    figure = attack_figure(mine)
    assert [panel.live.title for panel in figure.panels] == [
        "rated, randomized-response", "catalogue, randomized-response"
    ]  # fmt: skip
    for panel, plan in zip(figure.panels, ("rated", "catalogue"), strict=True):
        drawn = {(line.name, x): y for line in panel.live.lines for x, y, _, _ in line.points}
        shown = [row for row in mine if row.plan == plan and row.figure == "top-1"]
        every = {(row.setting, row.epsilon): row.value for row in shown}
        assert drawn.items() <= every.items()
        assert len(drawn) == 7 * 2
        (floor,) = panel.live.baselines
        assert floor.value == pytest.approx(shown[0].baseline)
    assert figure.title == "top-1, as a share"
    assert f"7 of {len(every) // 2} lines that depend most on epsilon" in figure.caption
    assert "Bars are a standard error." in figure.caption
    assert attack_figure([row for row in mine if row.epsilon is None]) is None


def test_what_is_beside_is_a_floor_or_where_it_moves_a_line(rows):
    mine = [row for row in rows if row.attack == "reconstruction" and row.plan == "catalogue"]
    (panel,) = attack_figure(mine).panels
    known = {(row.setting, row.epsilon): row.baseline for row in reversed(mine)}
    floors = {floor.name: floor.value for floor in panel.live.baselines}
    stars = "stars, item's true distribution as prior"
    assert floors[f"{stars}, baseline"] == pytest.approx(known[stars, 1.0])
    moving = {line.name: line.points for line in panel.live.lines if line.stroke == "baseline"}
    hidden = "presence, per slot"
    assert list(moving) == [f"{hidden}, baseline"]
    assert [y for _, y, _, _ in moving[f"{hidden}, baseline"]] == [
        known[hidden, 1.0], known[hidden, 2.0]
    ]  # fmt: skip


def test_an_attack_that_leaks_is_a_line_that_leads_to_its_figures(rows):
    assert "None of" in report(rows)
    planted = [replace(rows[0], bound=0.0001, leaks=True), *rows[1:]]
    page = report(planted)
    line = f'{rows[0].attack}: 1 figure exceeds the guarantee. <a href="#attack-1">Why</a>'
    assert page.index(line) < page.index("<h2 id=attack-1>")
    assert escape(leaks(planted)[0]) in page.partition("<h2 id=attack-1>")[2].partition("<h2")[0]
    assert "None of" not in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attacks": ("linkag",)}, "attack must be one of"),
        ({"plans": ("catalog",)}, "catalog"),
        ({"channels": ("laplac",)}, "channel must be one of"),
        ({"channels": ("identity",)}, "leave identity out"),
    ],
)
def test_what_does_not_exist_is_refused_at_once(changes, words):
    with pytest.raises(RequestError, match=words):
        AttackRequest(**changes)
