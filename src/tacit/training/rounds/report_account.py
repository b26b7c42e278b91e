"""Accounting for one person's reports: nobody is asked more often than their epsilon lasts."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError
from tacit.training.mechanism.epsilon import nats


@dataclass(eq=False)
class ReportAccount:
    """`epsilon`: nats per person; `reports`: how many each person gave so far, shape (people,)."""

    epsilon: str
    reports: NDArray[np.int64]

    @classmethod
    def of(cls, epsilon: str, people: int) -> Self:
        """An account for each of so many people; raises `RequestError` as `nats` does."""
        nats(epsilon)
        return cls(epsilon, np.zeros(people, np.int64))

    def pay(self, people: slice, each: str) -> None:
        """One more report, at `each` nats, from all in `people`: epsilons of reports add up.

        Raises `CertificateError` before anybody answers, if somebody's epsilon would not last.
        """
        self.reports[people] += 1
        most = int(self.reports.max(initial=0))
        if most * Decimal(each) > nats(self.epsilon):
            raise CertificateError(
                f"{most} reports at {each} nats exceed the {self.epsilon} nats guaranteed per user."
            )
