"""Enrolment tokens: authorization and quota of uploads. No token is ever stored."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import ProblemError
from tacit.errors import DataError

MOST_PEOPLE = 4
"""Names per token: a device, a browser, and new names of either after an erasure."""


class Enrolment:
    """Tokens by their SHA-256, as in the operator's file.

    `most`: reports per token, epoch and task. `people`: names per token. Raises `DataError` for a
    line that is not a SHA-256.
    """

    def __init__(self, digests: Iterable[str], most: int, people: int = MOST_PEOPLE) -> None:
        listed = list(digests)
        for digest in listed:
            if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
                raise DataError("Every line of the token file must be 64 hexadecimal digits.")
        self._digests = frozenset(map(bytes.fromhex, listed))
        self.most, self.people = most, people

    def admit(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Return the SHA-256 of the request's token.

        Raises `ProblemError` without a known token.
        """
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        digest = sha256(token).digest()
        if scheme.lower() != b"bearer" or digest not in self._digests:
            raise ProblemError(problems.UNAUTHORIZED)
        return digest
