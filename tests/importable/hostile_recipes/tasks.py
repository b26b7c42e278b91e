"""Tasks of another shape than a task has."""

from typing import Any

from hostile_recipes.bases import (
    BROKEN,
    DEEP,
    LONG,
    MANY,
    MOVED,
    NAMES,
    NUMBERS,
    OBJECTS,
    STEEP,
    TABLE,
    task,
)


def shapes() -> list[dict[str, Any]]:
    """What is deep, wide or of another type, at each place of a task."""
    places = {
        "format": '"format":"tacit-task-2"',
        "name": '"name":"Films & Bücher"',
        "provider": '"provider":"https://films.example"',
        "plan": '"plan":"rated"',
        "items": f'"items":[{NAMES[0]}]',
        "start": '"start":1000',
    }
    wrong = {
        "deep": DEEP,
        "steep": STEEP,
        "lists": MANY,
        "objects": OBJECTS,
        "numbers": NUMBERS,
        "long": ['"', LONG, '"'],
        "broken": BROKEN,
        "null": ["null"],
        "number": ["1.5"],
    }
    found = []
    for key, old in places.items():
        for why, parts in wrong.items():
            found.append(task(f"{key}: {why}", old, [f'"{key}":', *parts]))
    for why in ("deep", "steep", "lists", "objects", "broken"):
        found.append(task(f"a title: {why}", '"titles":["Alien"', ['"titles":[', *wrong[why]]))
        found.append(task(f"a channel: {why}", '"channels":[', ['"channels":[', *wrong[why], ","]))
        weights = f'"weights":[["{TABLE["weights"][0][0]}"'
        found.append(task(f"a weight: {why}", weights, ['"weights":[[', *wrong[why]]))
        found.append(task(f"an id: {why}", f'"id":"{TABLE["id"]}"', ['"id":', *wrong[why]]))
    return found


def moves() -> list[dict[str, Any]]:
    """What is deep, wide or of another type, at each place of a move and of its key."""
    move = MOVED.moves[0]
    places = {
        "provider_key": f'"provider_key":"{MOVED.provider_key}"',
        "parent": f'"parent":"{move.parent}"',
        "successor": f'"successor":"{move.successor}"',
        "signature": f'"signature":"{move.signature}"',
    }
    wrong = {
        "deep": DEEP,
        "lists": MANY,
        "numbers": NUMBERS,
        "long": ['"', LONG, '"'],
        "broken": BROKEN,
        "null": ["null"],
        "zeros": ['"', {"text": "A", "times": 512}, '"'],
    }
    found = [
        task(f"{key} of a move: {why}", old, [f'"{key}":', *parts], "moved")
        for key, old in places.items()
        for why, parts in wrong.items()
    ]
    end = '"}'
    line = [move.document.decode(), "\n"]
    again = ["\n", {"text": line[0] + "\n", "times": 1200}]
    found += [
        task("a move of later", "tacit-move-1", "tacit-move-2", "moved"),
        task("a move without an end", move.document.decode(), line, "moved"),
        task("a move twice", move.document.decode(), [*line, line[0]], "moved"),
        task("more moves than a task has", "\n" + move.document.decode(), again, "moved"),
        task("more of a move", move.signature + end, f'{move.signature}","more":1}}', "moved"),
        task("a move of http", "https://next", "http://next", "moved"),
        task("a move to elsewhere", "https://next", "https://last", "moved"),
        task("a move without its task", MOVED.document.decode().split("\n")[0] + "\n", "", "moved"),
    ]
    return found


def catalogues() -> list[dict[str, Any]]:
    items = (
        "null",
        "true",
        "1.5",
        "[]",
        "{}",
        '""',
        str(1 << 53),
        '"\\ud800"',
        '"7a"',
        '"' + "x" * 201 + '"',
        '"' + "🎬" * 201 + '"',
    )
    found = [task(f"item {each[:9]}", '["7"', f"[{each}") for each in items]
    found += [
        task("no item", f"[{NAMES[0]}]", "[]"),
        task(
            "a million and one",
            f"[{NAMES[0]}]",
            ["[", {"text": '"7",', "times": 1_000_000}, '"7"]'],
        ),
        task("titles", '["Alien",', "["),
        task("a title", NAMES[1], "[7"),
        task("a surrogate in a title", NAMES[1], '["\\ud800"'),
        task("a surrogate in the name", "Films", "\\ud800"),
        task("no name", "Films & Bücher", ""),
        task("another escape", "Films", "\\u0046ilms"),
        task("bytes that are no text", "Films", [{"hex": "ff"}]),
        task("a surrogate's bytes", "Films", [{"hex": "eda080"}]),
        task("a long plan", '"rated"', ['"sample:', {"text": "9", "times": 100_000}, '"']),
        task("a plan of none", '"sample:3"', '"sample:0"', "sample"),
        task("a plan of too many", '"sample:3"', '"sample:03"', "sample"),
    ]
    keys = ("start", "name", "extra", "__proto__", "constructor")
    found += [
        task(f"{key} again or new", '"start":1000', f'"start":1000,"{key}":1000') for key in keys
    ]
    found += [
        task("a byte order mark", '{"format":"tacit-task-2"', '\ufeff{"format":"tacit-task-2"'),
        task("more after it", '"retention_days":365}', '"retention_days":365} '),
        task("another one after it", '"retention_days":365}', '"retention_days":365}{}'),
        task("cut short", '"retention_days":365}', '"retention_days":365'),
        task("a space", '"start":1000', '"start": 1000'),
        task("spaces", '"start":1000', ['"start":', {"text": " ", "times": 1_000_000}, "1000"]),
        task("missing", ',"start":1000', ""),
    ]
    return found


def gaps() -> list[dict[str, Any]]:
    """What is no list of parts that a task was taken from ratings with."""
    last, catalogue = '"retention_days":365}', '"the catalogue"'
    wrong = {
        "none": ["[]"],
        "null": ["null"],
        "a text": [catalogue],
        "a number": ["[1]"],
        "another": ['["the ratings"]'],
        "twice": [f"[{catalogue},{catalogue}]"],
        "another order": [f'["the rating scale",{catalogue}]'],
        "a space": [f"[ {catalogue}]"],
        "deep": DEEP,
        "lists": MANY,
        "objects": OBJECTS,
        "long": ['["', LONG, '"]'],
        "broken": BROKEN,
    }
    found = [
        task(f"uncovered: {why}", last, [f'{last[:-1]},"uncovered":', *parts, "}"])
        for why, parts in wrong.items()
    ]
    early = f'"uncovered":[{catalogue}],"start":1000'
    return [*found, task("uncovered: not the last key", '"start":1000', early)]
