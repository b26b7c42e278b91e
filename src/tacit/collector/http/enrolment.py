"""Enrolment tokens: who may send at all, and how much of it. Nobody's token is ever stored."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.errors import DataError

MOST_PEOPLE = 4
"""A device, a browser, and what they become when somebody erases everything: each is a new name."""


class Enrolment:
    """Tokens by their SHA-256, as the operator's file has them.

    `most`: reports that one token may have stored in an epoch of a task. `people`: how many names
    they may be under. Raises `DataError` for a line that is no SHA-256.
    """

    def __init__(self, digests: Iterable[str], most: int, people: int = MOST_PEOPLE) -> None:
        listed = list(digests)
        for digest in listed:
            if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
                raise DataError("Every line of the token file must be 64 hexadecimal digits.")
        self._digests = frozenset(map(bytes.fromhex, listed))
        self.most, self.people = most, people

    def admit(self, headers: Mapping[bytes, bytes]) -> bytes:
        """The SHA-256 of the request's token; raises `ProblemError` for none, or an unknown one."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        digest = sha256(token).digest()
        if scheme.lower() != b"bearer" or digest not in self._digests:
            raise ProblemError(problems.UNAUTHORIZED)
        return digest
