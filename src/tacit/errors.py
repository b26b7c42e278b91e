"""Exceptions of Tacit, as one tree.

    TacitError              base: catch this to catch the library
    ├── DataError           a file or table holds something it should not; says where
    ├── RequestError        the request itself cannot be met; says what to change
    ├── CertificateError    a channel does not keep the epsilon it claims
    └── BudgetError         a person's lifetime epsilon does not allow another answer

The command line prints the sentence and exits with status 1 for each of them.
"""


class TacitError(Exception):
    """Base of every error that Tacit raises on purpose."""


class DataError(TacitError):
    """The data are wrong; the message names the file, the line and the value."""


class RequestError(TacitError):
    """The request cannot be met; the message names the value and the remedy."""


class CertificateError(TacitError):
    """A channel's table does not prove the epsilon it claims, or is not the table it names."""


class BudgetError(TacitError):
    """A person's lifetime limit of epsilon does not allow another draw."""
