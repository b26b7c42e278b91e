"""Sources of valid enrolment tokens: a file that is reread, signed tokens, or the site's own check.

Each source maps a token to 32 bytes under which its holder is counted. A token itself is never
stored. A signed token and a check may name the holder: short-lived tokens of one holder then share
one quota.
"""

import asyncio
import json
import logging
import os
from collections.abc import Iterable
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from time import monotonic
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tacit.errors import DataError, RequestError
from tacit.wire.origin import is_private, origin_of

log = logging.getLogger(__name__)

SIGNED = "jwt:"
"""Prefix of the path of a file with public keys."""
ALGORITHMS = ("EdDSA", "ES256", "RS256")
"""Signatures with a public key: the collector could not issue tokens with it."""
END = b"-----END PUBLIC KEY-----"
RETRY = 1.0
"""Seconds until a token file that could not be read is read again."""
SECONDS = 5.0
"""Seconds for the response of a site's check."""
FRESH = 60.0
"""Seconds for which the result of a check is reused, and after which a revocation takes effect."""
MOST_FRESH = 1 << 16
LONGEST = 4096
"""Bytes of a token, and of the response to a check."""


class UncheckedError(Exception):
    """A token could not be checked at the moment."""


class TokenSource(Protocol):
    """Decides which tokens are valid."""

    async def identify(self, token: bytes) -> bytes | None:
        """Return the 32 bytes under which a token is counted; None for an invalid token.

        Raises `UncheckedError` if that cannot be decided at the moment.
        """
        ...


def digests(lines: Iterable[str]) -> frozenset[bytes]:
    """Return the digests of tokens; raises `DataError` for a line that is not a SHA-256."""
    listed = list(lines)
    for line in listed:
        if len(line) != 64 or set(line) - set("0123456789abcdef"):
            raise DataError("Every line of the token file must be 64 hexadecimal digits.")
    return frozenset(map(bytes.fromhex, listed))


class TokenList:
    """Tokens by their SHA-256, one hexadecimal digest each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._digests = digests(lines)

    async def identify(self, token: bytes) -> bytes | None:
        """Implement `TokenSource.identify`."""
        digest = sha256(token).digest()
        return digest if digest in self._digests else None


class TokenFile:
    """The operator's file of digests, reread when it changes.

    A file that cannot be read any more is logged, and the last digests stay valid until it can be,
    which is tried every second. Raises `DataError` and `OSError` if it cannot be read at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digests = digests(path.read_text().split())
        self._read = self._logged = self._version()
        self._retry = 0.0

    async def identify(self, token: bytes) -> bytes | None:
        """Implement `TokenSource.identify`."""
        version = self._version()
        if version != self._read and (version != self._logged or monotonic() >= self._retry):
            self._reread(version)
        digest = sha256(token).digest()
        return digest if digest in self._digests else None

    def _reread(self, version: tuple[int, ...]) -> None:
        try:
            self._digests = digests(self._path.read_text().split())
        except (OSError, ValueError, DataError) as error:
            if version != self._logged:
                _note("tokens-unreadable", "The token file cannot be read: %s.", error)
            self._logged, self._retry = version, monotonic() + RETRY
        else:
            self._read = self._logged = version
            count = len(self._digests)
            log.info("The file has %d tokens.", count, extra={"event": "tokens-reread"})

    def _version(self) -> tuple[int, ...]:
        try:
            stat = os.stat(self._path)
        except OSError:
            return ()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


