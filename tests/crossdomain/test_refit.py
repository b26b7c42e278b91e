"""Refits of maps: the digits of a fit from scratch for less work, and the sum of private ones."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.neighbours import Adjusted
from tacit.crossdomain.x_map.fitting import fit_map
from tacit.crossdomain.x_map.item_map import ItemMap
from tacit.crossdomain.x_map.refit import Memory
from tacit.crossdomain.x_map.refit_file import Release, debit, read_memory, write_memory
from tacit.crossdomain.x_map.released import load_map
from tacit.crossdomain.x_map.x_map import XMap
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.privacy.guarantee import PARTS
from tacit.readers import from_frame, synthetic
from tacit.training.continual.state_file import locked

ARRAYS = ("replacement", "neighbours", "similarities", "means")


def frames(seed=0, linked=40, n_items=50, n_ratings=1700):
    """Books by users 1 to 80, and films, `linked` of whose users are the last of these."""
    books, films = (
        synthetic(80, n_items + 10 * n, n_ratings, rng=seed + 100 * n).to_polars() for n in (0, 1)
    )
    films = films.with_columns(pl.col("user") + 80 - linked)
    return [frame.select("user", "item", "rating") for frame in (books, films)]


def joined(books, films):
    parts = [from_frame(f, scale="1:5:1", name=n) for f, n in ((books, "books"), (films, "films"))]
    return Domains.join(parts)


def with_rows(frame, user, items, chance):
    """The frame with ratings of some items by a user."""
    rows = {"user": [user] * len(items), "item": items, "rating": chance.integers(1, 6, len(items))}
    kept = frame.filter((pl.col("user") != user) | ~pl.col("item").is_in(items))
    return pl.concat([kept, pl.DataFrame(rows).cast(frame.schema)])


def assert_same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def changed(frames, kind, chance):
    """Two frames, with a change of some kind."""
    books, films = frames
    if kind == "new user":
        items = chance.choice(50, 4, replace=False)
        return with_rows(books, int(chance.integers(1000, 2000)), items, chance), films
    if kind == "new rating":
        return books, with_rows(films, int(chance.integers(60, 100)), [3], chance)
    if kind == "new item":
        item = int(chance.integers(70, 80))
        return books, with_rows(films, int(chance.integers(60, 100)), [item], chance)
    if kind == "item is gone":
        return books, films.filter(pl.col("item") != int(chance.integers(1, 60)))
    if kind == "user is gone":
        return books.filter(pl.col("user") != int(chance.integers(1, 80))), films
    return books.sample(fraction=1, shuffle=True, seed=1), films


KINDS = ("new user", "new rating", "new item", "item is gone", "user is gone", "another order")


@settings(max_examples=10)
@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.sampled_from([1, 4, 9, 30]),
    st.sampled_from([3, 15, 60]),
    st.sampled_from([0, 20]),
    st.sampled_from(["tested", "everybody"]),
    st.booleans(),
)
def test_a_refit_has_the_digits_of_a_fit_from_scratch(
    seed, kinds, k, linked, damping, alteregos, stages
):
    chance = np.random.default_rng(seed)
    system = XMap(k=k, damping=damping, alteregos=alteregos, stages=stages)
    both = frames(seed % 7, linked)
    _, memory = ItemMap.refit(system, joined(*both), Memory.empty(), engine=Local())
    for kind in kinds:
        both = changed(both, kind, chance)
        domains = joined(*both)
        fitted, memory = ItemMap.refit(system, domains, memory, engine=Local())
        assert_same(fitted, ItemMap.fit(system, domains, engine=Local()))


def test_a_refit_compares_few_items(monkeypatch):
    """New users rate 2 % of the items: at most a tenth of the pairs is compared."""
    pairs = []

    def counting(method):
        def counted(self, rows, columns, *more):
            pairs.append(len(rows) * len(columns))
            return method(self, rows, columns, *more)

        return counted

    for name in ("nearest", "between"):
        monkeypatch.setattr(Adjusted, name, counting(getattr(Adjusted, name)))

    def work():
        total = sum(pairs)
        pairs.clear()
        return total

    chance = np.random.default_rng(0)
    books, films = frames(n_items=300, n_ratings=6000)
    system = XMap(k=20)
    _, memory = ItemMap.refit(system, joined(books, films), Memory.empty(), engine=Local())
    work()
    for user in (1000, 1001):
        books = with_rows(books, user, list(range(1, 7)), chance)
        films = with_rows(films, user, list(range(1, 7)), chance)
    domains = joined(books, films)
    fitted, _ = ItemMap.refit(system, domains, memory, engine=Local())
    few = work()
    assert_same(fitted, ItemMap.fit(system, domains, engine=Local()))
    assert 0 < few < work() / 10


def test_a_memory_is_kept_in_a_folder(tmp_path):
    chance, both = np.random.default_rng(1), frames()
    for _ in range(3):
        domains = joined(*both)
        fitted = fit_map("nx-map", domains, state=str(tmp_path / "state"), k=7)
        assert_same(fitted, fit_map("nx-map", domains, k=7))
        both = changed(both, "new user", chance)
    system = XMap(k=7)
    memory = read_memory(tmp_path / "state", system)
    assert len(memory.stages["items"].passes) > 2
    write_memory(tmp_path / "again", memory, system)
    written = [(tmp_path / name / "nx-map.npz").read_bytes() for name in ("state", "again")]
    assert written[0] == written[1]


def test_a_memory_of_other_settings_or_a_damaged_one_is_refused(tmp_path):
    domains = joined(*frames())
    fit_map("nx-map", domains, state=tmp_path, k=7)
    for more in ({"k": 8}, {"k": 7, "damping": 5}):
        with pytest.raises(RequestError, match="of a fit with other settings"):
            fit_map("nx-map", domains, state=tmp_path, **more)
    path = tmp_path / "nx-map.npz"
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for name, value in (
        ("items/0/code", 10**6), ("items/0/code", -2), ("items/0/rows", -1), ("target/0/s", np.nan)
    ):  # fmt: skip
        odd = arrays[name].copy()
        odd.flat[0] = value
        with path.open("wb") as file:
            np.savez(file, **arrays | {name: odd})
        with pytest.raises(RequestError, match="is damaged; delete it"):
            fit_map("nx-map", domains, state=tmp_path, k=7)
    path.write_bytes(b"")
    with pytest.raises(RequestError, match="is damaged; delete it"):
        fit_map("nx-map", domains, state=tmp_path, k=7)


@pytest.mark.parametrize("system", [XMap(mode="faithful"), XMap(variant="user")])
def test_a_memory_is_of_item_based_systems_without_privacy(domains, system, trial):
    with pytest.raises(RequestError, match="cannot be refitted"):
        system.fit(trial, engine=Local(), epsilon="1", memory=Memory.empty())


def test_private_refits_add_up(domains, tmp_path):
    for count in (1, 2, 3):
        fitted = fit_map("x-map-strict", domains, epsilon="8", delta="1e-7", state=tmp_path)
        assert float(fitted.guarantee.epsilon) == 8 * count
        assert float(fitted.guarantee.delta) == pytest.approx(count * 1e-7)
        fitted.save(tmp_path / "map")
        assert load_map(tmp_path / "map").guarantee == fitted.guarantee
    assert fitted.guarantee.released.startswith("3 maps, the last with ")
    other = fit_map("x-map-factors", domains, epsilon="0.5", state=tmp_path)
    assert other.guarantee.epsilon == "24.5"
    alone = fit_map("x-map-factors", domains, epsilon="0.5", state=tmp_path / "other")
    assert alone.guarantee == fit_map("x-map-factors", domains, epsilon="0.5").guarantee


def test_a_claim_that_fails_spoils_the_sum(domains, tmp_path):
    faithful = fit_map("x-map", domains, epsilon="1", neighbour_epsilon="2", state=tmp_path)
    assert faithful.guarantee.epsilon == "3"
    strict = fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)
    assert (strict.guarantee.epsilon, "claim of x-map" in strict.guarantee.fails) == ("11", True)


def test_a_release_is_recorded_before_it_is_made(domains, tmp_path):
    class Interrupted:
        """Releases that are interrupted."""

        def __getattr__(self, name):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_map("x-map-strict", domains, epsilon="8", state=tmp_path, releases=Interrupted())
    assert [one["epsilon"] for one in json.loads((tmp_path / "releases.json").read_text())] == ["8"]


@pytest.mark.parametrize(
    "content", ["", "[", "{}", '[{"model": "x-map-strict", "epsilon": "8"}]',
                '[{"model": "x-map-strict", "epsilon": "-8", "delta": "0"}]',
                '[{"model": "x-map-strict", "epsilon": "8", "delta": "1"}]',
                '[{"model": "x-map-strict", "epsilon": "8", "delta": "0", "uncovered": [1],'
                ' "assumptions": []}]'],
)  # fmt: skip
def test_a_damaged_record_of_releases_stops_the_next_one(domains, tmp_path, content):
    (tmp_path / "releases.json").write_text(content)
    with pytest.raises(RequestError, match="the epsilon spent is unknown"):
        fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)
    assert (tmp_path / "releases.json").read_text() == content


@pytest.mark.parametrize("model", ["x-map-strict", "x-map"])
@pytest.mark.parametrize("epsilon", ["abc", "-1", "0", "1e400", "nan"])
def test_an_epsilon_that_is_refused_is_not_recorded(domains, tmp_path, model, epsilon):
    with pytest.raises(RequestError, match="psilon must be a"):
        fit_map(model, domains, epsilon=epsilon, state=tmp_path)
    assert not (tmp_path / "releases.json").exists()


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        ("x-map-strict", {"delta": "2"}, "delta must be between 0 and 1"),
        ("x-map-strict", {"delta": "x"}, "delta must be between 0 and 1"),
        ("x-map", {"epsilon": "200"}, "epsilon of replacements must be"),
        ("x-map", {"neighbour_epsilon": "abc"}, "epsilon must be a positive"),
    ],
)
def test_other_requests_that_are_refused_are_not_recorded(
    domains, tmp_path, model, changes, message
):
    fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)
    before = (tmp_path / "releases.json").read_bytes()
    with pytest.raises(RequestError, match=message):
        fit_map(model, domains, **{"epsilon": "8", "state": tmp_path} | changes)
    assert (tmp_path / "releases.json").read_bytes() == before


@pytest.mark.parametrize(("epsilon", "delta"), [("-1", "0"), ("8", "2"), ("8", "x")])
def test_a_record_that_could_not_be_read_again_is_not_written(tmp_path, epsilon, delta):
    (tmp_path / "map").mkdir()
    with pytest.raises(RequestError, match="cannot record this release"):
        debit(tmp_path / "map", Release("x-map-strict", epsilon, delta))
    assert len(debit(tmp_path / "map", Release("x-map-strict", "8", "1e-6"))) == 1


def test_implicit_feedback_is_refused_before_it_is_recorded(tmp_path):
    books, films = (
        from_frame(frame.select("user", "item"), scale="there", name=name)
        for frame, name in zip(frames(), ("books", "films"), strict=True)
    )
    for model in ("x-map-strict", "x-map"):
        with pytest.raises(RequestError, match="across domains"):
            fit_map(model, Domains.join([books, films]), epsilon="8", state=tmp_path)
    assert not (tmp_path / "releases.json").exists()


def declared(books, films, people):
    """Both domains, with declared users and catalogues."""
    parts = [
        from_frame(f, scale="1:5:1", name=n, catalogue=range(1, 80), people=people)
        for f, n in ((books, "books"), (films, "films"))
    ]
    return Domains.join(parts)


def test_the_sum_leaves_out_what_an_earlier_map_left_out(domains, tmp_path):
    books, films = frames()
    people = sorted({*books["user"], *films["user"]})
    first = fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)
    assert "the catalogue" in first.guarantee.uncovered
    complete = declared(books, films, people)
    alone = fit_map("x-map-strict", complete, epsilon="8").guarantee
    assert "the catalogue" not in alone.uncovered
    second = fit_map("x-map-strict", complete, epsilon="8", state=tmp_path)
    assert second.guarantee.uncovered == first.guarantee.uncovered


def test_a_record_without_parts_leaves_out_all_of_them(domains, tmp_path):
    record = [{"model": "x-map-strict", "epsilon": "8", "delta": "1e-6"}]
    (tmp_path / "releases.json").write_text(json.dumps(record))
    fitted = fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)
    assert set(fitted.guarantee.uncovered) == set(PARTS.values())


def test_two_releases_of_one_folder_at_once_are_refused(domains, tmp_path):
    with locked(tmp_path), pytest.raises(RequestError, match="Another process"):
        fit_map("x-map-strict", domains, epsilon="8", state=tmp_path)


def test_a_strict_map_does_not_reveal_whether_anybody_links_the_domains():
    """A user who alone rates both domains, neighbours without them, and a domain nobody rated."""
    books, films = frames(linked=0)
    people = sorted({*books["user"], *films["user"], 999})
    linking = pl.DataFrame({"user": [999], "item": [1], "rating": [4]})
    both = [pl.concat([f, linking.cast(dict(f.schema))]) for f in (books, films)]
    for known in (
        declared(*both, people),
        declared(books, films, people),
        declared(books, films.filter(pl.col("user") < 0), people),
    ):
        fitted = fit_map("x-map-strict", known, epsilon="1")
        assert fitted.guarantee.epsilon == "1"
    with pytest.raises(RequestError, match="not linked"):
        fit_map("nx-map", declared(books, films, people))


def test_memory_without_privacy_is_private(domains, tmp_path):
    folder = tmp_path / "state"
    fit_map("nx-map", domains, state=folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "nx-map.npz").stat().st_mode & 0o777 == 0o600
