"""What is short to write and long to build: scales, times, origins."""

import json
from typing import Any

from hostile_recipes.bases import DIGITS, HUGE, LONG, bases, model, parts, task
from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.scale import RatingScale
from tacit.wire import channel as wire_channel

ONE = RatingScale.parse("there")


def scales() -> list[dict[str, Any]]:
    """A scale is short to write and long to build."""
    high = "9" * 40
    texts: list[Any] = [
        "0:100000000:1",
        "1:5:1e-30",
        f"1:5:0.{'0' * 29}1",
        "0:1e999999:1",
        f"0:9{high}:1",
        f"-{high}:{high}:0.{'0' * 39}1",
        f"0:{high}:1",
        "0:65536:1",
        "NaN:5:1",
        "sNaN:5:1",
        "1:Infinity:1",
        "1:5:-1",
        "1:5:0",
        "5:1:1",
        "1:1:1",
        "1:5:3",
        " 1:5:1",
        "1_0:20:1",
        "１:5:1",
        "1:5",
        "1:5:1:1",
        "",
        ":::",
        "-0:5:1",
        "1.0:5:1",
        [LONG, ":5:1"],
        [{"text": "9", "times": 1_000_000}, ":5:1"],
        ["1:5:0.", {"text": "0", "times": 1_000_000}, "1"],
    ]
    found = [task("scale", '"scale":"1:5:1","plan"', quoted("scale", text)) for text in texts]
    table = '"tacit-channel-1","scale":"1:5:1"'
    for text in texts[:6]:
        found.append(
            task("scale of a channel", table, ['"tacit-channel-1","scale":"', *parts(text), '"'])
        )
    for text in texts[:8]:
        old = '"scale": "1:5:1"'
        found.append(model("scale", old, ['"scale": "', *parts(text), '"']))
    return [*found, *marks(), model("scale there", '"scale": "1:5:1"', '"scale": "there"')]


def interactions(scale: str, channel: Channel, base: str = "sample") -> dict[str, Any]:
    """A task that asks who did what, through one channel, its scale so spelled."""
    document = json.loads(bases()[base])
    channels = json.dumps(document["channels"], separators=(",", ":"))
    recipe = task(f"scale {scale}", channels, f"[{wire_channel.dumps(channel)}]", base)
    recipe["edits"].append(['"scale":"1:5:1","plan"', f'"scale":"{scale}","plan"'])
    return recipe


def hiding() -> Channel:
    """What hides presence, and there is nothing else to hide."""
    return compile_channel("randomized-response", epsilon="1", scale=ONE, missing=True)


def marks() -> list[dict[str, Any]]:
    """Tasks of one level that show who did what, or spell their scale otherwise."""
    bare = Channel(ONE.levels, (ONE.low,), ((1 << 64,),), "1")
    spellings = ("There", "THERE", "there ", "thеre", "1:1:1", "1:5:1")
    return [
        interactions("there", bare, "task"),
        interactions("there", hiding(), "task"),
        interactions("there", bare),
        *(interactions(scale, hiding()) for scale in spellings),
    ]


def quoted(key: str, text: Any) -> list[Any]:
    return [f'"{key}":"', *parts(text), '","plan"']


def times() -> list[dict[str, Any]]:
    values: list[Any] = [
        HUGE,
        ["1", HUGE[1]],
        DIGITS,
        str(1 << 53),
        str(-(1 << 53)),
        "1e400",
        "1e3",
        "NaN",
        "Infinity",
        "-0",
        "1.0",
        "true",
        "null",
        '"0"',
        "[0]",
        "{}",
    ]
    found = [task("start", '"start":1000', ['"start":', *parts(value)]) for value in values]
    for key, old in (("epoch_seconds", 86400), ("window", 7), ("retention_days", 365)):
        for value in (HUGE, DIGITS, str(1 << 53), "-1", "1.5"):
            found.append(task(key, f'"{key}":{old}', [f'"{key}":', *parts(value)]))
    return found


def providers() -> list[dict[str, Any]]:
    origins: list[Any] = [
        "https://films.example/",
        "https://Films.example",
        "https://films.example:443",
        "films.example",
        "https://",
        "",
        "javascript:alert(1)",
        "https://films.example:99999",
        "https://127.1",
        "https://[::1",
        "https://[0:0::1]",
        "https://a@b",
        ["https://", LONG],
        ["https://", {"text": "a.", "times": 200_000}, "a"],
        ["https://[", {"text": ":", "times": 100_000}, "]"],
    ]
    old = '"provider":"https://films.example"'
    found = [task("provider", old, ['"provider":"', *parts(each), '"']) for each in origins]
    return [
        *found,
        task("a format of no provider", '"tacit-task-2"', '"tacit-task-1"'),
        task("a format that wants one", '"tacit-task-1"', '"tacit-task-2"', "former"),
        task("a format of later", '"tacit-task-2"', '"tacit-task-3"'),
    ]
