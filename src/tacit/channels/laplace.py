"""Laplace mechanism (Dwork et al. 2006): unbounded noise on a public grid, its tails merged."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.laplace_law import AbstractLaplace, laplace_below, laplace_density
from tacit.channels.laplace_line import RAREST, laplace_line
from tacit.channels.table import Channel


@dataclass(frozen=True, kw_only=True)
class Laplace(AbstractLaplace):
    """The rating plus Laplace noise, on the cells of `tacit.channels.laplace_line`.

    E[output | r] = r: unbiased, at the price of reports far off the scale.
    """

    def table(self) -> Channel:
        """Return exp(-|y - r| / b) on the grid, normalised, certified at `epsilon` nats."""
        with localcontext(prec=PRECISION):
            rarest = Decimal(2) ** -min(RAREST, self.word_bits - 2)
            line = laplace_line(self.scale, self.exact_spread, symbols=self.symbols, rarest=rarest)
            rows = [line.row(k * line.fine) for k in range(self.scale.n_levels)]
            outputs = line.outputs()
        return self.compiled(outputs, rows)

    def density(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.density`."""
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        """Implement `AbstractLaplace.mean`."""
        return rating

    def below(self, output: float, rating: float) -> float:
        """Implement `AbstractLaplace.below`."""
        return laplace_below(output - rating, self.spread)
