"""Enrolment tokens: authorization and quota of uploads. No token is ever stored."""

from collections.abc import Iterable, Mapping

from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import ProblemError
from tacit.collector.ingest.tokens import TokenList, TokenSource, UncheckedError

MOST_PEOPLE = 4
"""Names per token: a device, a browser, and new names of either after an erasure."""


class Enrolment:
    """Quotas of tokens, and the source of valid ones.

    `tokens`: a source, or the SHA-256 of each token in hexadecimal. `most`: reports per token,
    epoch and task. `people`: names per token. Raises `DataError` for a line that is not a SHA-256.
    """

    def __init__(
        self, tokens: TokenSource | Iterable[str], most: int, people: int = MOST_PEOPLE
    ) -> None:
        self._source = TokenList(tokens) if isinstance(tokens, Iterable) else tokens
        self.most, self.people = most, people

    async def admit(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Return the 32 bytes under which the request's token is counted.

        Raises `ProblemError` without a valid token.
        """
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            raise ProblemError(problems.UNAUTHORIZED)
        try:
            identity = await self._source.identify(token)
        except UncheckedError:
            raise ProblemError(problems.UNCHECKED) from None
        if identity is None:
            raise ProblemError(problems.UNAUTHORIZED)
        return identity
