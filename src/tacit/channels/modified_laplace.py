"""Modified Laplace (Zheng 2022): Laplace noise, with ratings suppressed and inserted."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.laplace_law import AbstractLaplace, laplace_below, laplace_density
from tacit.channels.laplace_line import RAREST, LaplaceLine, laplace_line
from tacit.channels.table import Channel
from tacit.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class ModifiedLaplace(AbstractLaplace):
    """Zheng's first mechanism (Definition 2), for a rating or "missing" in one slot.

    With K = e^(eps/2) / (1 + e^(eps/2)) and n Laplace of scale b = (high - low) / eps:

        a rating r  -> r + n with probability K, else "missing"
        missing     -> "missing" with probability K, else the middle of the scale + n

    Per slot, in nats: eps between two ratings, eps from rated to missing (a report far beyond the
    rating's end), eps/2 from missing to rated (the symbol "missing"). The table is that law on the
    cells of `tacit.channels.laplace_line`. Conditional on a report, its mean is the rating, or the
    middle of the scale for an inserted one. `missing` is always true.
    """

    missing: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.missing:
            raise RequestError(
                "modified-laplace protects presence, so its table always has a row for "
                "missing; use laplace if presence is public."
            )

    def table(self) -> Channel:
        """Return suppression or insertion, then noise; certified at `epsilon` nats per slot."""
        with localcontext(prec=PRECISION):
            unchanged, line = self.exact_kept, self._line()
            inserted = line.row(line.last // 2)
            rows = [[unchanged, *((1 - unchanged) * share for share in inserted)]]
            for k in range(self.scale.n_levels):
                rows.append(
                    [1 - unchanged, *(unchanged * share for share in line.row(k * line.fine))]
                )
            outputs = line.outputs()
        return self.compiled((None, *outputs), rows)

    def _line(self) -> LaplaceLine:
        # The middle of an even number of levels is between two: the grid must contain it.
        finest = 1 if self.scale.n_levels % 2 else 2
        # The far cell is the rarest one, equally so for the other end and for "missing".
        rarest = Decimal(2) ** -min(RAREST, self.word_bits - 2) / self.exact_kept
        return laplace_line(
            self.scale, self.exact_spread, symbols=self.symbols - 1, rarest=rarest, finest=finest
        )

    @property
    def exact_kept(self) -> Decimal:
        """K, the probability that rated stays rated and missing stays missing."""
        odds = (Decimal(self.claim) / 2).exp()
        return odds / (1 + odds)

    @property
    def kept(self) -> float:
        """K as a float."""
        return float(self.exact_kept)

    def density(self, output: float, rating: float) -> float:
        """Return the density of the output given the rating and a report."""
        return laplace_density(output - rating, self.spread)

    def mean(self, rating: float) -> float:
        """Return E[output | rating, reported]."""
        return rating

    def below(self, output: float, rating: float) -> float:
        """Return P(report < output | rating, reported)."""
        return laplace_below(output - rating, self.spread)
