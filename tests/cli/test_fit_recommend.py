"""From reports to recommendations, at the provider and on the device, through files."""

import json

import polars as pl
import pytest

from tacit import fit, synthetic
from tacit.models import Fitted


@pytest.fixture
def data(tmp_path, ratings):
    path = tmp_path / "made.csv"
    ratings.to_polars().write_csv(path)
    return path


@pytest.fixture
def model(run, data, tmp_path):
    path = tmp_path / "model"
    assert (
        run("fit", data, "--epsilon", 2, "--model", "bias", "--scale", "1:5:1", "-o", path)[0] == 0
    )
    return path


def test_ratings_are_sent_through_a_channel_first(model):
    assert Fitted.load(model).guarantee.epsilon == "2"


def test_reports_are_fitted_with_the_guarantee_they_carry(run, data, tmp_path):
    reports, model = tmp_path / "reports.parquet", tmp_path / "model"
    status, _, said = run("perturb", data, "--channel", "auto", "--epsilon", "0.5", "-o", reports)
    assert status == 0, said
    assert pl.read_parquet(reports).height == 2000
    status, _, said = run("fit", reports, "--model", "mf", "--factors", 2, "-o", model)
    assert status == 0, said
    assert "Epsilon = 0.5 per value, trusting nobody" in said
    fitted = Fitted.load(model)
    assert fitted.items.shape[2] == 3


def test_true_ratings_are_no_privacy(run, data, tmp_path):
    _, _, said = run("fit", data, "--model", "bias", "-o", tmp_path / "model")
    assert "No privacy" in said


def test_recommendations_are_items_with_falling_ratings(run, model):
    status, printed, _ = run("recommend", model, "--user", 7, "-n", 5, "--rank-by", "rating")
    assert status == 0
    rows = [line.split("\t") for line in printed.splitlines()]
    assert len(rows) == 5
    assert [float(rating) for _, rating in rows] == sorted(
        (float(rating) for _, rating in rows), reverse=True
    )


def test_somebody_unknown_gets_the_average_persons_items(run, model):
    status, printed, said = run("recommend", model, "--user", "nobody")
    assert status == 0
    assert len(printed.splitlines()) == 10
    assert "No reports from user 'nobody'; returning the average user's list." in said


@pytest.mark.parametrize(
    "header", ["item,rating\n{},5\n{},1\n", "user,item,rating\n9,{},5\n9,{},1\n"]
)
def test_a_profile_stays_at_home_and_its_items_are_left_out(run, model, tmp_path, header):
    best = [line.split("\t")[0] for line in run("recommend", model, "--user", 9)[1].splitlines()]
    profile = tmp_path / "own.csv"
    profile.write_text(header.format(best[0], best[1]))
    (tmp_path / "u.item").write_text(f"{best[2]}|Third|\n")
    # All items are asked for: which ten are best depends on the channel's noise, never the same.
    titles = tmp_path / "u.item"
    status, printed, said = run(
        "recommend", model, "--user", 9, "--profile", profile, "--titles", titles, "-n", 9999
    )
    assert status == 0, said
    shown = [line.split("\t")[0] for line in printed.splitlines()]
    assert not {best[0], best[1]} & set(shown)
    assert "\tThird" in printed


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,rating\n1,9\n", "row 1: rating '9' is off the scale 1:5:1"),
        ("item,stars\n1,9\n", "the columns must include 'rating'"),
        ("user,item,rating\n3,1,4\n", "no ratings by user '9'"),
        ("user,item,rating\n9,1,x\n", "line 2: rating 'x'"),
        ("", "line 1: the columns must include 'item'"),
        ("item,rating\n9001,3\n9002,4\n", "none of the 2 items in"),
    ],
)
def test_a_profile_that_is_wrong_is_refused(run, model, tmp_path, text, words):
    profile = tmp_path / "own.csv"
    profile.write_text(text)
    status, printed, said = run("recommend", model, "--user", 9, "--profile", profile)
    assert (status, printed) == (1, "")
    assert words in said
    assert "--" not in said  # no option is named that the verb does not have
    assert len(said.splitlines()) == 1


