"""The genre split: by the catalogue alone, every item on the side that has more of its genres."""

import numpy as np
import polars as pl
import pytest

from tacit.cli import main
from tacit.crossdomain.genres import GenreSplit, Halves
from tacit.errors import DataError
from tacit.readers import from_frame, items


def catalogue(genres):
    return pl.DataFrame({"item": list(genres), "genres": list(genres.values())})


# Counts: A 4, B 3, C 2, D 2; the tie of C and D is by name. Sides: A 0, B 1, C 0, D 1.
GENRES = {
    1: ["A"],
    2: ["A", "B"],
    3: ["A", "B", "D"],
    4: ["B", "C"],
    5: ["A", "D", "C"],
    6: [],
}


def test_genres_are_dealt_out_by_count_and_name():
    assert GenreSplit(catalogue(GENRES)).genres.rows() == [
        ("A", 4, 0), ("B", 3, 1), ("C", 2, 0), ("D", 2, 1)
    ]  # fmt: skip


def test_an_item_goes_where_more_of_its_genres_are_and_a_tie_to_the_most_frequent():
    sides = dict(GenreSplit(catalogue(GENRES)).sides.rows())
    assert sides == {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}


def test_the_split_agrees_with_counting_by_hand():
    rng = np.random.default_rng(3)
    names = list("ABCDEFG")
    made = {
        item: rng.choice(names, rng.integers(0, 5), replace=False).tolist() for item in range(200)
    }
    counts = {name: sum(name in genres for genres in made.values()) for name in names}
    order = sorted(names, key=lambda name: (-counts[name], name))
    expected = {}
    for item, genres in made.items():
        places = sorted(order.index(name) for name in genres)
        odd = sum(place % 2 for place in places)
        if places:
            tie = 2 * odd == len(places)
            expected[item] = places[0] % 2 if tie else int(2 * odd > len(places))
    assert dict(GenreSplit(catalogue(made)).sides.rows()) == expected


def test_ratings_of_a_side_keep_their_rows_and_the_rest_is_counted():
    frame = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 3, 6, 9], "rating": [5, 4, 3, 2]})
    halves = Halves.of(from_frame(frame, scale="1:5:1"), GenreSplit(catalogue(GENRES)))
    assert halves.source.to_polars().rows() == [(1, 1, 5.0)]
    assert halves.target.to_polars().rows() == [(1, 3, 4.0)]
    assert halves.left_out == (2, 2)
    assert halves.sentences[-1] == "1 users rated on both sides"


@pytest.mark.parametrize(("genres", "said"), [({1: ["A"]}, "got 1"), ({1: ["A"], 3: []}, "got 1")])
def test_too_few_genres_are_a_sentence(genres, said):
    with pytest.raises(DataError, match=said):
        _ = GenreSplit(catalogue(genres)).genres


def test_genres_are_read_from_every_layout(tmp_path):
    flags = "|".join("1" if k in (1, 5) else "0" for k in range(19))
    unknown = "|".join("1" if k == 0 else "0" for k in range(19))
    texts = {
        "u.item": f"7|Seven|1995||url|{flags}\n8|Eight|1995||url|{unknown}\n",
        "movies.dat": "7::Seven::Action|Comedy\n8::Eight::\n",
        "movies.csv": "movieId,title,genres\n7,Seven,Action|Comedy\n8,Eight,(no genres listed)\n",
    }
    expected = [(7, "Seven", ["Action", "Comedy"]), (8, "Eight", [])]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert items(tmp_path / name).rows() == expected
    stored = tmp_path / "items.parquet"
    pl.DataFrame({"item": [7, 8], "title": ["Seven", "Eight"], "genres": ["Action|Comedy", None]}
    ).write_parquet(stored)  # fmt: skip
    assert items(stored).rows() == expected
    pl.DataFrame({"film": [7]}).write_parquet(stored)
    with pytest.raises(DataError, match="is not a table of item"):
        items(stored)


def test_the_verb_writes_both_sides(tmp_path, capsys):
    data, out = tmp_path / "ratings.csv", tmp_path / "out"
    data.write_text("user,item,rating,timestamp\n1,1,5,9\n1,3,4,8\n2,6,3,7\n")
    (tmp_path / "movies.csv").write_text(
        "movieId,title,genres\n1,One,A\n2,Two,A|B\n3,Three,A|B|D\n4,Four,B|C\n5,Five,A|C|D\n"
    )
    ask = ["split-domains", str(data), "-o", str(out), "--scale", "1:5:1"]
    with pytest.raises(SystemExit):
        main(ask)
    with pytest.raises(SystemExit) as ended:
        main([*ask, "--by-genre"])
    printed, said = capsys.readouterr()
    assert ended.value.code == 0
    assert "1 users rated on both sides" in printed
    assert "1 items without a genre were left out, together with their 1 ratings." in said
    source = pl.read_parquet(out / "source.parquet")
    assert source.rows() == [(1, 1, 5.0, 9)]
    assert source.columns == ["user", "item", "rating", "timestamp"]
    assert len(pl.read_parquet(out / "items.parquet")) == 5
    assert items(out)["genres"].to_list()[1] == ["A", "B"]
