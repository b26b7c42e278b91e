"""Tacit: recommendation from locally randomized ratings.

    from tacit import Rated, compile_channel, fit, perturb, read

Names are handed on when first asked for, so that a device which needs the channels alone loads
nothing but the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from tacit.channels import choose as choose
    from tacit.channels import compile_channel as compile_channel
    from tacit.channels.table import Channel as Channel
    from tacit.collection.perturb import perturb as perturb
    from tacit.collection.plans import Catalogue as Catalogue
    from tacit.collection.plans import Rated as Rated
    from tacit.collection.plans import Sample as Sample
    from tacit.device.client import Client as Client
    from tacit.device.profile import ListProfile as ListProfile
    from tacit.device.profile import Profile as Profile
    from tacit.errors import BudgetError as BudgetError
    from tacit.errors import CertificateError as CertificateError
    from tacit.errors import DataError as DataError
    from tacit.errors import RequestError as RequestError
    from tacit.errors import TacitError as TacitError
    from tacit.experiments.comparison.compare import ComparisonResult as ComparisonResult
    from tacit.experiments.comparison.compare import compare as compare
    from tacit.models import Fitted as Fitted
    from tacit.models import at_home as at_home
    from tacit.models import fit as fit
    from tacit.models import item_model as item_model
    from tacit.privacy.guarantee import Guarantee as Guarantee
    from tacit.ratings import Ratings as Ratings
    from tacit.readers import as_ratings as as_ratings
    from tacit.readers import from_frame as from_frame
    from tacit.readers import read as read
    from tacit.readers import synthetic as synthetic
    from tacit.reports import Reports as Reports
    from tacit.scale import RatingScale as RatingScale
    from tacit.wire.item_model import ItemModel as ItemModel
    from tacit.wire.list_model import ListModel as ListModel

_HOMES = {
    "BudgetError": "errors",
    "Catalogue": "collection.plans",
    "CertificateError": "errors",
    "Channel": "channels.table",
    "Client": "device.client",
    "ComparisonResult": "experiments.comparison.compare",
    "DataError": "errors",
    "Fitted": "models",
    "Guarantee": "privacy.guarantee",
    "ItemModel": "wire.item_model",
    "ListModel": "wire.list_model",
    "ListProfile": "device.profile",
    "Profile": "device.profile",
    "Rated": "collection.plans",
    "RatingScale": "scale",
    "Ratings": "ratings",
    "Reports": "reports",
    "RequestError": "errors",
    "Sample": "collection.plans",
    "TacitError": "errors",
    "as_ratings": "readers",
    "at_home": "models",
    "choose": "channels",
    "compare": "experiments.comparison.compare",
    "compile_channel": "channels",
    "fit": "models",
    "from_frame": "readers",
    "item_model": "models",
    "perturb": "collection.perturb",
    "read": "readers",
    "synthetic": "readers",
}

__all__ = list(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute '{name}'")
    try:
        return getattr(import_module(f"tacit.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("tacit."):
            raise ImportError(
                f"tacit.{name} is not part of tacit-device; install tacit-recommender in addition."
            ) from error
        raise


def _version() -> str:
    """Of the distribution that these files are of: where nothing but a device is, the device's."""
    metadata = import_module("importlib.metadata")
    try:
        return metadata.version("tacit-recommender")
    except metadata.PackageNotFoundError:
        return metadata.version("tacit-device")