def test_items_that_the_model_lacks_are_counted_and_the_first_is_named(run, model, tmp_path):
    profile = tmp_path / "own.csv"
    profile.write_text("item,rating\n1,5\n9001,3\n2,1\n9002,4\n")
    status, printed, said = run("recommend", model, "--user", 9, "--profile", profile)
    assert (status, len(printed.splitlines())) == (0, 10)
    assert "does not contain 2 of the 4 items" in said
    assert "the first is '9001'" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "odd"], "model must be one of"),
        (["--epsilon", "none"], "got 'none'"),
        (["--epsilon", "1,2"], "got '1,2'"),
        (["--channel", "odd"], "channel must be one of"),
    ],
)
def test_a_fit_that_cannot_be_made_writes_nothing(run, data, tmp_path, arguments, words):
    status, _, said = run("fit", data, "-o", tmp_path / "model", *arguments)
    assert status == 1
    assert words in said
    assert [file.name for file in tmp_path.iterdir()] == ["made.csv"]


RATINGS = "on true ratings, which are used unchanged without --epsilon"
REPORTED = "on reports, which define their scale, catalogue and users"


@pytest.mark.parametrize(
    ("source", "option", "reason"),
    [
        ("ratings", ["--channel", "laplace"], RATINGS),
        ("ratings", ["--plan", "catalogue"], RATINGS),
        ("ratings", ["--mode", "faithful"], "on a model; only trainers have it"),
        ("ratings", ["--delta", "1e-5"], "on a model; only trainers have it"),
        ("ratings", ["--task", "ab" * 32], "without --db"),
        ("ratings", ["--least", "7"], "without --publish"),
        ("trainer", ["--channel", "laplace"], "on a trainer, which adds its own noise"),
        ("trainer", ["--plan", "catalogue"], "on a trainer, which adds its own noise"),
        ("trainer", ["--without-exposure"], "on a trainer, which adds its own noise"),
        ("reports", ["--epsilon", "1"], "on reports, which are already perturbed"),
        ("reports", ["--channel", "laplace"], "on reports, which are already perturbed"),
        ("reports", ["--plan", "rated"], "on reports, which are already perturbed"),
        ("reports", ["--scale", "1:9:1"], REPORTED),
        ("reports", ["--implicit"], REPORTED),
        ("reports", ["--columns", "user=who"], REPORTED),
        ("reports", ["--format", "table"], REPORTED),
        ("reports", ["--rounding", "nearest"], REPORTED),
        ("reports", ["--positive-only"], REPORTED),
    ],
)
def test_an_option_without_effect_is_refused(run, data, tmp_path, source, option, reason):
    reports, model = tmp_path / "reports.parquet", tmp_path / "model"
    if source == "reports":
        assert run("perturb", data, "--epsilon", "1", "-o", reports)[0] == 0
    trainer = ("--model", "dp-bias", "--epsilon", "8", "--scale", "1:5:1")
    given = {
        "ratings": (data, "--model", "bias", "--scale", "1:5:1"),
        "trainer": (data, *trainer),
        "reports": (reports, "--model", "bias"),
    }[source]
    status, _, said = run("fit", *given, *option, "-o", model)
    assert status == 1, said
    assert f"{option[0]} has no effect {reason}; leave it out." in " ".join(said.split())
    assert not model.exists()


def test_a_model_that_is_none_is_refused(run, data):
    status, _, said = run("recommend", data, "--user", 1)
    assert status == 1
    assert "is not a saved model" in said


def test_an_output_of_everybody_is_checked_before_the_model_is_read(run, model, monkeypatch):
    def read(path):
        raise AssertionError

    before = model.read_bytes()
    monkeypatch.setattr("tacit.models.load", read)
    status, _, said = run("recommend", model, "--all", "-o", "/nowhere/lists.csv")
    assert (status, "/nowhere/lists.csv cannot be written" in said) == (1, True)
    status, _, said = run("recommend", model, "--all", "-o", model)
    assert (status, "is an input and would be overwritten" in said) == (1, True)
    assert model.read_bytes() == before


