"""Functions that take another table: rows and vocabularies in any order give the same answer.

Every public function is searched for parameters that take a table, so that a new one is tested or
named here with the reason why it is not.
"""

import inspect
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import (
    Catalogue,
    RequestError,
    as_ratings,
    compile_channel,
    evaluate,
    fit,
    fold_in,
    from_frame,
    perturb,
    synthetic,
)
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.x_map.fitting import fit_map
from tacit.crossdomain.x_map.item_map import ItemMap
from tacit.crossdomain.x_map.released import FactorMap
from tacit.engines.engine import Local
from tacit.models import FittedLists, device_predict, exposure_of
from tacit.models.simulated_devices import device_lists
from tacit.vocabulary import Vocabulary

TRAIN = synthetic(60, 50, 1200)
FRAME = TRAIN.to_polars()
TEST = TRAIN.where(np.arange(len(TRAIN)) % 5 == 0)
PARTS = [
    from_frame(
        frame.with_columns(pl.format(name[0] + "{}", "item").alias("item")),
        scale="1:5:1",
        name=name,
    )
    for name, frame in (("books", FRAME), ("films", FRAME.with_columns(item=pl.col("item") + 7)))
]
PROFILE = PARTS[0].where(PARTS[0].users == 3)
CODES = np.arange(40, dtype=np.int32)
USERS, ITEMS = TRAIN.user_ids.ids.to_list(), TRAIN.item_ids.ids.to_list()
FEATURES = pl.DataFrame({"item": ITEMS, "genre": [f"g{item % 3}" for item in ITEMS]})
TITLES = pl.DataFrame({"item": ITEMS, "title": [f"Film {item}" for item in ITEMS]})


@cache
def stars():
    return fit("bias", TRAIN, exposure=False)


@cache
def with_exposure():
    return fit("mf", TRAIN, factors=3)


@cache
def lists():
    return fit("ease", TRAIN)


@cache
def reports():
    channel = compile_channel("optimal", epsilon="3", scale="1:5:1", missing=True)
    return perturb(TRAIN, Catalogue(channel), simulate_seed=1)


@cache
def released(name, epsilon=None):
    return fit_map(name, Domains.join(PARTS), epsilon=epsilon)


def permuted(table, seed=3):
    """The same table in another order; of ratings the vocabularies, too."""
    if isinstance(table, pl.DataFrame):
        return table.sample(fraction=1, shuffle=True, seed=seed)
    chance = np.random.default_rng(seed)
    users, items = (
        Vocabulary(ids.ids.gather(chance.permutation(len(ids))))
        for ids in (table.user_ids, table.item_ids)
    )
    return table.aligned(users, items).take(chance.permutation(len(table)))


def extended(table):
    """The same table with rows of ids that nobody knows."""
    unknown = [1_000 + number for number in range(10)]
    if isinstance(table, pl.DataFrame):
        other = {name: [str(number) for number in unknown] for name in table.columns}
        more = pl.DataFrame(other | {"item": unknown}).select(table.columns)
        return pl.concat([more, table])
    known = table.to_polars().select("user", "item", "rating")
    more = pl.DataFrame({"user": unknown, "item": unknown, "rating": [3.0] * 10})
    return from_frame(pl.concat([more.cast(known.schema), known]), scale="1:5:1")


def predicted(fitted):
    return fitted.predict(*FRAME.select("user", "item"))


def listed(codes):
    return [[ITEMS[code] for code in row] for row in codes.tolist()]


def rated(ratings):
    return set(ratings.to_polars().select("user", "item", "rating").iter_rows())


def with_item_table(table):
    return predicted(
        fit("channel-mf", reports(), item_table=table, exposure=False, burn_in=9, draws=2)
    )


