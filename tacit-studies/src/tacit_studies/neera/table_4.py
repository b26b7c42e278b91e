"""Table 4 of Neera et al.: what each method sends, in our encodings."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.learners import fit
from tacit.models import item_model
from tacit.ratings import Ratings
from tacit.reporting.table import Table
from tacit.training.pg_mf import PGMF
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.verdict import ClaimVerdict

CHANNELS = ("bounded-laplace", "optimal")
MODELS = ("mog-mf", "channel-mf")
FLOAT = 4
"""Bytes of a number that goes down."""


@dataclass(frozen=True)
class Table4:
    """Traffic of a mean person, at an `epsilon` in nats per value."""

    epsilon: str = "1"

    name: ClassVar[str] = "table-4"
    title: ClassVar[str] = "Table 4: what goes up and down"
    covers: ClassVar[tuple[str, ...]] = ("Table 4",)
    own_data: ClassVar[str] = ""

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Bits and bytes of channels, item models and private gradients."""
        del kept  # One fit of each model.
        bits = {name: self._bits(name, data) for name in CHANNELS}
        theirs = bits[CHANNELS[0]]
        said = f"{theirs} bits a rating, without its item: a real number is not one bit"
        verdict = ClaimVerdict.HOLDS if theirs <= 1 else ClaimVerdict.FAILS
        return StudyResult(
            claims=(PaperClaim("a rating is sent in one bit", "1 bit", said, verdict),),
            tables=(self._up(data, bits), self._down(data), gradients(data)),
        )

    def _bits(self, name: str, data: Ratings) -> int:
        outputs = compile_channel(name, epsilon=self.epsilon, scale=data.scale).outputs
        return math.ceil(math.log2(len(outputs)))

    def _up(self, data: Ratings, bits: dict[str, int]) -> Table:
        profile = len(data) / len(np.unique(data.users))
        item = math.ceil(math.log2(data.n_items))
        lines = tuple(
            (name, str(own + item), f"{math.ceil(profile * (own + item) / 8):,}")
            for name, own in bits.items()
        )
        heading = ("channel", "bits a rating, with its item", "bytes up a person")
        return Table(f"Up; {profile:.1f} ratings a person", heading, lines)

    def _down(self, data: Ratings) -> Table:
        channel = compile_channel("optimal", epsilon=self.epsilon, scale=data.scale)
        reports = perturb(data, Rated(channel))
        sizes = ((name, len(item_model(fit(name, reports)).to_bytes())) for name in MODELS)
        lines = tuple((name, f"{size:,}") for name, size in sizes)
        return Table("Down, once, to finish at home", ("model", "bytes"), lines)


def gradients(data: Ratings) -> Table:
    """What private gradients send, for one report a person and for as many as there are rounds."""
    lines: list[tuple[str, ...]] = []
    for reports in (1, PGMF().rounds):
        member = PGMF(factors=1, reports=reports)
        columns = 1 + member.factors
        bits = 1 + math.ceil(math.log2(member.width * columns))
        down = data.n_items * columns * FLOAT
        up = math.ceil(bits / 8) * reports
        lines.append((str(reports), str(bits), f"{up:,}", f"{down * (reports + 1):,}"))
    heading = ("reports a person", "bits each", "bytes up", "bytes down")
    return Table("Private gradients", heading, tuple(lines))
