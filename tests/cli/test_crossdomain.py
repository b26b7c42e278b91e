"""The cross-domain verb on small files: one person's view, and what cannot be done."""

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
