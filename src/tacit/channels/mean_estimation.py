"""Mechanisms for mean estimation: Duchi (2018) and piecewise (Wang 2019)."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel


@dataclass(frozen=True, kw_only=True)
class Duchi(AbstractMechanism):
    """Duchi's two-point mechanism (Duchi et al. 2018): one unbiased bit, best at small epsilon.

    middle +- half (e^eps + 1) / (e^eps - 1), with P(+) = 1/2 + x (e^eps - 1) / (2 (e^eps + 1)).

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


@dataclass(frozen=True, kw_only=True)
class Piecewise(AbstractMechanism):
    """Piecewise mechanism (Wang et al. 2019): high density around the rating, low elsewhere.

    Output t in [-C, C], C = (s + 1) / (s - 1), s = e^(eps/2), for a rating x on [-1, 1].

    The density is e^eps times higher on the plateau [h - (C - 1)/2, h + (C - 1)/2] around h = x (C
    + 1)/2 than elsewhere; E[t | x] = x and Var[t | x] = x^2 / (s - 1) + (s + 3) / (3 (s - 1)^2).

    With finitely many ratings no information is lost by dividing [-C, C] at the ends of all
    plateaus: on a cell every density is constant, and the cell's midpoint preserves the mean. No
    grid is needed.
    """

    def table(self) -> Channel:
        """Return the plateau at each rating, certified at `epsilon` nats per report."""
        with localcontext(prec=PRECISION):
            root, half = (Decimal(self.epsilon) / 2).exp(), self.width / 2
            edge = (root + 1) / (root - 1)
            centres = [(level - self.middle) / half * (edge + 1) / 2 for level in self.scale.levels]
            plateaus = [(h - (edge - 1) / 2, h + (edge - 1) / 2) for h in centres]
            cells = list(pairwise(_cuts(plateaus, edge)))
            rows = [[_mass(cell, plateau, root**2) for cell in cells] for plateau in plateaus]
            outputs = [self.middle + half * (low + high) / 2 for low, high in cells]
        return self.compiled(outputs, rows)


_Span = tuple[Decimal, Decimal]


def _cuts(plateaus: list[_Span], edge: Decimal) -> list[Decimal]:
    """Return ends of plateaus, ascending, without near-duplicates."""
    cuts = [-edge]
    for cut in sorted(end for plateau in plateaus for end in plateau):
        if cut - cuts[-1] > edge / 2**16 and edge - cut > edge / 2**16:
            cuts.append(cut)
    return [*cuts, edge]


def _mass(cell: _Span, plateau: _Span, odds: Decimal) -> Decimal:
    """Return the unnormalised probability: 1 per unit of length, e^eps on the plateau."""
    shared = min(cell[1], plateau[1]) - max(cell[0], plateau[0])
    return cell[1] - cell[0] + (odds - 1) * max(shared, Decimal(0))
