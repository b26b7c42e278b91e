"""The exponential mechanism over the levels of the scale."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel


@dataclass(frozen=True, kw_only=True)
class Exponential(AbstractMechanism):
    """P(y | r) proportional to exp(-epsilon |y - r| / range), y a level."""

    def table(self) -> Channel:
        """The certified table."""
        with localcontext(prec=PRECISION):
            pace = Decimal(self.epsilon) / self.width
            levels = self.scale.levels
            rows = [[(-pace * abs(y - r)).exp() for y in levels] for r in levels]
        return self.compiled(self.scale.levels, rows)
