"""Released maps: the digits of the systems that they were fitted with, and files read with care."""

import io
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import Fitted, fit, item_model, load, synthetic
from tacit.crossdomain import EVERYBODY, StrictMap, XMap
from tacit.crossdomain.trial import Trial
from tacit.crossdomain.x_map.fitting import fit_map
from tacit.crossdomain.x_map.item_map import ItemMap, everything
from tacit.crossdomain.x_map.released import FactorMap, is_map, load_map
from tacit.crossdomain.x_map.replacement import Draws
from tacit.crossdomain.x_map.strict import medians
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.models import device_predict
from tacit.readers import from_frame
from tacit.training import DPCovariance
from tacit.training.mechanism.noisy_releases import IntegerNoise, SecretReleases
from tacit.wire.item_model import MAGICS, ItemModel

FORMS = {"x-map-strict": "60", "x-map": "1.1", "nx-map": None}


def of(domains, person):
    """The ratings of one user."""
    return domains.ratings.where(domains.ratings.users == person)


def seeded():
    return SecretReleases(IntegerNoise(RepeatableWordsForTestsOnly(3)))


@pytest.fixture(scope="module")
def forms(domains):
    """One released map of each form."""
    return {name: fit_map(name, domains, epsilon=epsilon) for name, epsilon in FORMS.items()}


def test_predictions_of_everybody_are_those_of_the_system(domains):
    """The user's own AlterEgo is part of the fit in both."""
    fitted = ItemMap.fit(EVERYBODY, domains, engine=Local())
    items = np.arange(domains.bounds[1], domains.bounds[2], dtype=np.int32)
    for person in domains.straddlers(1)[:10]:
        who = np.array([person], np.int32)
        trial = Trial(domains, 1, who, np.repeat(who, len(items)), items)
        predicted = EVERYBODY.predict(trial, engine=Local(), epsilon=None).predicted
        expected = np.clip(predicted.values, 1, 5)
        assert np.array_equal(fitted.predict(of(domains, person)), expected)


def printed(fitted, ratings):
    """Predictions by the paper's formulas, one rating at a time."""
    first, alterego, several = fitted.first, {}, {}
    for item, level in zip(ratings.items.tolist(), ratings.levels.tolist(), strict=True):
        if item >= first:
            alterego[item] = float(level)
        elif fitted.replacement[item] >= 0:
            several.setdefault(int(fitted.replacement[item]), []).append(level)
    for item, levels in several.items():
        mean = (2 * 256 * sum(levels) + len(levels)) // (2 * len(levels)) / 256
        alterego.setdefault(item, mean)
    values = []
    for row, mean in enumerate(fitted.means):
        top, bottom = 0.0, 0.0
        for j, s in zip(fitted.neighbours[row], fitted.similarities[row], strict=True):
            if j in alterego:
                top += s * (alterego[j] - fitted.means[j - first])
                bottom += abs(s)
        values.append(1 + mean + (top / bottom if bottom else 0))
    return np.clip(values, 1, 5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["none", "faithful"])
def test_predictions_are_the_papers_from_what_the_map_contains(domains, mode):
    system = XMap(mode=mode, k=7, draws=Draws(bytes(32)))
    fitted = ItemMap.fit(
        system, domains, engine=Local(), epsilon="3" if mode == "faithful" else None
    )
    assert fitted.neighbours.shape == (len(fitted.means), 7)
    for person in range(0, domains.ratings.n_users, 7):
        mine = of(domains, person)
        assert fitted.predict(mine) == pytest.approx(printed(fitted, mine), abs=1e-12)


def test_a_strict_map_predicts_the_medians_of_the_released_factors(domains):
    trial, system = everything(domains), StrictMap(training=DPCovariance(factors=2))
    fitted, cuts = system.release(trial, "60", seeded())
    released = fit_map("x-map-strict", domains, epsilon="60", releases=seeded(), factors=2)
    items = np.arange(domains.bounds[1], domains.bounds[2], dtype=np.int32)
    differing = 0
    for person in range(0, domains.ratings.n_users, 5):
        users = np.full(len(items), person, np.int32)
        scores = device_predict(fitted, domains.ratings, users, items)
        bulk = medians(scores.astype(np.float64), cuts, fitted.levels)
        near = np.abs(scores[:, None] - cuts).min(1) < 1e-5  # single precision may decide there
        differing += np.count_nonzero((released.predict(of(domains, person)) != bulk) & ~near)
    assert differing == 0
    assert str(released.guarantee) == str(fitted.guarantee)