CASES = {
    "fold_in ratings": (lambda table: predicted(fold_in(stars(), table)), TRAIN),
    "evaluate train": (lambda table: evaluate(with_exposure(), table, TEST), TRAIN),
    "evaluate test": (lambda table: evaluate(with_exposure(), TRAIN, table), TEST),
    "device_predict own": (
        lambda table: device_predict(stars(), table, CODES, CODES),
        TRAIN,
    ),
    "device_lists own": (
        lambda table: listed(device_lists(with_exposure(), table, CODES, 8, Local())),
        TRAIN,
    ),
    "FittedLists.lists own": (lambda table: listed(lists().lists(table, 8)), TRAIN),
    "FittedLists.on_devices own": (
        lambda table: lists().on_devices(table).recommend(USERS, 5).rows(),
        TRAIN,
    ),
    "FittedLists.own_items own": (lambda table: lists().own_items(table).other.tolist(), TRAIN),
    "Fitted.recommend titles": (
        lambda table: with_exposure().recommend(USERS, 5, titles=table).rows(),
        TITLES,
    ),
    "FittedLists.recommend titles": (
        lambda table: lists().recommend(USERS, 5, titles=table).rows(),
        TITLES,
    ),
    "as_ratings catalogue": (
        lambda table: rated(as_ratings(FRAME, scale="1:5:1", catalogue=table["item"])),
        FEATURES,
    ),
    "fit item_table": (with_item_table, FEATURES),
    "ItemMap.predict profile": (lambda table: released("nx-map").predict(table), PROFILE),
    "ItemMap.recommend profile": (lambda table: released("nx-map").recommend(table, 5), PROFILE),
    "FactorMap.predict profile": (
        lambda table: released("x-map-strict", "60").predict(table),
        PROFILE,
    ),
    "FactorMap.recommend profile": (
        lambda table: released("x-map-strict", "60").recommend(table, 5),
        PROFILE,
    ),
}
ALONE = {
    "as_ratings people": "as the catalogue",
    "compare items": "given to `fit` as item_table",
    "fit data": "the only table",
    "from_frame catalogue": "read by `as_ratings`",
    "from_frame people": "read by `as_ratings`",
    "read catalogue": "read by `as_ratings`",
    "read people": "read by `as_ratings`",
    "ItemMap.indices profile": "what predict and recommend use",
    "FactorMap.indices profile": "what predict and recommend use",
    "Fitted.with_exposure exposure": "refused unless of the same users and items",
}
"""Parameters without a case, and why."""
PUBLIC = (device_lists, device_predict, FittedLists, ItemMap, FactorMap)
"""Where a user meets functions beside those of `tacit`."""


TABLES = ("tacit.ratings.Ratings", "DataFrame", "FittedLists")


def is_ours(function):
    return (getattr(function, "__module__", "") or "").startswith("tacit")


def callables():
    """Every public function and method, by name."""
    for each in (*(getattr(tacit, name) for name in dir(tacit)), *PUBLIC):
        if inspect.isfunction(each):
            yield each.__name__, each
        elif inspect.isclass(each):
            members = inspect.getmembers(each, inspect.isroutine)
            yield from (
                (f"{each.__name__}.{name}", method)
                for name, method in members
                if not name.startswith("_")
                and getattr(method, "__module__", "").startswith("tacit")
            )


def table_parameters():
    for name, function in callables():
        for parameter in inspect.signature(function).parameters.values():
            kind = str(parameter.annotation)
            by_kind = any(
                word in kind for word in ("tacit.ratings.Ratings", "DataFrame", "FittedLists")
            )
            by_name = parameter.name in ("titles", "item_table", "catalogue", "people")
            if (by_kind or by_name) and "ndarray" not in kind and parameter.name != "fitted":
                yield f"{name} {parameter.name}"


def test_every_parameter_that_takes_a_table_has_a_case():
    found = set(table_parameters())
    assert len(found) > 15
    assert found - set(CASES) == set(ALONE) & found
    assert set(ALONE) <= found | {"fit data"}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("changed", [permuted, extended])
@pytest.mark.parametrize("name", CASES)
def test_order_and_unknown_ids_change_nothing(name, changed):
    call, table = CASES[name]
    answer, again = call(table), call(changed(table))
    if isinstance(answer, dict):
        assert again == pytest.approx(answer, nan_ok=True, rel=1e-6)
    elif isinstance(answer, np.ndarray):
        np.testing.assert_allclose(again, answer, rtol=1e-6)
    else:
        assert again == answer


@pytest.mark.parametrize("name", [name for name, (_, table) in CASES.items() if table is TRAIN])
def test_a_table_of_others_is_refused(name):
    shifted = FRAME.with_columns(pl.col("user", "item") + 10_000)
    with pytest.raises(RequestError, match="has no user and no item in common"):
        CASES[name][0](from_frame(shifted, scale="1:5:1"))


def test_an_exposure_of_other_items_is_refused():
    for others in (TRAIN.with_catalogue(ITEMS[1:]), permuted(TRAIN)):
        with pytest.raises(RequestError, match="exposure must be of the users and items"):
            stars().with_exposure(exposure_of(others))


def test_titles_match_by_spelling():
    table = pl.DataFrame({"item": [f"0{ITEMS[0]}", str(ITEMS[1])], "title": ["wrong", "right"]})
    shown = with_exposure().recommend(USERS, 50, titles=table)
    assert set(shown["title"].drop_nulls()) == {"right"}


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series], ids=str)
def test_a_catalogue_is_any_column_of_ids(kind):
    declared = as_ratings(FRAME, scale="1:5:1", catalogue=kind(ITEMS[:9]), people=kind(USERS[:9]))
    assert declared.item_ids.ids.to_list() == ITEMS[:9]
    assert declared.user_ids.ids.to_list() == USERS[:9]
    with pytest.raises(RequestError, match="already a Ratings object"):
        as_ratings(declared, catalogue=kind(ITEMS))
