"""Enrolment tokens: who may send at all, and how much in an epoch. Kept in memory alone."""

import hmac
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

from tacit.collector import problems
from tacit.collector.problems import ProblemError
from tacit.errors import DataError


class Enrolment:
    """Tokens by their SHA-256, as the operator's file has them; nobody's token is ever stored.

    What a token sent is counted under HMAC(key of the epoch, token). The key is drawn when the
    epoch begins and forgotten when it ends: nothing links a token's epochs, or a token to a report.
    `most`: reports that one token may have stored in an epoch.
    """

    def __init__(self, digests: Iterable[str], most: int) -> None:
        self._digests = frozenset(digests)
        self._most = most
        self._epoch: int | None = None
        self._key = b""
        self._sent: Counter[bytes] = Counter()
        for digest in self._digests:
            if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
                raise DataError("A line of the tokens' file is not 64 hexadecimal digits.")

    def admit(self, headers: Mapping[bytes, bytes], epoch: int) -> bytes:
        """The name under which this epoch's reports of the request's token are counted.

        Raises `ProblemError` for no token, an unknown one, or one that has sent its share.
        """
        given = headers.get(b"authorization", b"")
        scheme, _, token = given.partition(b" ")
        if scheme.lower() != b"bearer" or sha256(token).hexdigest() not in self._digests:
            raise ProblemError(problems.UNAUTHORIZED)
        if epoch != self._epoch:
            self._epoch, self._key = epoch, secrets.token_bytes(32)
            self._sent.clear()
        name = hmac.digest(self._key, token, "sha256")
        if self._sent[name] >= self._most:
            raise ProblemError(problems.LIMIT)
        return name

    def count(self, name: bytes, stored: int) -> None:
        """That so many new reports of that name were stored."""
        self._sent[name] += stored