def test_lists_contain_unrated_target_items_by_falling_rating(domains, forms):
    for fitted in forms.values():
        for person in domains.straddlers(1)[:5]:
            mine = of(domains, person)
            best = fitted.recommend(mine, 100)
            names = {name for name, _ in best}
            rated = set(mine.item_ids.take(mine.items).to_list())
            everything_else = set(domains.ratings.item_ids.ids[domains.bounds[1] :]) - rated
            assert names == everything_else
            ratings = [rating for _, rating in best]
            assert ratings == sorted(ratings, reverse=True)
            assert fitted.recommend(mine, 3) == best[:3]


def test_predictions_off_the_scale_are_ranked_before_they_are_clipped(domains, forms):
    """The means of two items are moved apart, beyond the highest rating."""
    fitted = forms["nx-map"]
    means = np.full(len(fitted.means), 2.0)
    means[[30, 5]] = 3.9, 3.95
    high = replace(fitted, means=means, similarities=np.zeros_like(fitted.similarities))
    raised = replace(high, scale=fitted.scale.parse("1:4:1"))
    ids, first = domains.ratings.item_ids.ids, domains.bounds[1]
    frame = pl.DataFrame({"user": [1], "item": [ids[0]], "rating": [4]})
    profile = from_frame(frame, scale="1:4:1", name="mine")
    names = [ids[first + film] for film in (5, 30)]
    assert raised.recommend(profile, 2) == [(name, 4.0) for name in names]


def random_profiles(domains, count, seed):
    """Ratings of random items, by users who never were, some of one extreme level."""
    chance = np.random.default_rng(seed)
    ratings = domains.ratings
    for number in range(count):
        size = int(chance.integers(1, 30))
        items = chance.choice(ratings.n_items, size, replace=False).astype(np.int32)
        levels = chance.integers(0, 5, size) if number % 3 else np.full(size, 4 * (number % 2))
        yield replace(
            ratings, users=np.zeros(size, np.int32), items=items, times=None,
            levels=levels.astype(ratings.levels.dtype),
        )  # fmt: skip


