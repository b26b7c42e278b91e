"""Channels that prove nothing, or are none."""

import json
from typing import Any

from hostile_recipes.bases import HUGE, TABLE, parts, task


def tables() -> list[dict[str, Any]]:
    first, id = TABLE["weights"][0][0], TABLE["id"]
    row = json.dumps(TABLE["weights"][0], separators=(",", ":"))
    weights = (
        '"0"',
        '"-1"',
        '"1e3"',
        '" 1"',
        '"01"',
        '"1_0"',
        '"٣"',
        "1",
        "null",
        '""',
        '"' + "9" * 21 + '"',
        f'"{int(first) + 1}"',
    )
    found = [task(f"weight {each}", f'[["{first}"', f"[[{each}") for each in weights]
    for bits in ("-1", "0", "63", "65", "64.0", '"64"', "true", str(1 << 53), HUGE):
        found.append(task("word_bits", '"word_bits":64', ['"word_bits":', *parts(bits)]))
    epsilons: list[Any] = [
        '"0.49"',
        '"1e5"',
        '"NaN"',
        '"-1"',
        '""',
        '"0.50"',
        '" 0.5"',
        '"1000"',
        "0.5",
        '"0.5000000000000000001"',
        ['"', {"text": "9", "times": 1_000_000}, '"'],
        ['"0.', {"text": "1", "times": 100_000}, '"'],
    ]
    for epsilon in epsilons:
        found.append(task("epsilon", '"epsilon":"0.5"', ['"epsilon":', *parts(epsilon)]))
    outputs: list[Any] = [
        '"1e999"',
        '"NaN"',
        '"1.0"',
        f'"{"9" * 41}"',
        f'"0.{"1" * 41}"',
        "1",
        "[]",
        ['"', {"text": "9", "times": 1_000_000}, '"'],
    ]
    for output in outputs:
        found.append(task("an output", '"outputs":["1"', ['"outputs":[', *parts(output)]))
    many = [{"text": '"1",', "times": 32_768}, '"1"]']
    found += [
        task("outputs", '"outputs":["1","2","3","4","5"]', ['"outputs":[', *many]),
        task("no outputs", '"outputs":["1","2","3","4","5"]', '"outputs":[]'),
        task("a row too many", f'"weights":[{row}', f'"weights":[{row},{row}'),
        task(
            "rows", f'"weights":[{row}', ['"weights":[', {"text": f"{row},", "times": 20_000}, row]
        ),
        task(
            "a long row",
            f'"weights":[{row}',
            ['"weights":[[', {"text": '"1",', "times": 300_000}, '"1"]'],
        ),
        task("a short row", f'"weights":[{row}', '"weights":[["18446744073709551616"]'),
        task("no row", f'"weights":[{row},', '"weights":['),
        task("levels", '"levels":["1","2"', ['"levels":[', {"numbers": 100_000}, ',"2"']),
        task("another level", '"levels":["1","2"', '"levels":["1","1"'),
        task("missing is a number", '"missing":false', '"missing":0'),
        task("missing", '"missing":false', '"missing":true'),
        task("an id", f'"id":"{id}"', f'"id":"{"0" * 64}"'),
        task("no id", f'"id":"{id}"', '"id":null'),
        task("a key again", f'"id":"{id}"', f'"id":"{id}","id":"{id}"'),
        task("a key more", f'"id":"{id}"', f'"id":"{id}","more":1'),
        task("channels", '"channels":[', ['"channels":[', {"text": "{},", "times": 100_000}]),
        task("no channels", '"missing":false,', ""),
        task("presence", '"plan":"rated"', '"plan":"catalogue"'),
        task("no presence", '"plan":"catalogue"', '"plan":"rated"', "former"),
    ]
    return found
