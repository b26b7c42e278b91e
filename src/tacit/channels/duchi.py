"""Duchi's two-point mechanism (Duchi et al. 2018): one unbiased bit, best at small epsilon."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel


@dataclass(frozen=True, kw_only=True)
class Duchi(AbstractMechanism):
    """middle +- half (e^eps + 1) / (e^eps - 1), with P(+) = 1/2 + x (e^eps - 1) / (2 (e^eps + 1)).

    x = (r - middle) / half is the rating on [-1, 1] and half is half the range of the scale.
    E[output | r] = r. Two symbols: the table has rank 2, so reports identify the mean of a group of
    ratings but not their variance.
    """

    def table(self) -> Channel:
        """Return P(+ | r), linear in r, certified at `epsilon` nats per report."""
        with localcontext(prec=PRECISION):
            odds, half = Decimal(self.epsilon).exp(), self.width / 2
            slope = (odds - 1) / (odds + 1)
            tilts = [slope * (level - self.middle) / half for level in self.scale.levels]
            outputs = (self.middle - half / slope, self.middle + half / slope)
            rows = [[1 - tilt, 1 + tilt] for tilt in tilts]
        return self.compiled(outputs, rows)