@pytest.mark.parametrize(
    "count", [50, pytest.param(10_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_predictions_of_random_profiles_are_on_the_scale(domains, forms, count):
    strict = fit_map("x-map-strict", domains, epsilon="60", factors=2)
    for fitted in (strict, *forms.values()):
        for profile in random_profiles(domains, count, seed=1):
            values = fitted.predict(profile)
            assert ((values >= 1) & (values <= 5)).all()
            if isinstance(fitted, FactorMap):
                assert set(values.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def test_a_file_gives_the_same_predictions_and_guarantee(domains, forms, tmp_path):
    for fitted in forms.values():
        fitted.save(tmp_path / "map")
        again = load_map(tmp_path / "map")
        assert is_map(tmp_path / "map")
        assert again.guarantee == fitted.guarantee
        mine = of(domains, int(domains.straddlers(1)[0]))
        assert np.array_equal(again.predict(mine), fitted.predict(mine))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
def test_load_reads_maps_as_it_reads_models(domains, forms, form, tmp_path):
    file = tmp_path / form
    forms[form].save(file)
    read = load(str(file))
    profile = of(domains, 0)
    assert read.recommend(profile, 3) == forms[form].recommend(profile, 3)
    assert read.guarantee == forms[form].guarantee
    fit("mf", domains.ratings).save(tmp_path / "model")
    assert isinstance(load(tmp_path / "model"), Fitted)


def test_the_guarantee_is_that_of_the_form(forms):
    assert forms["x-map-strict"].guarantee.epsilon == "60"
    assert (forms["x-map-strict"].guarantee.unit, forms["x-map-strict"].guarantee.fails) == (
        "user",
        None,
    )
    assert forms["x-map"].guarantee.epsilon == "1.1"
    assert "epsilons add up" in forms["x-map"].guarantee.fails
    assert forms["nx-map"].guarantee.sentence.startswith("No privacy: a map computed from true")


def arrays_of(fitted, tmp_path):
    fitted.save(tmp_path / "map")
    with np.load(tmp_path / "map", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def refused(arrays, tmp_path, match):
    with (tmp_path / "forged").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(RequestError, match=match):
        load_map(tmp_path / "forged")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("replacement", 0), ("replacement", -2), ("replacement", 10**6),
        ("neighbours", 0), ("neighbours", 10**6), ("similarities", np.nan),
        ("similarities", np.inf), ("similarities", -1e300), ("means", -0.1), ("means", 4.1),
        ("means", np.nan),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(forms, tmp_path, name, value):
    arrays = arrays_of(forms["nx-map"], tmp_path)
    arrays[name] = arrays[name].copy()
    arrays[name].flat[3] = value
    refused(arrays, tmp_path, f"not a saved map .*{name} must be from")


def test_arrays_of_another_shape_type_or_name_are_refused(forms, tmp_path):
    arrays = arrays_of(forms["nx-map"], tmp_path)
    for name in ("replacement", "neighbours", "similarities", "means"):
        refused(arrays | {name: arrays[name][:-1]}, tmp_path, f"{name} must be")
        refused(arrays | {name: arrays[name].astype("f4")}, tmp_path, f"{name} must be")
        refused({k: v for k, v in arrays.items() if k != name}, tmp_path, f"{name} are missing")
    refused(arrays | {"more": arrays["means"]}, tmp_path, "more are missing or unknown")
    refused(arrays | {"item_ids": arrays["item_ids"][[0] * 3]}, tmp_path, "not a saved map")
    refused(arrays | {"item_ids": arrays["means"]}, tmp_path, "integers or text")


NO_GUARANTEE = {"epsilon": None, "unit": "none", "trust": "everybody", "released": "a map"}


@pytest.mark.parametrize(
    ("form", "changed", "match"),
    [
        ("nx-map", {"first": 0}, "first must be from 1"),
        ("nx-map", {"first": 1 << 40}, "first must be from 1"),
        ("nx-map", {"first": True}, "not of type int"),
        ("nx-map", {"scale": "there"}, "not a saved map"),
        ("nx-map", {"scale": "1:3:1"}, "means must be from 0 to 2"),
        ("nx-map", {"format": "tacit-map-2"}, "format must be tacit-map-1"),
        ("nx-map", {"more": 1}, "unknown or missing keys: more"),
        ("x-map", {"guarantee": NO_GUARANTEE}, "x-map must state a claim that fails"),
    ],
)
def test_a_header_out_of_range_is_refused(forms, tmp_path, form, changed, match):
    arrays = arrays_of(forms[form], tmp_path)
    header = json.loads(arrays["header"].tobytes()) | changed
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    refused(arrays, tmp_path, match)


@pytest.mark.parametrize(
    "settings",
    [{"k": 0}, {"k": 5}, {"k": 1.5}, {"damping": -1}, {"decay": "1"}, {"decay": -0.1},
     {"stages": 1}, {"variant": "user"}, {"mode": "strict"}, {"alteregos": "some"}, {"draws": "x"},
     {"neighbour_epsilon": 1}],
)  # fmt: skip
def test_settings_out_of_range_are_refused(forms, tmp_path, settings):
    arrays = arrays_of(forms["nx-map"], tmp_path)
    header = json.loads(arrays["header"].tobytes())
    header["settings"] |= settings
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    refused(arrays, tmp_path, "not a saved map")


def test_a_map_without_noise_cannot_state_a_guarantee(forms, tmp_path):
    """Neither one that holds, nor a claim that fails."""
    arrays = arrays_of(forms["nx-map"], tmp_path)
    header = json.loads(arrays["header"].tobytes())
    for form in ("x-map-strict", "x-map"):
        forged = header | {"guarantee": forms[form].guarantee.to_dict()}
        arrays["header"] = np.frombuffer(json.dumps(forged).encode(), np.uint8)
        refused(arrays, tmp_path, "nx-map must state no guarantee")


def test_other_files_are_refused(forms, tmp_path):
    whole = io.BytesIO()
    np.savez(whole, header=np.zeros(3, np.uint8))
    plain = replace(forms["x-map-strict"].published, target=None).to_bytes()
    for content in (b"", b"{}", whole.getvalue(), plain[:40], plain):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(RequestError):
            load_map(tmp_path / "other")


def test_item_models_of_all_versions_are_loaded(forms, tmp_path):
    stars, path = synthetic(60, 50, 1200), tmp_path / "model"
    plain, exposed = (item_model(fit("bias", stars, exposure=on)) for on in (False, True))
    condensed = item_model(fit("channel-mf", stars, exposure=False, draws=2, burn_in=1))
    of_map = forms["x-map-strict"].published
    seen = set()
    for model in (plain, exposed, condensed, plain.hiding([1]), of_map, of_map.hiding([1])):
        path.write_bytes(model.to_bytes())
        seen.add(path.read_bytes()[: len(MAGICS[0])])
        loaded = load(path)
        assert isinstance(loaded, FactorMap if model.target else ItemModel)
        assert (loaded.published if model.target else loaded).to_bytes() == model.to_bytes()
        path.write_bytes(model.to_bytes()[:-1])
        with pytest.raises(RequestError, match=r"model is not a saved model \("):
            load(path)
    assert seen == set(MAGICS)


def test_a_model_of_one_domain_is_not_a_map(forms):
    with pytest.raises(RequestError, match="no target domain"):
        FactorMap(replace(forms["x-map-strict"].published, target=None))


@pytest.mark.parametrize(
    ("name", "epsilon", "settings", "match"),
    [
        ("nx-map", "1", {}, "nx-map has no privacy and no epsilon"),
        ("x-map", None, {}, "requires an epsilon"),
        ("x-map-strict", None, {}, "requires an epsilon per user"),
        ("nx-map", None, {"variant": "user"}, "predicts from the ratings of other users"),
        ("nx-map", None, {"mode": "faithful"}, "mode of nx-map cannot be changed"),
        ("nx-map", None, {"most": 1}, "has no setting 'most'"),
        ("x-map-strict", "8", {"k": 1}, "has no setting 'k'"),
        ("emcdr", None, {}, "map must be one of"),
    ],
)
def test_what_is_not_released_is_refused(domains, name, epsilon, settings, match):
    with pytest.raises(RequestError, match=match):
        fit_map(name, domains, epsilon=epsilon, **settings)


def test_domains_without_common_users_are_refused(domains):
    books = domains.where(~domains.rows(1))
    for name in ("x-map", "nx-map"):
        with pytest.raises(RequestError, match="No user rated both"):
            fit_map(name, books, epsilon=FORMS[name])


def test_an_id_without_a_prefix_means_the_source(domains, forms):
    """Both domains number their items from 1, so the map prefixes them."""
    frame = pl.DataFrame(
        {"user": [1] * 3, "item": ["7", "books/9", "films/7"], "rating": [5, 1, 2]}
    )
    profile = from_frame(frame, scale="1:5:1", name="mine")
    for fitted in forms.values():
        order = profile.item_ids.take(profile.items).to_list()
        names = [
            None if index < 0 else domains.ratings.item_ids.ids[int(index)]
            for index in fitted.indices(profile)
        ]
        assert dict(zip(order, names, strict=True)) == {
            "7": "books/7", "books/9": "books/9", "films/7": "films/7",
        }  # fmt: skip


@pytest.mark.parametrize("name", ["x-map-strict", "nx-map"])
def test_ids_of_a_profile_named_as_a_domain_are_of_that_domain(domains, forms, name):
    """The user's own films, with the ids of the file of films."""
    books, films = (
        {id.split("/")[1] for id in domains.ratings.item_ids.ids[slice(*bounds)]}
        for bounds in pairwise(domains.bounds)
    )
    both = sorted(books & films)[:20]
    frame = pl.DataFrame({"user": [1] * 20, "item": both, "rating": [1, 5] * 10})
    notices = []
    films = from_frame(frame, scale="1:5:1", name="films")
    assert (forms[name].indices(films) >= domains.bounds[1]).all()
    best = forms[name].recommend(films, 100, notify=notices.append)
    assert not {f"films/{item}" for item in both} & {item for item, _ in best}
    assert notices == []
    mine = from_frame(frame, scale="1:5:1", name="mine")
    forms[name].recommend(mine, 5, notify=notices.append)
    (notice,) = notices
    assert notice.startswith("20 ids in mine are those of items of several domains (the first is '")
    assert "write films/ before ids of the target" in notice


def test_a_profile_on_another_scale_is_refused(forms):
    frame = pl.DataFrame({"user": [1], "item": ["7"], "rating": [0.5]})
    profile = from_frame(frame, scale="0.5:5:0.5", name="mine")
    for fitted in forms.values():
        with pytest.raises(RequestError, match="scale"):
            fitted.predict(profile)


def test_a_published_map_is_what_a_device_reads(forms):
    published = forms["x-map-strict"].published
    assert ItemModel.from_bytes(published.to_bytes()) == published
