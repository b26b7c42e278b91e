"""Origin of a provider: scheme, host and port, in the notation of a browser's `location.origin`.

Its notation is unique and validated strictly: two URL parsers that disagree would be two devices
that disagree about the provider's identity.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import SplitResult, urlsplit

from tacit.errors import RequestError

FORM = "https://host or https://host:port, in lower case, with no path and no default port"

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_ORIGIN = re.compile(
    rf"(https?)://(?:\[([0-9a-f:]{{2,39}})\]|({_LABEL}(?:\.{_LABEL})*))(?::([1-9][0-9]{{0,4}}))?"
)
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
_MAPPED = re.compile(r"::ffff:[0-9a-f]{1,4}:[0-9a-f]{1,4}")
_PORTS = {"http": "80", "https": "443"}
_LONGEST_NAME = 253
_LONGEST = len("https://") + _LONGEST_NAME + len(":65535")


def is_origin(text: str) -> bool:
    """Return whether the text is an origin of http or https in its unique notation.

    >>> [is_origin(text) for text in ("https://films.example", "https://films.example/")]
    [True, False]
    """
    match = _ORIGIN.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return False
    scheme, six, name, port = match.groups()
    if port is not None and (port == _PORTS[scheme] or int(port) > 65_535):
        return False
    return _is_six(six) if name is None else _is_name(name)


def origin_of(url: str) -> str:
    """Return the origin of a collector's URL, in its unique notation.

    Raises `RequestError` for URLs that are invalid, not http or https, or contain a user name.

    >>> origin_of("HTTPS://Films.example:443/catalogue/")
    'https://films.example'
    """
    try:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{_host(parts)}{_port(parts)}"
    except ValueError:
        origin = ""
    else:
        origin = "" if parts.username is not None else origin
    if not is_origin(origin):
        raise RequestError("The collector's URL is not of the form https://host:port.")
    return origin


def place_of(url: str) -> str:
    """Return the base of requests to a collector at `url`: its origin, and a path prefix."""
    return origin_of(url) + urlsplit(url).path.rstrip("/")


def is_private(origin: str) -> bool:
    """Return whether traffic to this origin is protected: https, or a host on this machine."""
    host = urlsplit(origin).hostname or ""
    return origin.startswith("https://") or host == "localhost" or _is_loopback(host)


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        return f"[{IPv6Address(host)}]"
    return host if host.isascii() else host.encode("idna").decode()


def _port(parts: SplitResult) -> str:
    port = "" if parts.port is None else str(parts.port)
    return "" if port in ("", _PORTS.get(parts.scheme)) else f":{port}"


def _is_six(text: str) -> bool:
    try:
        return str(IPv6Address(text)) == text and not _MAPPED.fullmatch(text)
    except AddressValueError:
        return False


def _is_name(name: str) -> bool:
    """Return whether it is a name, or a canonical IPv4 address.

    Browsers parse a name with a numeric last label as an address.
    """
    if not _NUMERIC.fullmatch(name):
        return len(name) <= _LONGEST_NAME
    try:
        return str(IPv4Address(name)) == name
    except AddressValueError:
        return False


def _is_loopback(host: str) -> bool:
    kind = IPv6Address if ":" in host else IPv4Address
    try:
        return kind(host).is_loopback
    except AddressValueError:
        return False
