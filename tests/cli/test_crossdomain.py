"""The cross-domain verb on small files: one person's view, and what cannot be done."""

import numpy as np
import polars as pl
import pytest

FILMS = [(1, 1, 5), (1, 2, 3), (2, 1, 4), (2, 2, 2), (3, 2, 1), (4, 1, 5), (4, 3, 2), (6, 4, 4)]
BOOKS = [(1, 7, 5), (2, 7, 3), (2, 8, 4), (3, 7, 2), (3, 8, 1), (9, 8, 4)]


@pytest.fixture
def files(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").write_csv(path)
        return path

    return write


def test_a_person_sees_what_stands_for_what_they_rated(run, files, tmp_path):
    titles = tmp_path / "items.parquet"
    called = {"item": [1, 2, 7, 8], "title": ["Interstellar", "Alien", "Emma", "Emma"]}
    pl.DataFrame(called).write_parquet(titles)
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, printed, said = run(
        "crossdomain", *pair, "--scale", "1:5:1", "--user", 4, "--titles", titles
    )
    assert status == 0, said
    lines = printed.splitlines()
    row = next(line for line in lines if line.startswith("Interstellar"))
    assert "Emma (7)" in row or "Emma (8)" in row, "two books of one title are distinguished"
    assert "Interstellar > Emma" in row
    assert "3 > Interstellar > Emma" in printed, (
        "a film without a rating by an overlapping user is linked through another film"
    )
    assert "Recommendations" in printed
    assert lines[-1].startswith("No privacy:")


def test_an_item_nobody_else_rated_has_no_replacement(run, files):
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, printed, _ = run("crossdomain", *pair, "--scale", "1:5:1", "--user", 6)
    assert status == 0
    assert "none, because no path leads to the target domain" in printed


def test_drawn_replacements_say_why_their_claim_fails(run, files):
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, printed, _ = run(
        "crossdomain", *pair, "--scale", "1:5:1", "--user", 4, "--mode", "faithful"
    )
    assert status == 0
    assert "not satisfied (3 replacements" in printed.splitlines()[-1]


@pytest.fixture
def show(run, files):
    """What is printed for user 4; gives (status, output, the last error line)."""
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)

    def command(*more):
        status, printed, said = run("crossdomain", *pair, "--scale", "1:5:1", "--user", 4, *more)
        return status, printed, said.splitlines()[-1]

    return command


def test_one_system_is_shown_with_its_own_guarantee(show):
    assert "Recommendations of nx-map-everybody" in show()[1]
    assert "Recommendations of nx-map\n" in show("--model", "nx-map")[1]
    for more in (("--epsilon", "8"), ("--model", "x-map-strict", "--epsilon", "8")):
        status, printed, _ = show(*more)
        assert status == 0
        assert "Recommendations of x-map-strict" in printed
        assert "Replacements" not in printed, "factors replace no single items"
        assert "Epsilon = 8 per user" in printed.splitlines()[-1]
    printed = show("--model", "x-map", "--mode", "faithful", "--epsilon", "2.2")[1]
    assert "epsilon = 2.2 per user" in printed.splitlines()[-1]
    assert "Epsilon = 1 per user" in show("--model", "x-map-strict")[1]
    assert "Epsilon = 3 per user" in show("--model", "item-average", "--epsilon", "3")[1]
    assert "No privacy" in show("--model", "item-average")[1]


def test_settings_of_one_system_are_obeyed(show, files, run):
    chance = np.random.default_rng(3)
    rows = [(u, i, int(chance.integers(1, 6))) for u in range(30) for i in range(12)]
    pair = files("a.csv", rows[::2]), files("b.csv", [(u, i + 20, r) for u, i, r in rows[1::3]])
    asked = ("crossdomain", *pair, "--scale", "1:5:1", "--user", 3, "--model", "nx-map")
    shown = {k: run(*asked, "--k", k)[1] for k in (1, 9)}
    assert shown[1] != shown[9]
    claim = show("--mode", "faithful", "--epsilon", "1", "--neighbour-epsilon", "5")[1]
    assert "epsilon = 6 per user" in claim
    assert "delta = 1e-09" in show("--model", "x-map-strict", "--delta", "1e-9")[1]


