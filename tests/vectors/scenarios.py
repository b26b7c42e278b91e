"""Spells the bytes that `device_scenarios.json` expects to leave, out of what it says in words.

    python tests/vectors/scenarios.py

What a step may do is in the tables `ACTS` of tests/importable/scenario_device.py and its twin,
tests/page/scenario_device.js; what it does not state is nothing. A report that leaves is stated as
[epoch, table, [place, value, word]..]: for each place the value that is answered for (null: not
rated), and the number of the word that its symbol was drawn with. This writes the bytes of it below
the scenarios, by docs/reference/wire.md alone: it imports nothing of what it tests.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from hmac import digest
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("device_scenarios.json")
Held = dict[str, Any]


def spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def first(held: Held, task: str) -> str:
    """The name of the task that a chain of extensions began with."""
    while "extends" in held["tasks"][task]:
        task = held["tasks"][task]["extends"]
    return task


def items(held: Held, task: str) -> list[Any]:
    """The items of a task, those that it extends first."""
    fields = held["tasks"][task]
    before = items(held, fields["extends"]) if "extends" in fields else []
    return before + fields.get("items", [])


def document(held: Held, task: str) -> str:
    """The one spelling of a task, with the tables that it names; an extension is one more line."""
    fields = held["tasks"][task]
    if "extends" in fields:
        added = {key: fields[key] for key in fields if key != "extends"}
        kind = f"extension-{2 if 'threshold' in added else 1}" if "items" in added else "move-1"
        head = {"format": f"tacit-{kind}"}
        head |= {"parent": address(held, fields["extends"])}
        return document(held, fields["extends"]) + "\n" + spelled(head | added)
    return spelled(fields | {"channels": [held["tables"][name] for name in fields["channels"]]})


def address(held: Held, task: str) -> str:
    return sha256(document(held, task).split("\n")[-1].encode()).hexdigest()


def mac(held: Held, secret: int, text: str) -> bytes:
    return digest(bytes.fromhex(held["secrets"][secret]), text.encode(), "sha256")


def erasure_key(held: Held, secret: int, task: str) -> bytes:
    task = first(held, task)
    provider = held["tasks"][task]["provider"]
    return mac(held, secret, f"tacit-person-2\n{provider}\n{address(held, task)}")


def person(held: Held, secret: int, task: str) -> str:
    task = first(held, task)
    if "provider" in held["tasks"][task]:
        whole = sha256(erasure_key(held, secret, task)).digest()
    else:
        whole = mac(held, secret, f"tacit-person-1\n{address(held, task)}")
    return whole[:16].hex()


def report_id(held: Held, secret: int, task: str, epoch: int, slot: int | str) -> str:
    task = first(held, task)
    provider = held["tasks"][task].get("provider")
    head = f"tacit-report-2\n{provider}" if provider else "tacit-report-1"
    return mac(held, secret, f"{head}\n{address(held, task)}\n{epoch}\n{slot}")[:16].hex()


def block_names(held: Held, secret: int, task: str, epoch: int, place: int) -> tuple[str, str]:
    """The id of the report on the block that holds a place, and the block's key."""
    while place < len(items(held, task)) - len(held["tasks"][task].get("items", [])):
        task = held["tasks"][task]["extends"]
    block, root = address(held, task), held["tasks"][first(held, task)]
    generation = sum(each <= epoch for each in root["extendable"]["renewals"])
    where = f"{root['provider']}\n{address(held, first(held, task))}\n{block}\n{generation}"
    texts = f"tacit-block-report-1\n{where}", f"tacit-block-1\n{root['provider']}\n{block}"
    id, key = (mac(held, secret, text)[:16].hex() for text in texts)
    return id, key


def symbol(table: Held, value: str | None, word: str) -> int:
    """The column on whose share of the row the word falls."""
    row = 0 if value is None else table["levels"].index(value) + table["missing"]
    left = int(word, 16) >> (64 - table["word_bits"])
    for column, weight in enumerate(map(int, table["weights"][row])):
        if left < weight:
            return column
        left -= weight
    raise ValueError(f"Row {row} sums to less than the word.")


def report(held: Held, names: tuple[int, str], said: list[Any]) -> str:
    """The bytes of one report; a cell of a store from before states its symbol after its value."""
    epoch, name, *cells = said
    table, root = held["tables"][name], held["tasks"][first(held, names[1])]
    slot, schema, key = cells[0][0] if root["plan"] == "rated" else "all", 1, ""
    id = report_id(held, *names, epoch, slot)
    if "extendable" in root:
        id, block = block_names(held, *names, epoch, cells[0][0])
        schema, key = 2, f'"key":"{block}",'
    width = len(str(len(table["outputs"]) - 1))
    drawn = [
        rest[1] if rest[0] is None else symbol(table, value, held["words"][rest[0]])
        for _, value, *rest in cells
    ]
    pairs = zip(cells, drawn, strict=True)
    shown = ",".join(f"[{cell[0]},{column:{width}}]" for cell, column in pairs)
    return (
        f'{{"id":"{id}","mech":"{table["id"]}","schema":{schema},"epoch":{epoch},'
        f'"person":"{person(held, *names)}",{key}"cells":[{shown}]}}'
    )


def body(held: Held, request: Held) -> str:
    """The body of a request; `as`: whose names it uses, (number of a secret, task)."""
    if "erase" in request:
        return spelled({"key": erasure_key(held, *request["erase"]).hex()})
    names = request.get("as", [0, request["to"]])
    return '{"reports":[' + ",".join(report(held, names, one) for one in request["reports"]) + "]}"


def bodies(held: Held) -> Iterator[tuple[str, list[str]]]:
    """By scenario all that leaves in it, in order."""
    for scenario in held["scenarios"]:
        requests = [one for step in scenario["steps"] for one in step.get("sends", [])]
        yield scenario["name"], [body(held, request) for request in requests]


def listed(values: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(k)}: {spaced(v)}" for k, v in values.items()) + "\n}"


def spaced(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def story(scenario: Held) -> str:
    """A scenario, one step a line."""
    head = spaced({key: value for key, value in scenario.items() if key != "steps"})
    steps = ",\n".join(f"  {spaced(step)}" for step in scenario["steps"])
    return f'{head[:-1]}, "steps": [\n{steps}\n]}}'


def text(held: Held) -> str:
    """The file: what it says in words as it is, and the bytes anew."""
    parts = [f'"{key}": {spaced(held[key])}' for key in ("secrets", "words")]
    parts += [f'"{key}": {listed(held[key])}' for key in ("tables", "tasks")]
    parts.append('"scenarios": [\n' + ",\n".join(map(story, held["scenarios"])) + "\n]")
    sent = {name: said for name, said in bodies(held) if said}
    lines = (f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, said)) + "\n]"
             for name, said in sent.items())  # fmt: skip
    parts.append('"bodies": {\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(json.loads(FILE.read_text(encoding="utf-8"))), encoding="utf-8")
