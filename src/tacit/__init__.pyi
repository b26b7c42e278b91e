"""Public names of Tacit, and where each is defined."""

from tacit.channels import choose_channel as choose_channel
from tacit.channels import compile_channel as compile_channel
from tacit.channels.table import Channel as Channel
from tacit.collection.perturb import perturb as perturb
from tacit.collection.plans import Catalogue as Catalogue
from tacit.collection.plans import Rated as Rated
from tacit.collection.plans import Sample as Sample
from tacit.crossdomain.x_map.released import load as load
from tacit.device.client import Client as Client
from tacit.device.list_profile import ListProfile as ListProfile
from tacit.device.profile import Profile as Profile
from tacit.errors import BudgetError as BudgetError
from tacit.errors import CertificateError as CertificateError
from tacit.errors import DataError as DataError
from tacit.errors import RequestError as RequestError
from tacit.errors import TacitError as TacitError
from tacit.experiments.comparison.compare import ComparisonResult as ComparisonResult
from tacit.experiments.comparison.compare import compare as compare
from tacit.experiments.metric_columns import evaluate as evaluate
from tacit.learners import fit as fit
from tacit.models import Fitted as Fitted
from tacit.models import fold_in as fold_in
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

__version__: str
