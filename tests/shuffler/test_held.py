"""What a shuffler holds in its files and its memory: no plaintext, and no link when the batch is
available.

The shuffler is a process, whose memory is read as a whole. Freed memory counts: it is not
overwritten by Python, by SQLite or by the web server.
"""

import random
import re
from itertools import pairwise

import pytest
from process_memory import dump
from shuffler_process import KEY, PEOPLE, TOKENS, ShufflerProcess
from shuffling import wait_until

from tacit.collector.ingest.signing_key import SigningKey
from tacit.device.shuffled.sealing import seal
from tacit.shuffler.batch_files import messages_of, tokens_of
from tacit.wire.shuffled.blind_tokens import TOKEN_BYTES, blinded, new_token, unblinded
from tacit.wire.shuffled.task import SEALED_BYTES

MOST_LINKED = 0.15
"""Six standard deviations above 3 / PEOPLE, of 1,290 messages."""
MOST_LINKED_TOKENS = 0.4
"""Six standard deviations above 2 / PEOPLE, of as many tokens."""
PLANTED = {
    "is available before it is renewed": """
from tacit.shuffler.renewal import Renewal
Renewal.request = lambda self: None
shuffler.Shuffler._is_erased = lambda self, address: address in self._deleted
""",
    "is available at the closing": """
async def failing(*arguments):
    raise OSError
shuffler.HeldBundles.delete = failing
shuffler.Shuffler._is_erased = lambda self, address: True
""",
    "retains bundles in a file": """
add = shuffler.Shuffler.add
def retaining(self, writer, task, identity, *sent):
    with open(self._folder / "retained", "ab") as file:
        file.write(identity + b"".join(sent))
    return add(self, writer, task, identity, *sent)
shuffler.Shuffler.add = retaining
""",
    "releases in the order of arrival": """
from tacit.shuffler import batch_files
batch_files.sorted = lambda messages: messages
""",
    "deletes nothing": """
from tacit.collector.storage.sqlite import SqliteStore
SqliteStore.forget = lambda self, task, epoch, byte: 0
""",
}
TOKENS_PLANTED = {
    name: PLANTED[name]
    for name in (
        "is available before it is renewed",
        "is available at the closing",
        "retains bundles in a file",
    )
} | {
    "releases tokens in the order of arrival": """
from tacit.shuffler import batch_files
arrived, add = [], shuffler.Shuffler.add
def recording(self, writer, task, identity, bundle, signed):
    arrived.append(signed)
    return add(self, writer, task, identity, bundle, signed)
shuffler.Shuffler.add = recording
written = batch_files.BatchFiles.write_tokens
batch_files.sorted = lambda values: arrived if values and len(values[0]) == 416 else sorted(values)
batch_files.BatchFiles.write_tokens = lambda self, task, signed: written(self, task, list(signed))
""",
}
OPENS = """
from tacit.device.shuffled.sealing import hpke_suite, sealing_info
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey
key, add, opened = TaskKey.load(Path({key!r})), shuffler.Shuffler.add, []
def opening(self, writer, task, identity, bundle, signed):
    for message in messages_of(bundle):
        info = sealing_info(task.address)
        opened.append(hpke_suite().decrypt(message, key.private, info=info))
    return add(self, writer, task, identity, bundle, signed)
shuffler.Shuffler.add = opening
"""


@pytest.fixture
def holding(tmp_path):
    """Start a shuffler, which ends with the test."""
    started = []

    def start(planted="", **options):
        started.append(ShufflerProcess(tmp_path, planted, **options))
        return started[0]

    yield start
    started[0].server.stop()


class Bundles:
    """Bundles of random messages that have the same first bytes, so that a dump shows them all."""

    def __init__(self, task, seed):
        source = random.Random(seed)
        self._mark = source.randbytes(10)
        count = task.bundle_bytes // SEALED_BYTES
        self.all = [
            b"".join(self._mark + source.randbytes(SEALED_BYTES - 10) for _ in range(count))
            for _ in TOKENS
        ]
        self._sender = {
            message: person for person, body in enumerate(self.all) for message in messages_of(body)
        }

    def linked(self, content):
        """The share of neighbours in some memory whose senders are the same, or arrived in turn.

        Also the number of messages. The share is 1 for bundles, and in a permuted batch nearly
        3 / PEOPLE, because a sender has two neighbours.
        """
        pattern = re.escape(self._mark) + b".{%d}" % (SEALED_BYTES - 10)
        present = re.findall(pattern, content, re.DOTALL)
        senders = [self._sender[each] for each in present if each in self._sender]
        close = sum(abs(first - second) <= 1 for first, second in pairwise(senders))
        return close / max(len(senders) - 1, 1), len(senders)


