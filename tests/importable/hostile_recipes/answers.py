"""What a collector says in short answers."""

from typing import Any

from hostile_recipes.bases import ADDRESS, DEEP, STEEP, bases


def answers() -> list[dict[str, Any]]:
    wrong: list[Any] = [
        "",
        "null",
        "[]",
        "{}",
        "7",
        '"x"',
        "{",
        '{"tasks":{}}',
        '{"tasks":null}',
        '{"tasks":[7]}',
        '{"tasks":["x"]}',
        f'{{"tasks":["{ADDRESS}","x"]}}',
        f'{{"tasks":"{ADDRESS}"}}',
        f'{{"tasks":["{ADDRESS}"],"more":1}}',
        f'{{"tasks":["{ADDRESS}"],"tasks":["{ADDRESS}"]}}',
        f'{{"tasks":["{ADDRESS.upper()}"]}}',
        f'{{"tasks":["{ADDRESS}\\n"]}}',
        '{"model":[]}',
        '{"tasks":[null]}',
        ['{"tasks":', *STEEP, "}"],
        ['{"tasks":', *DEEP, "}"],
        ['{"tasks":[', {"text": '"",', "times": 90_000}, '""]}'],
        [{"text": " ", "times": 262_145}],
        [{"hex": "ff"}],
        '{"tasks":NaN}',
    ]
    tasks = [
        {"kind": "tasks", "base": "tasks", "edits": [[bases()["tasks"], each]]} for each in wrong
    ]
    models = [
        {"kind": "newest", "base": "newest", "edits": [[bases()["newest"], each]]}
        for each in (
            *wrong[:8],
            '{"model":null}',
            f'{{"model":["{ADDRESS}"]}}',
            '{"model":"x"}',
            '{"model":7}',
        )
    ]
    return [{"why": "an answer", **one} for one in [*tasks, *models]]


def unsaid() -> list[dict[str, Any]]:
    """Refusals that do not say which reports they mean."""
    texts: list[Any] = [
        "",
        "null",
        "[]",
        "{}",
        '{"refused":3}',
        '{"refused":{}}',
        '{"refused":"ab"}',
        '{"refused":[3]}',
        '{"refused":[null]}',
        '{"refused":[[]]}',
        '{"refused":[{"problem":"epoch"}]}',
        '{"refused":null}',
        '{"refused":[],"refused":[]}',
        '{"refused":[{"id":"a","id":"b"}]}',
        '{"refused":[NaN]}',
        ['{"more":', *STEEP, ',"refused":[]}'],
        ['{"more":', *DEEP, ',"refused":[]}'],
        ['{"refused":[]', {"text": " ", "times": 262_144}, "}"],
        [{"hex": "ff"}],
    ]
    return [
        {
            "why": "a refusal",
            "kind": "refusals",
            "base": "refusals",
            "edits": [[bases()["refusals"], each]],
        }
        for each in texts
    ]
