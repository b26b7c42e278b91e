"""Serialization of a fitted model: one file with a JSON header and arrays, no pickle."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.models import archive
from tacit.models.distillation import CondensedItems
from tacit.models.evidence.presence_features import Presence
from tacit.models.lists import list_file
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.list_file import ListParts
from tacit.models.rounded import LARGEST_HALF
from tacit.scale import RatingScale
from tacit.wire import model_header, strict

Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[int, ...]
NARROW, WIDE = np.dtype(np.float32), np.dtype(np.float64)
POSITIVE = ("precision", "condensed_precision", "presence_log_scale")
NON_NEGATIVE = ("condensed_shrinkage",)
LARGEST = {
    **dict.fromkeys(("mu", "people", "items"), 1e15),
    **dict.fromkeys(("condensed_items", "presence_vectors"), LARGEST_HALF),
}
"""Bounds in magnitude: sums of products stay finite in single precision, and halves in theirs."""
FACTORS = {"condensed_items": 1}
"""First column that the bound applies to. Column 0 holds biases, in single precision."""
SIGMAS = 1e4
"""The widest scale, in units of sigma. A prediction table has 512 entries to a sigma."""


def checked(arrays: Arrays, levels: tuple[float, ...], sigma: Any) -> float:
    """Check the arrays of a model file and return sigma as a float.

    Parameters
    ----------
    arrays
        Arrays by their names in the file.
    levels
        Levels of the model's rating scale.
    sigma
        Residual standard deviation of the cells link on this scale. 0 for the linear link.

    Returns
    -------
    float
        Sigma.

    Raises
    ------
    DataError
        If an array is missing or unknown, or if its type, shape or a value is wrong.
    """
    _check_names(arrays)
    for name, (dtype, shape) in _expected(arrays).items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != shape or not np.isfinite(array).all():
            raise DataError(
                f"{name} must be finite {dtype} of shape {shape}, got {array.dtype} of shape "
                f"{array.shape}"
            )
    _check_magnitudes(arrays)
    for names, is_valid in ((POSITIVE, np.greater), (NON_NEGATIVE, np.greater_equal)):
        for name in names:
            if name in arrays and not is_valid(arrays[name], 0).all():
                raise DataError(f"{name} has the invalid value {arrays[name].min():g}")
    return _sigma(sigma, levels)


def _expected(arrays: Arrays) -> dict[str, tuple[np.dtype[Any], Shape]]:
    """Return the type and shape of each array of numbers, as the ids and widths require."""
    n_users, n_items = (archive.count_ids(arrays[name]) for name in ("user_ids", "item_ids"))
    draws, width = arrays["precision"].shape
    expected = {
        "mu": (WIDE, (draws,)),
        "people": (NARROW, (draws, n_users, width)),
        "items": (NARROW, (draws, n_items, width)),
        "precision": (NARROW, (draws, width)),
    }
    features = 0
    if "prior_weights" in arrays:
        features, directions = (arrays[f"presence_{k}"].shape[-1] for k in _WIDTHS)
        expected |= {
            "prior_weights": (NARROW, (draws, 1 + features, width)),
            "presence_vectors": (WIDE, (n_items, features)),
            "presence_centre": (WIDE, (features,)),
            "presence_log_mean": (WIDE, ()),
            "presence_log_scale": (WIDE, ()),
            "presence_item_features": (WIDE, (n_items, directions)),
        }
        features += 1
    if "condensed_mu" in arrays:
        rank = arrays["condensed_precision"].shape[-1]
        expected |= {
            "condensed_mu": (WIDE, ()),
            "condensed_items": (NARROW, (n_items, rank)),
            "condensed_precision": (NARROW, (rank,)),
            "condensed_prior_weights": (NARROW, (features, rank)),
            "condensed_shrinkage": (NARROW, (n_items,)),
        }
    return expected


def _check_magnitudes(arrays: Arrays) -> None:
    for name, largest in LARGEST.items():
        array = arrays.get(name, _NONE)[..., FACTORS.get(name, 0) :]
        if np.abs(array).max(initial=0) > largest:
            raise DataError(f"{name} must be at most {largest:g} in magnitude")


_NONE = np.zeros(0)
_WIDTHS = ("vectors", "item_features")
_NAMES = {"user_ids", "item_ids"}


def _check_names(arrays: Arrays) -> None:
    if odd := sorted(set(arrays) ^ (_NAMES | set(_expected(arrays)))):
        raise DataError(f"the arrays {', '.join(odd)} are missing or unknown")


def _sigma(sigma: Any, levels: tuple[float, ...]) -> float:
    span = levels[-1] - levels[0]
    if type(sigma) not in (int, float) or not (sigma == 0 or span / SIGMAS <= sigma < np.inf):
        raise DataError(f"sigma must be 0 or at least {span / SIGMAS:g}, got {str(sigma)[:40]!r}")
    return float(sigma)


FORMAT = "tacit-model-1"
PLAIN = ("mu", "people", "items", "precision")
"""Array fields."""


def write(path: Path | str, fields: Mapping[str, Any]) -> None:
    """Write the fields of a `Fitted`. Raises `RequestError` for a path that cannot be written."""
    header = {
        "format": FORMAT,
        "model": fields["model"],
        "scale": str(fields["scale"]),
        "sigma": fields["sigma"],
        "guarantee": fields["guarantee"].to_dict(),
    }
    exposure = fields["exposure"]
    if exposure is not None:
        header |= {"exposure": exposure.model}
        header |= list_file.tuning_header(exposure.tuning, "exposure_tuning")
    arrays: dict[str, Any] = {
        "user_ids": archive.to_array(fields["user_ids"]),
        "item_ids": archive.to_array(fields["item_ids"]),
        **{name: fields[name] for name in PLAIN},
    }
    presence, one = fields["presence"], fields["condensed"]
    if presence is not None and fields["prior_weights"] is not None:
        arrays["prior_weights"] = fields["prior_weights"]
        arrays |= {f"presence_{k}": v for k, v in presence.to_arrays().items()}
    if one is not None:
        arrays |= {f"condensed_{k}": v for k, v in one.to_arrays().items()}
    if exposure is not None:
        parts = ListParts(exposure.presence, exposure.weights, exposure.provider_weights)
        arrays |= {f"exposure_{k}": v for k, v in list_file.to_arrays(parts).items()}
    archive.write(path, header, arrays)


def read(path: Path | str) -> dict[str, Any]:
    """Read the fields from `write`. Raises `RequestError` for any other file."""
    return archive.read(path, {FORMAT: fields_of})


def fields_of(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in an archive. Raises an error of `archive.DAMAGED` or `DataError` for
    arrays that are missing or unknown, and for a wrong type, shape or value."""
    scale = RatingScale.parse(header["scale"])
    scale.require_stars("A model of ratings")
    exposed = _named(arrays, "exposure_")
    arrays = {name: array for name, array in arrays.items() if not name.startswith("exposure_")}
    sigma = checked(arrays, scale.values, header["sigma"])
    presence, one = _named(arrays, "presence_"), _named(arrays, "condensed_")
    users, items = (archive.to_vocabulary(arrays[name]) for name in ("user_ids", "item_ids"))
    guarantee = model_header.guarantee(header["guarantee"], "the header")
    exposure = None
    if exposed:
        model = strict.typed(header, "exposure", str, "the header")
        parts = list_file.from_arrays(exposed, (len(users), len(items)))
        exposure = FittedLists(
            model=model, user_ids=users, item_ids=items, guarantee=guarantee, **parts._asdict(),
            tuning=list_file.tuning_of(header, "exposure_tuning"),
        )  # fmt: skip
    return {
        "model": strict.typed(header, "model", str, "the header"),
        "scale": scale,
        "user_ids": users,
        "item_ids": items,
        **{name: arrays[name] for name in PLAIN},
        "sigma": sigma,
        "guarantee": guarantee,
        "exposure": exposure,
        "presence": Presence.from_arrays(presence) if presence else None,
        "prior_weights": arrays.get("prior_weights"),
        "condensed": CondensedItems.from_arrays(one) if one else None,
    }


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays with a name prefix, without the prefix."""
    items = arrays.items()
    return {name.removeprefix(prefix): value for name, value in items if name.startswith(prefix)}
