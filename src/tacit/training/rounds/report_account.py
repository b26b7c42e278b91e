"""Accounting per user: no device reports more often than its user's budget allows."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError
from tacit.training.mechanism.epsilon import nats


@dataclass(eq=False)
class ReportAccount:
    """`epsilon`: nats per user. `reports`: number of reports per user so far, shape (users,)."""

    epsilon: str
    reports: NDArray[np.int64]

    @classmethod
    def of(cls, epsilon: str, people: int) -> Self:
        """Return an account for each of `people` users. Raises `RequestError` as `nats` does."""
        nats(epsilon)
        return cls(epsilon, np.zeros(people, np.int64))

    def pay(self, people: slice, each: str) -> None:
        """Charge one more report, at `each` nats, to all in `people`: epsilons of reports add up.

        Raises `CertificateError`, before any device reports, if a budget would be exceeded.
        """
        self.reports[people] += 1
        most = int(self.reports.max(initial=0))
        if most * Decimal(each) > nats(self.epsilon):
            raise CertificateError(
                f"{most} reports at {each} nats exceed the {self.epsilon} nats guaranteed per user."
            )
