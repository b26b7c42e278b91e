"""Claims about a model: it learns from reports only, and does not depend on their order."""

import tempfile
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.errors import RequestError
from tacit.models import AbstractModel, Evidence, Fitted, evidence, fold_in
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.reports import Reports

Claim = Callable[[AbstractModel], None]
STRANGER = -7


@cache
def made_up() -> tuple[Ratings, Ratings, Reports]:
    """Return known ratings, held-out ones, and reports of the known at epsilon 3 per value."""
    ratings = synthetic(n_users=300, n_items=200, n_ratings=15_000, rng=3)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    known = ratings.where(~held)
    channel = compile_channel("randomized-response", epsilon="3", scale=known.scale)
    return known, ratings.where(held), perturb(known, Rated(channel))


def fitted(model: AbstractModel) -> Fitted:
    """Return the model fitted to the reports, cached for models that are hashable."""
    return _fitted_once(model) if _has_hash(model) else _fit(model)


def _has_hash(model: object) -> bool:
    return isinstance(model, Hashable)


def _fit(model: AbstractModel) -> Fitted:
    return model.fit(evidence(made_up()[2]), rng=0)


_fitted_once = lru_cache(maxsize=32)(_fit)


def learns_from_reports(model: AbstractModel) -> None:
    """Held-out true ratings are predicted as well as by the mean report, better on the device."""
    known, test, reports = made_up()
    model_of_reports = fitted(model)
    pairs = test.users, test.items
    provider, device = (
        float(np.sqrt(np.mean((f.predict_codes(*pairs) - test.values) ** 2)))
        for f in (model_of_reports, fold_in(model_of_reports, known))
    )
    constant = float(np.std(test.values))
    if provider > constant + 0.005 or device > min(provider, constant) + 0.002:
        raise AssertionError(
            f"RMSE is {provider:.3f} at the provider and {device:.3f} on devices, but "
            f"{constant:.3f} for a constant prediction."
        )
    if model_of_reports.guarantee != reports.guarantee:
        raise AssertionError(
            "The guarantee of the model must be that of the reports, because fitting is "
            "post-processing."
        )


def is_the_same_in_any_order(model: AbstractModel) -> None:
    """The same seed gives the same bytes for any order of the reports."""
    reports = made_up()[2]
    mixed = np.random.default_rng(1).permutation(len(reports))
    other = replace(
        reports,
        users=reports.users[mixed],
        items=reports.items[mixed],
        symbols=reports.symbols[mixed],
        channel_of=reports.channel_of[mixed],
    )
    one, two = fitted(model), model.fit(evidence(other), rng=0)
    if one.people.tobytes() != two.people.tobytes() or one.items.tobytes() != two.items.tobytes():
        raise AssertionError("The model depends on the order of the reports.")


def leaves_its_evidence(model: AbstractModel) -> None:
    """Fitting leaves the evidence unchanged."""
    data = evidence(made_up()[2])
    copies = [column.copy() for column in _columns(data)]
    model.fit(data, rng=0)
    if not all(map(np.array_equal, copies, _columns(data))):
        raise AssertionError("The model changed the evidence that it was fitted to.")


def _columns(data: Evidence) -> list[np.ndarray]:
    return [data.symbols, data.values, data.likelihood, data.user_of, data.item_of]


def knows_what_it_does_not_know(model: AbstractModel) -> None:
    """Unknown users and items get predictions on the scale, and an unknown user gets a list."""
    trained = fitted(model)
    person, item = trained.user_ids.ids[4], trained.item_ids.ids[3]
    pairs = pl.Series([STRANGER, person, STRANGER]), pl.Series([item, STRANGER, STRANGER])
    low, high = trained.levels[0], trained.levels[-1]
    values = trained.predict(*pairs)
    notices: list[str] = []
    shown = trained.recommend(STRANGER, 5, notify=notices.append)
    if not all(low <= value <= high for value in values) or len(shown) != 5 or len(notices) != 1:
        raise AssertionError(
            f"Unknown users get the predictions {values}, the list {shown} and the notices "
            f"{notices}."
        )


def recommends_its_best_predictions(model: AbstractModel) -> None:
    """A list has the highest predictions of unrated items, ties by item id."""
    known, trained = made_up()[0], fitted(model)
    person, ids = known.user_ids.ids[0], known.item_ids.ids
    rated = known.item_ids.take(known.items[known.users == 0])
    left = dict(
        zip(ids, trained.predict(pl.Series([person] * len(ids)), ids).tolist(), strict=True)
    )
    for item in rated:
        del left[item]
    best = sorted(left.items(), key=lambda pair: (-pair[1], pair[0]))[:7]
    if trained.recommend(person, 7, exclude=rated) != best:
        raise AssertionError(f"The list does not contain the highest predictions, {best}.")


def is_the_same_once_saved(model: AbstractModel) -> None:
    """A loaded model has the same guarantee and predicts the same bits, also on the device."""
    known, trained = made_up()[0], fitted(model)
    with tempfile.TemporaryDirectory() as folder:
        trained.save(Path(folder) / "model")
        again = Fitted.load(Path(folder) / "model")
    pairs = known.users[:50], known.items[:50]
    if again.predict_codes(*pairs).tobytes() != trained.predict_codes(*pairs).tobytes():
        raise AssertionError("The loaded model and the saved one predict different ratings.")
    if fold_in(again, known).people.tobytes() != fold_in(trained, known).people.tobytes():
        raise AssertionError("The loaded model and the saved one give different rows on devices.")
    if again.guarantee != trained.guarantee:
        raise AssertionError(f"The guarantee of the loaded model is {again.guarantee}.")


def refuses_nothing_to_learn_from(model: AbstractModel) -> None:
    """Data without reports raise `RequestError`."""
    known = made_up()[0]
    try:
        model.fit(evidence(known.where(np.zeros(len(known), bool))), rng=0)
    except RequestError:
        return
    raise AssertionError("The model was fitted to data without rows.")


MODEL_CLAIMS: tuple[Claim, ...] = (
    learns_from_reports,
    is_the_same_in_any_order,
    leaves_its_evidence,
    knows_what_it_does_not_know,
    recommends_its_best_predictions,
    is_the_same_once_saved,
    refuses_nothing_to_learn_from,
)
"""All claims about a model."""


def check_model(model: AbstractModel) -> None:
    """Run every claim about a model; raises `AssertionError` for the first that does not hold."""
    for claim in MODEL_CLAIMS:
        claim(model)
