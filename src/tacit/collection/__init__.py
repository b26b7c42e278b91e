"""Collection: plans say what is answered for and at what cost; `perturb` answers in bulk."""

from tacit.collection.perturb import perturb as perturb
from tacit.collection.rated import Rated as Rated
