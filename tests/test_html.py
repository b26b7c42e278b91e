"""What a notebook shows: small well-formed tables with the figures of the value, and no markup in
its names."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import polars as pl
import pytest

from tacit import Catalogue, Rated, compare, compile_channel, fit, from_frame, perturb, synthetic
from tacit.notebook import MOST_COLUMNS, MOST_ROWS, card, heat

ODD = '<script>&"'
MADE = synthetic(40, 50, 900)
FRAME = (
    MADE.to_polars().drop("timestamp").with_columns(item=pl.format("<script>{}", pl.col("item")))
)
RATINGS = from_frame(FRAME, scale="1:5:1", name=ODD)
CHANNEL = compile_channel("duchi", epsilon="0.5", scale="1:5:1")
REPORTS = perturb(RATINGS, Rated(CHANNEL))
FITTED = replace(fit("bias", REPORTS), model=ODD)
SLOTS = synthetic(40, 50, 900, scale="there")
ASKED = compile_channel("randomized-response", epsilon="2", scale="there", missing=True)
LISTS = fit("popularity", perturb(SLOTS, Catalogue(ASKED)))
FOUND = compare(RATINGS, models="bias", channels=CHANNEL, epsilons="0.5")
SHOWN = (RATINGS, REPORTS, CHANNEL, ASKED, REPORTS.guarantee, FITTED, LISTS)
SVG = "{http://www.w3.org/2000/svg}"


def parsed(value):
    return ElementTree.fromstring(value._repr_html_())


def lines(value):
    """The name of each line of the table, and what stands beside it."""
    rows = parsed(value).iterfind(".//tbody/tr")
    return {row[0].text: row[1].text for row in rows}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", [*SHOWN, FOUND], ids=lambda value: type(value).__name__)
def test_it_is_well_formed_small_and_of_names_that_are_no_markup(value):
    assert len(value._repr_html_()) < (30_000 if value is FOUND else 3_000)
    assert not {element.tag for element in parsed(value).iter()} & {"script"}
    assert not re.search(r"#0{3}|#f{3}|black|white", value._repr_html_(), re.IGNORECASE)


def test_a_name_is_shown_as_it_is():
    assert parsed(RATINGS).findtext(".//caption") == f"Ratings {ODD}"
    assert parsed(REPORTS).findtext(".//caption") == f"Reports {ODD}"
    assert parsed(FITTED).findtext(".//caption") == f"Fitted {ODD}"
    assert parsed(FOUND).findtext(".//caption").startswith(f"{ODD}: RMSE")


def test_each_figure_is_the_values_own():
    counts = {"users": str(RATINGS.n_users), "items": str(RATINGS.n_items)}
    assert lines(RATINGS) == {"ratings": "900", **counts, "scale": "1:5:1", "times": "none"}
    assert lines(MADE)["times"] == "known"
    sentence = REPORTS.guarantee.sentence
    of_reports = {"plan": "rated", "channels": CHANNEL.id[:12], "guarantee": sentence}
    assert lines(REPORTS) == {"reports": "900", **counts, **of_reports}
    of_model = {"factors": "0", "draws": "1", "scale": "1:5:1"}
    of_model["guarantee"] = FITTED.guarantee.sentence
    assert lines(FITTED) == {**counts, **of_model}
    of_lists = {"users": str(len(LISTS.user_ids)), "items": str(len(LISTS.item_ids))}
    assert lines(LISTS) == {**of_lists, "guarantee": LISTS.guarantee.sentence}
    named = {"symbols": "2", "id": ASKED.id[:12]}
    assert lines(ASKED) == {"inputs": "1 level and missing", "epsilon": "2 per slot", **named}


def test_a_guarantee_shows_each_part_it_has_and_no_other():
    whole = replace(REPORTS.guarantee, delta="1e-6", uncovered=("the catalogue",), fails="no noise")
    assert lines(whole) == {
        "epsilon": "0.5 per value",
        "delta": "1e-6",
        "trusting": "nobody",
        "released": whole.released,
        "protects": "the value of one rating; which items a user rated is public",
        "public": ", ".join(whole.public),
        "not covered": "the catalogue",
        "does not hold": "no noise",
    } | ({"assumes": ", ".join(whole.assumptions)} if whole.assumptions else {})
    assert "delta" not in lines(REPORTS.guarantee)
    assert lines(fit("bias", MADE).guarantee)["epsilon"] == "none"


def test_the_picture_of_a_channel_is_its_table():
    squares = parsed(CHANNEL).findall(f".//{SVG}rect")
    shares = [share for row in CHANNEL.likelihood for share in row]
    assert [square.get("opacity") for square in squares] == [
        f"{s / max(shares):.3g}" for s in shares
    ]
    corners = [(int(square.get("y")), int(square.get("x"))) for square in squares]
    assert corners == sorted(corners)
    assert len(set(corners)) == len(shares)


def test_a_large_table_is_a_small_picture_of_means():
    rows, columns = 3 * MOST_ROWS - 1, 2 * MOST_COLUMNS
    table = [[1.0 if x < 2 and y < 3 else 0.5 for x in range(columns)] for y in range(rows)]
    squares = ElementTree.fromstring(heat(table, ODD)).findall(f"{SVG}rect")
    assert len(squares) == MOST_ROWS * MOST_COLUMNS
    assert [square.get("opacity") for square in squares] == ["1", *["0.5"] * (len(squares) - 1)]


def test_a_comparison_has_every_figure_of_its_frame():
    rows = FOUND.frame.filter(pl.col("rmse").is_not_nan())
    free = rows.filter(channel="identity")
    (noisy,) = parsed(FOUND).iterfind(".//tbody")
    cells = [tuple(cell.text for cell in row) for row in noisy]
    for channel, model, where, private, bare in cells:
        mine = rows.filter(model=model, where=where, channel=channel)
        assert private == f"{mine['rmse'].mean():.3f}"
        assert bare == f"{free.filter(model=model, where=where)['rmse'].mean():.3f}"
    assert {cell[2] for cell in cells} == {"provider", "device"}
    assert "epsilon per value" in parsed(FOUND).findtext(".//caption")
    assert len(parsed(FOUND).findall(f".//{SVG}svg")) == 1


def test_a_comparison_without_a_channel_and_one_of_lists_are_shown_too():
    for found in (compare(MADE, models="bias", channels="identity"), compare(SLOTS, epsilons=1)):
        assert parsed(found).find(f".//{SVG}svg") is not None


def test_what_holds_markup_is_text():
    text = card(ODD, [(ODD, ODD)], heading=(ODD, ODD))
    assert "<script" not in text
    assert [cell.text for cell in ElementTree.fromstring(text).iter() if cell.text] == [ODD] * 5
