"""Exact audit: the actual epsilon of a table, to twenty digits, and where it is attained."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext

from tacit.channels.table import MISSING, Channel
from tacit.scale import shortest

DIGITS = 20


@dataclass(frozen=True)
class ExactAudit:
    """Result of an exact audit.

    `claim`: declared epsilon. `epsilon`: of the table, rounded up at the twentieth decimal. `pair`:
    the two inputs that the report `symbol` distinguishes best, the more likely one first.
    """

    claim: Decimal
    epsilon: Decimal
    pair: tuple[str, str]
    symbol: int

    @property
    def loss(self) -> Decimal:
        """Claim minus epsilon, in nats; negative where the claim is false."""
        return self.claim - self.epsilon

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        likelier, other = self.pair
        return (
            f"The table has epsilon {self.epsilon}, {abs(self.loss):.3g} "
            f"{'below' if self.loss >= 0 else 'ABOVE'} its claim {self.claim}: symbol "
            f"{self.symbol} is the strongest evidence for {likelier} against {other}."
        )


def audit_table(channel: Channel) -> ExactAudit:
    """Compute epsilon of a table: the log of the largest ratio of two weights in one column.

    Logarithms have 50 digits, so the twenty returned are correct. The certificate itself
    (`tacit.channels.certificate`) compares integers and needs no logarithm.
    """
    columns = list(zip(*channel.weights, strict=True))
    symbol = max(range(len(columns)), key=lambda y: _ratio(columns[y]))
    column = columns[symbol]
    with localcontext(prec=50):
        epsilon = Decimal(max(column)).ln() - Decimal(min(column)).ln()
        epsilon = epsilon.quantize(Decimal(1).scaleb(-DIGITS), ROUND_CEILING)
        claim = Decimal(channel.epsilon)
    inputs = [*(MISSING,) * channel.missing, *map(shortest, channel.levels)]
    pair = inputs[column.index(max(column))], inputs[column.index(min(column))]
    return ExactAudit(claim=claim, epsilon=epsilon, pair=pair, symbol=symbol)


def _ratio(column: tuple[int, ...]) -> Decimal:
    with localcontext(prec=50):
        return Decimal(max(column)) / min(column)
