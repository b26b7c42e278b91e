"""Counts of interactions: added by (user, item) pair, at most N, and stated in the guarantee."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, save_npz

from tacit import Rated, as_ratings, compile_channel, fit, from_frame, perturb, read
from tacit.collection.report_file import read_reports, write_reports
from tacit.errors import DataError, RequestError

ROWS = [("ann", "a", 2), ("bob", "a", 1), ("ann", "a", 3), ("ann", "b", 1), ("bob", "b", 900)]
SUMS = {("ann", "a"): 4, ("ann", "b"): 1, ("bob", "a"): 1, ("bob", "b"): 4}
CAP = "counts above 4 are recorded as 4"


def frame(rows=ROWS, name="plays"):
    return pl.DataFrame(rows, schema=["user", "item", name], orient="row")


def counts(ratings):
    rows = ratings.to_polars().rows()
    assert len(rows) == len({row[:2] for row in rows})
    return {row[:2]: int(row[2]) for row in rows}


@pytest.mark.parametrize("name", ["plays", "rating"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_counts_of_a_pair_are_added_up_to_the_highest(tmp_path, kind, name):
    path = tmp_path / f"made.{'jsonl' if kind == 'ndjson' else kind}"
    if kind == "ndjson" and name == "plays":
        name = "rating"  # JSON lines have fields of known sites
    getattr(frame(name=name), f"write_{kind}")(path)
    notices = []
    ratings = read(path, scale="counts:4", notify=notices.append)
    assert str(ratings.scale) == "1:4:1"
    assert counts(ratings) == SUMS
    assert notices == [f"{path}: 2 of 4 counts above 4 are recorded as 4."]


def test_a_row_without_a_count_is_one_interaction(tmp_path):
    path = tmp_path / "made.csv"
    frame().drop("plays").write_csv(path)
    assert counts(read(path, scale="counts:4")) == {
        pair: min(n, 4) for pair, n in Counter(row[:2] for row in ROWS).items()
    }
    bare = tmp_path / "bare.csv"
    frame().drop("plays").write_csv(bare, include_header=False)
    assert counts(read(bare, scale="counts:4", columns=(1, 2))) == counts(
        read(path, scale="counts:4")
    )


def test_sparse_matrices_hold_counts(tmp_path):
    matrix = csr_array(np.array([[4, 0, 1], [0, 70, 2]]))
    save_npz(tmp_path / "made.npz", matrix)
    expected = {(0, 0): 4, (0, 2): 1, (1, 1): 5, (1, 2): 2}
    assert counts(as_ratings(matrix, scale="counts:5")) == expected
    assert counts(read(tmp_path / "made.npz", scale="counts:5")) == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)), min_size=1),
    st.integers(2, 300),
)
@settings(max_examples=60, deadline=None)
def test_equals_a_naive_twin(rows, most):
    sums: Counter[tuple[int, int]] = Counter()
    for user, item, n in rows:
        sums[user, item] += n
    ratings = from_frame(frame(rows), scale=f"counts:{most}")
    assert counts(ratings) == {pair: min(n, most) for pair, n in sums.items()}
    ratings.require_distinct_pairs()


def test_the_highest_levels_do_not_overflow():
    for most in (256, 257, 65_536):
        rows = [("ann", "a", most), ("ann", "b", 70_000), ("ann", "c", 1)]
        assert counts(from_frame(frame(rows), scale=f"counts:{most}")) == {
            ("ann", "a"): most, ("ann", "b"): most, ("ann", "c"): 1,
        }  # fmt: skip


def test_the_latest_row_has_the_time():
    rows = frame().with_columns(timestamp=pl.Series([9, 1, 5, 2, 3]))
    ratings = from_frame(rows, scale="counts:4", columns={"rating": "plays"})
    times = dict(zip(counts(ratings), ratings.times.tolist(), strict=True))
    assert times["ann", "a"] == 9


def test_a_pair_of_both_parts_of_a_split_is_refused():
    rows = frame().with_columns(test=pl.Series([False, False, True, True, False]))
    with pytest.raises(DataError, match="rows in both parts of the split"):
        from_frame(rows, scale="counts:4", columns={"rating": "plays"}, held_out="test")
    apart = rows.filter(pl.Series([False, True, True, True, True]))
    split = from_frame(apart, scale="counts:4", columns={"rating": "plays"}, held_out="test")
    assert split.held_out.tolist() == [False, True, True, False]


def test_wrong_counts_are_refused():
    halves = frame([("ann", "a", 1.5), ("bob", "a", 2.0)])
    with pytest.raises(DataError, match=r"row 1: count '1.5' is not an integer; round the counts"):
        from_frame(halves, scale="counts:4")
    none = frame([("ann", "a", 0), ("bob", "a", 2)])
    with pytest.raises(DataError, match="1 of 2 weights are 0 or below"):
        from_frame(none, scale="counts:4")
    assert counts(from_frame(none, scale="counts:4", positive_only=True)) == {("bob", "a"): 2}
    for scale in ("counts", "counts:1", "counts:x", "counts:-4", "counts:65537", "counts:4:1"):
        with pytest.raises(RequestError, match="scale must be counts:N with N from 2 to 65,536"):
            from_frame(frame(), scale=scale)
    with pytest.raises(RequestError, match="Counts are not rounded"):
        from_frame(frame(), scale="counts:4", rounding="nearest")


def test_guarantees_state_the_highest_count(tmp_path):
    ratings = from_frame(frame(), scale="counts:4")
    plan = Rated(compile_channel("optimal", epsilon="1", scale=ratings.scale))
    reports = perturb(ratings, plan)
    assert CAP in reports.guarantee.assumptions
    write_reports(reports, tmp_path / "reports.parquet")
    assert CAP in read_reports(tmp_path / "reports.parquet").guarantee.assumptions
    rows = [(*pair, n) for pair, n in SUMS.items()]
    plain = from_frame(frame(rows), scale="1:4:1", columns={"rating": "plays"})
    assert CAP not in perturb(plain, plan).guarantee.assumptions
    everything = {"catalogue": ["a", "b"], "people": ["ann", "bob"]}
    for rows in (frame(), frame().clear()):  # with and without the ratings of all users
        fitted = fit("dp-popularity", from_frame(rows, scale="counts:4", **everything), epsilon=4)
        assert CAP in fitted.guarantee.assumptions


def test_many_rows_of_a_pair_move_one_level():
    """A user's contribution per item is bounded by the scale, whatever their number of rows."""
    often = frame([*ROWS, *[("ann", "b", 1_000_000)] * 50])
    assert counts(from_frame(often, scale="counts:4")) == SUMS | {("ann", "b"): 4}


def test_models_rank_by_expected_count():
    """Two items of the same presence: the one that its users play more often ranks first."""
    rng = np.random.default_rng(1)
    known = [(u, i, 1) for u in range(200) for i in range(8) if rng.random() < 0.5]
    rows = [(user, item, 9 if item == 3 else n) for user, item, n in known]
    fitted = fit("bias", from_frame(frame(rows), scale="counts:5"))
    best = fitted.predict([0] * 8, list(range(8)))
    assert best[3] - np.delete(best, 3).max() > 2