class SignedTokens:
    """JSON Web Tokens that the site signs for its users, valid until they expire (RFC 7519).

    `path`: one or more public keys in PEM, of which any may have signed, so that keys can be
    rotated. Required claims: `exp`, `sub` (the holder, who is counted) and `aud`, which must be
    `audience`, the provider's origin. Raises `RequestError` without PyJWT, and `DataError` for a
    file without a public key.
    """

    def __init__(self, path: Path, audience: str | None) -> None:
        try:
            import jwt
        except ImportError as error:
            raise RequestError(
                f"Signed tokens cannot be verified ({error}). Run pip install "
                "'tacit-recommender[tokens]'."
            ) from None
        if audience is None:
            raise RequestError(
                "Signed tokens require a task that names its provider. Write it with tacit task."
            )
        content = path.read_bytes()
        self._keys = [part + END for part in content.split(END)[:-1]]
        if not self._keys:
            raise DataError(f"{path} has no public key in PEM (-----BEGIN PUBLIC KEY-----).")
        self._jwt: Any = jwt
        self._audience = audience

    async def identify(self, token: bytes) -> bytes | None:
        """Implement `TokenSource.identify`."""
        if len(token) > LONGEST:
            return None
        for key in self._keys:
            subject = self._subject(token, key)
            if subject is not None:
                return sha256(b"sub\n" + subject.encode()).digest()
        return None

    def _subject(self, token: bytes, key: bytes) -> str | None:
        required = {"require": ["exp", "sub", "aud"]}
        try:
            claims = self._jwt.decode(
                token, key, list(ALGORITHMS), audience=self._audience, options=required
            )
        except (self._jwt.PyJWTError, ValueError, TypeError):
            return None
        return claims["sub"]


class CheckedTokens:
    """A check by the site: `GET url` with the token, as the collector received it.

    Responses: 200 with {"subject": "..."}, text that is not empty, or 204 for a valid token, and
    401, 403 or 404 for an invalid one. Results are reused for a minute.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._open = build_opener(_NoRedirect).open
        self._results: dict[bytes, tuple[float, bytes | None]] = {}

    async def identify(self, token: bytes) -> bytes | None:
        """Implement `TokenSource.identify`. Raises `UncheckedError` without a response."""
        if len(token) > LONGEST:
            return None
        digest = sha256(token).digest()
        until, identity = self._results.get(digest, (0.0, None))
        if monotonic() < until:
            return identity
        try:
            identity = await asyncio.to_thread(self._check, token, digest)
        except (URLError, HTTPException, OSError, ValueError) as error:
            _note("token-unchecked", "A token could not be checked: %s.", error)
            raise UncheckedError from None
        if len(self._results) >= MOST_FRESH:
            del self._results[next(iter(self._results))]
        self._results[digest] = monotonic() + FRESH, identity
        return identity

    def _check(self, token: bytes, digest: bytes) -> bytes | None:
        request = Request(self._url, headers={"authorization": f"Bearer {token.decode('latin-1')}"})
        try:
            with self._open(request, timeout=SECONDS) as response:
                if response.status == 204:
                    return digest
                subject = json.loads(response.read(LONGEST))["subject"]
                if not isinstance(subject, str) or not subject:
                    raise ValueError("no subject")
        except HTTPError as error:
            with error:  # it is also the response
                if error.code in (401, 403, 404):
                    return None
                raise
        except (KeyError, TypeError):
            raise ValueError("no subject") from None
        return sha256(b"sub\n" + subject.encode()).digest()


def _note(event: str, message: str, error: Exception) -> None:
    cause = type(error).__name__  # messages may contain the token
    log.error(message, cause, extra={"event": event, "cause": cause})


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would send the token to another server."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """Follow no redirect."""


def token_source(address: str, audience: str | None) -> TokenSource:
    """Return the source at an address: a path, `jwt:` and a path, or a URL.

    `audience`: the provider's origin, for signed tokens. Raises `RequestError`, `DataError` and
    `OSError` for an address that cannot be used.
    """
    if address.startswith(("https://", "http://")):
        parts = urlsplit(address)
        if not is_private(origin_of(f"{parts.scheme}://{parts.netloc}")):
            raise RequestError(
                f"The check of tokens must use https, or http on this machine, got {address}."
            )
        return CheckedTokens(address)
    if address.startswith(SIGNED):
        return SignedTokens(Path(address.removeprefix(SIGNED)), audience)
    return TokenFile(Path(address))
