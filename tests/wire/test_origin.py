"""An origin has one spelling, and every URL of a collector comes to one."""

import pytest

from tacit.errors import RequestError
from tacit.wire.origin import is_origin, is_private, origin_of, place_of

ORIGINS = (
    "https://films.example", "https://films.example:8443", "http://127.0.0.1:8000",
    "http://localhost", "https://[::1]", "http://[2001:db8::1:0:0:1]:8000", "https://a_b.example",
    "https://xn--bcher-kva.example", "https://1.2.3.4", "https://4films.example",
    "https://" + "a" * 63,
)  # fmt: skip
NONE = (
    "", "films.example", "ftp://films.example", "https://", "https:// films.example",
    "https://films.example/", "https://films.example/films", "https://films.example?",
    "https://films.example#", "https://me@films.example", "https://Films.example",
    "HTTPS://films.example", "https://films.example:", "https://films.example:443",
    "http://films.example:80", "https://films.example:0", "https://films.example:08443",
    "https://films.example:65536", "https://films.example.", "https://films..example",
    "https://-films.example", "https://" + "a" * 64, "https://" + ".".join(["a" * 63] * 4 + ["b"]),
    "https://bücher.example", "https://1.2.3", "https://1.2.3.04", "https://1.2.3.256",
    "https://films.0x1f", "https://127.1", "https://[::]x", "https://[1::0:1]", "https://[0:0::1]",
    "https://[1:0:0:1:0:0:0:1]", "https://[::FFFF]", "https://[::ffff:1.2.3.4]",
    "https://[::ffff:102:304]", "https://[fe80::1%eth0]", "https://[12345::]",
    "https://films.example\n", "https://films.example\\x",
)  # fmt: skip


def test_one_spelling_is_an_origin_and_no_other():
    assert [text for text in ORIGINS if not is_origin(text)] == []
    assert [text for text in NONE if is_origin(text)] == []


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("HTTPS://Films.Example", "https://films.example"),
        ("https://films.example:443/", "https://films.example"),
        ("http://films.example:80//", "http://films.example"),
        ("https://films.example:8443/a/b/", "https://films.example:8443"),
        ("http://[0:0:0:0:0:0:0:1]:8000", "http://[::1]:8000"),
        ("https://Bücher.example/x", "https://xn--bcher-kva.example"),
        *((origin, origin) for origin in ORIGINS),
    ],
)
def test_every_spelling_of_a_url_has_one_origin(url, origin):
    assert origin_of(url) == origin


def test_a_place_is_an_origin_and_a_path():
    assert place_of("HTTPS://Films.example:443/a/B/") == "https://films.example/a/B"
    assert place_of("https://films.example/") == "https://films.example"


@pytest.mark.parametrize(
    "url", ["", "films.example", "ftp://films.example", "https://", "https://a@b", "https://a:b@c",
            "https://films.example:x", "https://films.example:99999", "https://[::1", "https://127.1"]
)  # fmt: skip
def test_what_has_no_origin_is_refused(url):
    with pytest.raises(RequestError, match="not of the form"):
        origin_of(url)


def test_what_nobody_on_the_way_can_read():
    private = ("https://films.example", "http://localhost:1", "http://127.0.0.1", "http://127.9.9.9:8",
               "http://[::1]:8000")  # fmt: skip
    open_to_all = ("http://films.example", "http://10.0.0.1", "http://localhost.example",
                   "http://[2001:db8::1]", "http://0.0.0.0")  # fmt: skip
    assert all(map(is_private, private))
    assert not any(map(is_private, open_to_all))