def test_predictions_for_one_user_are_on_the_scale(show, files, run):
    """Without a clip, the first prediction would be above 5."""
    rows = [(u, i, 5 if (u + i) % 3 else 4) for u in range(8) for i in range(5)]
    pair = files("a.csv", rows), files("b.csv", [(u, i + 9, r) for u, i, r in rows if u or i])
    for model in ("nx-map", "nx-map-everybody", "item-offset", "x-map-strict"):
        _, printed, _ = run("crossdomain", *pair, "--scale", "1:5:1", "--user", 0, "--model", model)
        table = printed[printed.index("predicted") :].split("\n\n")[0].splitlines()[1:]
        values = [float(line.split()[-1]) for line in table]
        assert values
        assert all(1 <= value <= 5 for value in values)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--model", "nx-map", "--epsilon", "1"), "nx-map has no privacy, so --epsilon has no eff"),
        (("--model", "nx-map", "--mode", "strict"), "nx-map has no privacy, so --mode has no eff"),
        (("--model", "x-map-strict", "--k", "3"), "--k is not a setting of x-map-strict"),
        (("--model", "nx-map", "--delta", "1e-9"), "--delta is not a setting of nx-map"),
        (("--model", "x-map"), "Not run in mode strict: x-map (faithful)"),
        (("--model", "nx-map,x-map-strict"), "--user shows one system with one value"),
        (("--k", "3,5"), "got 2: nx-map-everybody, k 3, decay 0; nx-map-everybody, k 5, decay 0"),
        (("--epsilon", "1,3"), "got 2: x-map-strict, epsilon 1; x-map-strict, epsilon 3"),
        (("--overlap", "0.5"), "--overlap has no effect with --user"),
        (("--json", "rows.json"), "--json has no effect with --user"),
        (("--lists",), "--lists has no effect with --user"),
    ],
)
def test_an_option_without_effect_on_one_user_is_refused(show, more, words):
    status, printed, said = show(*more)
    assert (status, printed) == (1, "")
    assert words in said


@pytest.mark.parametrize(
    ("user", "names"),
    [("77", ("'77'", "occurs")), ("9", ("user 9 has no rating outside", "books"))],
)
def test_a_person_without_anything_to_translate_gets_a_sentence(run, files, user, names):
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, printed, said = run("crossdomain", *pair, "--scale", "1:5:1", "--user", user)
    assert (status, printed) == (1, "")
    assert all(name in said.splitlines()[-1] for name in names)


def test_domains_that_share_nobody_get_a_sentence(run, files):
    strangers = [(user + 50, item, rating) for user, item, rating in BOOKS]
    pair = files("films.csv", FILMS), files("books.csv", strangers)
    status, printed, said = run("crossdomain", *pair, "--scale", "1:5:1")
    assert (status, printed) == (1, "")
    assert "No user rated both in books and in films" in said


def test_an_engine_that_does_not_exist_is_refused_before_anything_is_read(run, tmp_path):
    absent = tmp_path / "absent.csv"
    status, _, said = run("crossdomain", absent, absent, "--engine", "cluster")
    assert status == 1
    assert "'cluster'" in said
    status, _, said = run("crossdomain", absent, absent, "--master", "spark://host:7077")
    assert status == 1
    assert "--engine spark" in said


def test_interactions_get_lists_and_no_single_user(run, files, tmp_path):
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, printed, said = run(
        "crossdomain", *pair, "--implicit", "--model", "ease", "--epsilon", "2",
        "--report", tmp_path / "r.html",
    )  # fmt: skip
    assert status == 0
    assert "ignored, because the data are implicit feedback" in said
    assert "top-20 lists; epsilon per slot" in printed
    assert "mean absolute error" not in printed
    assert "NDCG@20" in (tmp_path / "r.html").read_text()
    status, _, said = run("crossdomain", *pair, "--implicit", "--user", 4)
    assert status == 2
    assert "--user" in said
    assert "requires ratings" in said
    status, _, said = run("crossdomain", *pair, "--implicit", "--model", "x-map")
    assert status == 1
    assert "model must be one of popularity, ease, graph-filter for implicit feedback" in said


def test_a_setting_of_x_map_reaches_the_system(run, tmp_path):
    """AlterEgos of all users are what nx-map-everybody adds to nx-map, apart from damping."""
    films, books = tmp_path / "films.csv", tmp_path / "books.csv"
    chance = np.random.default_rng(0)
    for path, first in ((films, 0), (books, 100)):
        rows = [(u, first + i, int(chance.integers(1, 6)))
                for u in range(40) for i in chance.permutation(12)[:8]]  # fmt: skip
        pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").write_csv(path)
    common = ["crossdomain", films, books, "--scale", "1:5:1", "--damping", 0]

    def rows(*more):
        status, printed, said = run(*common, *more)
        assert status == 0, said
        return [line for line in printed.splitlines() if line.startswith("nx-map-everybody")]

    changed = rows("--model", "nx-map", "--set", "alteregos=everybody")
    assert changed == rows("--model", "nx-map-everybody")
    assert changed
    assert not rows("--model", "nx-map")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("stage=true", "None of the systems has the setting 'stage'"),
        ("k=5", "None of the systems has the setting 'k', beyond options"),
        ("stages=perhaps", "stages of nx-map must be true or false, got 'perhaps'"),
        ("stages", "--set must be NAME=VALUE, as in --set stages=true, got 'stages'"),
    ],
)
def test_a_setting_that_is_none_is_refused(run, files, setting, words):
    pair = files("films.csv", FILMS), files("books.csv", BOOKS)
    status, _, said = run(
        "crossdomain", *pair, "--scale", "1:5:1", "--model", "nx-map", "--set", setting
    )
    assert status != 0
    assert words in " ".join(said.split())