def test_a_training_asks_devices_itself(run, data, tmp_path):
    model, mine = tmp_path / "asked", tmp_path / "mine.csv"
    asked = ("fit", data, "--model", "pg-mf", "--scale", "1:5:1", "-o", model)
    status, _, said = run(*asked)
    assert (status, model.exists()) == (1, False)
    assert "pg-mf is a trainer and requires --epsilon" in said
    status, _, said = run(*asked, "--epsilon", 8, "--factors", 2)
    assert status == 0, said
    assert "Epsilon = 8 per user, trusting nobody" in said
    assert Fitted.load(model).items.shape[2] == 3
    mine.write_text("item,rating\n1,5\n2,1\n")
    status, out, said = run("recommend", model, "--user", 1, "-n", 3, "--profile", mine)
    assert (status, len(out.splitlines())) == (0, 3), said
    reports = tmp_path / "reports.parquet"
    run("perturb", data, "--channel", "auto", "--epsilon", "1", "-o", reports)
    status, _, said = run("fit", reports, "--model", "pg-mf", "--epsilon", 8, "-o", model)
    assert status == 1
    assert "requires ratings, not reports" in said


def test_a_fit_over_a_folder_writes_the_same_model(run, data, tmp_path):
    reports, plain, kept = (tmp_path / name for name in ("reports.parquet", "plain", "kept"))
    assert run("perturb", data, "--channel", "auto", "--epsilon", "1", "-o", reports)[0] == 0
    asked = ("fit", reports, "--model", "mf", "--factors", 2)
    assert run(*asked, "-o", plain)[0] == 0
    assert run(*asked, "-o", kept, "--state", tmp_path / "state")[0] == 0
    assert kept.read_bytes() == plain.read_bytes()
    assert (tmp_path / "state" / "fit.json").exists()


@pytest.mark.spark
def test_a_fit_on_spark_of_this_machine_needs_no_folder_and_leaves_none(
    run, data, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    asked = ("fit", data, "--scale", "1:5:1", "--model", "popularity", "-o")
    assert run(*asked, tmp_path / "plain")[0] == 0
    status, _, said = run(*asked, tmp_path / "spark", "--engine", "spark", "--master", "local[2]")
    assert status == 0, said
    assert (tmp_path / "spark").read_bytes() == (tmp_path / "plain").read_bytes()
    assert not [*(tmp_path / "temporary").glob("tacit-*")]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("--model", "mog-mf", "--state", "state"), "mog-mf does not support --engine"),
        (
            ("--model", "mf", "--engine", "spark", "--master", "spark://host:7077"),
            "--state is req",
        ),
        (("--model", "mf", "--state", "state", "--epsilon", "1"), "Resuming with --state requires"),
        (
            ("--model", "pg-mf", "--epsilon", "8", "--engine", "spark"),
            "pg-mf does not support",
        ),
        (("--model", "mf", "--master", "local[2]"), "--master local[2] requires --engine spark"),
    ],
)
def test_where_a_model_cannot_learn_is_said_before_it_does(run, data, tmp_path, asked, sentence):
    status, _, said = run("fit", data, "-o", tmp_path / "model", *asked)
    assert status == 1
    assert sentence in " ".join(said.split())
    assert not (tmp_path / "model").exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "item;rating\n1;5\n",
            "line 1: the columns must include 'item', got 'item;rating'; write comma-separated",
        ),
        ("item,stars\n1,5\n", "line 1: the columns must include 'rating', got 'item,stars'; write"),
        ("item,rating\n", "contains no ratings; write one line per rated item."),
        (
            "item,rating\n1,7\n",
            "rating '7' is off the scale 1:5:1; correct the rating or the scale.",
        ),
        ("item,rating\r1,5\r", "line 1: lines end in CR only; save the file with LF or CRLF."),
    ],
)
def test_a_profile_is_refused_by_what_recommend_can_read(run, model, tmp_path, written, said):
    profile = tmp_path / "mine.csv"
    profile.write_bytes(written.encode())
    status, _, error = run("recommend", model, "--user", "1", "--profile", profile)
    assert status == 1
    assert f"{profile}" in error
    assert said in error
    assert "NAME" not in error  # recommend has no option that names columns


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_lists_of_all_users_are_those_of_each(run, model, tmp_path, ending):
    titles = tmp_path / "movies.csv"
    titles.write_text("item,title\n" + "".join(f"{item},Film {item}\n" for item in range(1, 61)))
    output = tmp_path / f"lists.{ending}"
    status, printed, said = run(
        "recommend", model, "--all", "-n", 4, "-o", output, "--titles", titles
    )
    assert (status, printed) == (0, ""), said
    lists = pl.read_parquet(output) if ending == "parquet" else pl.read_csv(output)
    assert lists.columns == ["user", "item", "title", "rating"]
    assert f"{len(lists):,} rows" in said
    for user in (1, 7):
        printed = run("recommend", model, "--user", user, "-n", 4)[1].splitlines()
        mine = lists.filter(pl.col("user") == user)
        assert [line.split("\t")[0] for line in printed] == mine["item"].cast(str).to_list()