def links(held, bundles, names):
    """What links a bundle to the batch, in memory and in files."""
    contents = {"memory": dump(held.server.process.pid), "files": held.files()}
    for where, content in contents.items():
        if bundles.linked(content)[0] > MOST_LINKED:
            yield f"the order of messages in {where}"
        if any(name in content for name in names):
            yield f"a name in {where}"
        if any(token.encode() in content for token in TOKENS):
            yield f"a token in {where}"


@pytest.mark.long
@pytest.mark.parametrize("planted", [None, *PLANTED])
def test_no_link_of_a_bundle_to_an_available_batch(holding, planted):
    """Before it, all bundles and names are present, which shows that the search detects them."""
    held = holding(PLANTED.get(planted, ""))
    bundles = Bundles(held.task, 1)
    held.send(bundles.all)
    names = held.names()
    assert len(names) == PEOPLE
    assert {"the order of messages in memory", "the order of messages in files",
            "a name in files"} <= set(links(held, bundles, names))  # fmt: skip
    held.close()
    wait_until(held.is_available)
    batch = held.batch()
    assert bundles.linked(batch)[1] == len(batch) // SEALED_BYTES == 43 * PEOPLE
    assert bool(set(links(held, bundles, names))) is (planted is not None)


def token_links(held, tokens, names):
    """What links a signed token to a person, in memory and in files."""
    contents = {"memory": dump(held.server.process.pid), "files": held.files()}
    person = {token: index for index, token in enumerate(tokens)}
    pattern = b"|".join(re.escape(token) for token in tokens)
    for where, content in contents.items():
        senders = [person[each] for each in re.findall(pattern, content, re.DOTALL)]
        # Copies of one request are neighbours of themselves.
        close = sum(abs(first - second) == 1 for first, second in pairwise(senders))
        if close > MOST_LINKED_TOKENS * len(senders):
            yield f"the order of tokens in {where}"
        if any(name in content for name in names):
            yield f"a name in {where}"


@pytest.mark.long
@pytest.mark.parametrize("planted", [None, *TOKENS_PLANTED])
def test_no_link_of_a_token_to_a_person_when_it_is_available(holding, tmp_path, planted):
    """Tokens are in an order of their own, apart from messages, and the names are deleted."""
    key = SigningKey.generate(tmp_path / "films.pem")
    signed = []
    for _ in TOKENS:
        token = new_token()
        message, inverse = blinded(token, key.modulus)
        signed.append(token + unblinded(token, key.modulus, key.sign(message), inverse))
    held = holding(TOKENS_PLANTED.get(planted, ""), signer=key.modulus)
    bundles = Bundles(held.task, 1)
    held.send([bundle + token for bundle, token in zip(bundles.all, signed, strict=True)])
    names, tokens = held.names(), [each[:TOKEN_BYTES] for each in signed]
    assert len(set(names)) == 2 * PEOPLE
    assert {"a name in memory", "a name in files"} <= set(token_links(held, tokens, names))
    held.close()
    wait_until(held.is_available)
    batch, file = held.batch(), held.batch("tokens")
    assert bundles.linked(batch)[1] == 43 * PEOPLE
    assert set(tokens_of(file)) == set(signed)
    links_of_both = {*links(held, bundles, names), *token_links(held, tokens, names)}
    assert bool(links_of_both) is (planted is not None)


@pytest.mark.long
@pytest.mark.parametrize("opens", [False, True])
def test_no_plaintext_at_any_time(holding, tmp_path, opens):
    """Neither is the key of the provider there."""
    KEY.save(tmp_path / "key")
    held = holding(OPENS.format(key=str(tmp_path / "key")) if opens else "")
    source, mark = random.Random(2), 0xD3916B << 16
    sent = [[mark + source.randrange(1 << 16) for _ in range(43)] for _ in TOKENS]
    held.send([b"".join(seal(each, KEY.public, held.task.address)) for each in sent])
    expected = {message.to_bytes(5, "big") for each in sent for message in each}
    secret = KEY.private.private_bytes_raw()

    def read():
        content = dump(held.server.process.pid) + held.files()
        present = set(re.findall(rb"\xd3\x91\x6b.{2}", content, re.DOTALL))
        return len(present & expected) / len(expected), secret in content

    before = read()
    held.close()
    wait_until(held.is_renewed)
    share, is_secret = max(before, read())
    assert (share > 0.9, is_secret) == (opens, opens)
    assert opens or share < 0.02  # by chance: three bytes of .2 GB, and two of a fiftieth of all
