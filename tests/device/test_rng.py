"""Where random bits come from, and what happens when there are none."""

import ast
import os
from pathlib import Path

import pytest

import tacit
from tacit.channels.table import secret_word

HOME = Path(tacit.__file__).parent
ON_A_DEVICE = [
    *(HOME / "device").rglob("*.py"),
    *(HOME / "wire").rglob("*.py"),
    *(HOME / "channels").glob("*.py"),
    HOME / "privacy" / "ledger.py",
]
ALLOWED = {"os.urandom", "secrets.randbelow", "secrets.token_bytes"}
SOURCES = ("random", "secrets", "numpy.random", "uuid")


def randomness(tree):
    """Every name of a source of randomness that a file uses."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in SOURCES[:1]}
        elif isinstance(node, ast.ImportFrom) and node.module in SOURCES:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            source, _, member = name.rpartition(".")
            if source in (*SOURCES, "np.random") or member in ("urandom", "getrandom"):
                found.add(name)
    return found


def test_devices_use_the_system_s_randomness_alone():
    used = {file.name: randomness(ast.parse(file.read_text())) for file in ON_A_DEVICE}
    assert len(used) > 20
    assert set().union(*used.values()) == ALLOWED
    assert used["table.py"] == {"os.urandom"}
    assert used["store.py"] == {"secrets.token_bytes"}
    assert used["outbox.py"] == {"secrets.randbelow"}  # when to try again, no secret


@pytest.mark.parametrize(
    "planted",
    ["import random", "from random import choice", "import numpy as np\nnp.random.rand()",
     "import numpy.random as r\nfrom numpy.random import rand", "import uuid\nuuid.uuid4()"],
)  # fmt: skip
def test_another_source_would_be_found(planted):
    assert randomness(ast.parse(planted)) - ALLOWED


def test_forked_children_draw_other_words():
    secret_word()
    reads, writes = os.pipe()
    children = []
    for _ in range(16):
        child = os.fork()
        if child == 0:
            os.write(writes, b"".join(secret_word().to_bytes(8, "little") for _ in range(8)))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    os.close(writes)
    with os.fdopen(reads, "rb") as told:
        words = told.read()
    assert len(words) == 16 * 64
    assert len({words[at : at + 8] for at in range(0, len(words), 8)}) == 16 * 8


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
@pytest.mark.parametrize("good", [0, 3])
def test_without_entropy_nothing_leaves(collector, device, plan, good):
    """A source that fails, at once or half way: no report, no debit, no answer kept."""
    asks, left = collector(plan), [0] * good

    def words():
        if not left:
            raise OSError("no entropy")
        return left.pop()

    mine = device(asks, words=words)
    for item in range(100, 106):
        mine.rate(item, 3)
    with pytest.raises(OSError, match="no entropy"):
        mine.sync()
    assert (asks.uploads, mine.ledger.spent) == ([], 0)
    assert mine.export()["tasks"][0]["answers"] == []
    assert not any(method == "POST" for method, _ in asks.asked)