def test_one_user_or_all_into_a_file(run, model, tmp_path):
    for wrong in ((), ("--all",), ("--user", 1, "--all"), ("--user", 1, "-o", tmp_path / "x.csv")):
        status, _, said = run("recommend", model, *wrong)
        assert status == 1
        assert "Give either --user, or --all with --output." in said
    status, _, said = run("recommend", model, "--all", "-o", tmp_path / "lists.txt")
    assert status == 1
    assert ".parquet or .csv" in said


def test_a_saved_top_n_model_recommends_to_its_users(run, tmp_path):
    path, profile = tmp_path / "lists", tmp_path / "mine.csv"
    clicks = synthetic(60, 50, 1200, scale="there")
    fitted = fit("ease", clicks)
    fitted.save(path)
    user = clicks.user_ids.ids[3]
    status, printed, said = run("recommend", path, "--user", user, "-n", 3)
    assert status == 0, said
    best = [item for item, _ in fitted.recommend(user, 3)]
    assert [int(line.split("\t")[0]) for line in printed.splitlines()] == best
    profile.write_text("item\n4\n9\n")
    printed = run("recommend", path, "--user", "me", "--profile", profile, "-n", 3)[1]
    best = [item for item, _ in fitted.recommend_to([4, 9], 3)]
    assert [int(line.split("\t")[0]) for line in printed.splitlines()] == best
    run("recommend", path, "--all", "-o", tmp_path / "all.parquet")
    assert pl.read_parquet(tmp_path / "all.parquet").columns == ["user", "item", "score"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["mf", "ease"])
def test_json_has_the_items_titles_and_unrounded_figures(run, tmp_path, kind):
    made = synthetic(300, 120, 12_000, scale="there" if kind == "ease" else "1:5:1")
    fitted = fit(kind, made)
    fitted.save(tmp_path / "model")
    (tmp_path / "movies.csv").write_text('movieId,title,genres\n1,"Café ""x""",a\n2,Two,b\n')
    user = int(made.user_ids.ids[3])
    best = fitted.recommend(user, 120)
    figure = "score" if kind == "ease" else "rating"
    status, printed, _ = run("recommend", tmp_path / "model", "--user", user, "-n", 120, "--json")
    assert status == 0
    assert json.loads(printed) == [{"item": item, figure: float(value)} for item, value in best]
    _, printed, _ = run(
        "recommend", tmp_path / "model", "--user", user, "-n", 120, "--json",
        "--titles", tmp_path / "movies.csv",
    )  # fmt: skip
    named = {1: 'Café "x"', 2: "Two"}
    titles = {row["item"]: row["title"] for row in json.loads(printed)}
    assert titles == {item: named.get(item) for item, _ in best}
    status, _, error = run(
        "recommend", tmp_path / "model", "--all", "-o", tmp_path / "all.csv", "--json"
    )
    assert (status, "--json applies to --user" in error) == (1, True)
