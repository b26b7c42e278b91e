"""What every device takes: one that refuses everything is no device."""

import json
from typing import Any

from hostile_recipes.bases import NAMES, TASK, bases, list_model, model, task
from hostile_recipes.lists import WEIGHTS
from hostile_recipes.scales import hiding, interactions
from tacit.channels.table import Channel
from tacit.scale import RatingScale
from tacit.wire.channel import dumps


def wide() -> dict[str, Any]:
    """As many levels as Jester has in hundredths, each answered by a coin."""
    scale = RatingScale.parse("0:2000:1")
    half = 1 << 63
    coin = Channel(scale.levels, (scale.low, scale.high), ((half, half),) * 2001, "0")
    id = json.loads(dumps(coin))["id"]
    row = f'["{half}","{half}"]'
    whole = TASK[TASK.index('"channels":[') : TASK.index('],"start"')]
    table = [
        '"channels":[{"format":"tacit-channel-1","scale":"0:2000:1","levels":[',
        {"numbers": 2001},
        '],"missing":false,"outputs":["0","2000"],"word_bits":64,"weights":[',
        {"text": f"{row},", "times": 2000},
        f'{row}],"epsilon":"0","id":"{id}"}}',
    ]
    edits = [[whole, table], ['"scale":"1:5:1","plan"', '"scale":"0:2000:1","plan"']]
    return {"why": "many levels", "kind": "task", "base": "task", "edits": edits}


def taken() -> list[dict[str, Any]]:
    """What every device takes: one that refuses everything is no device."""
    plain = [
        {"why": "as it is", "kind": kind, "base": base, "edits": []}
        for kind, base in (
            ("task", "task"),
            ("task", "former"),
            ("task", "sample"),
            ("model", "linear"),
            ("model", "cells"),
            ("model", "hiding"),
            ("list", "sparse"),
            ("list", "hiding list"),
            ("list", "dense"),
            ("tasks", "tasks"),
            ("newest", "newest"),
            ("refusals", "refusals"),
        )
    ]
    ten = "9007199254740991"
    tasks = [
        task("the largest start", '"start":1000', f'"start":-{ten}'),
        task("a long id", '["7"', '["' + "🎬" * 200 + '"'),
        task("brackets in a title", NAMES[1], ['["', {"text": "[{", "times": 300_000}, '"']),
        task("quotes in a title", NAMES[1], ['["', {"text": '\\"\\\\', "times": 200_000}, '"']),
        task("another provider", "https://films.example", "http://[2001:db8::1]:8080"),
        task(
            "no titles", TASK[TASK.index('"titles"') : TASK.index(',"channels"')], '"titles":null'
        ),
        task(
            "what is not covered",
            '"retention_days":365}',
            '"retention_days":365,"uncovered":["the catalogue","the rating scale"]}',
        ),
        wide(),
        interactions("there", hiding()),
    ]
    models = [
        model("spelled otherwise", '"factors": 3', '"factors"  :\t3.0'),
        model("spelled otherwise", '"features": 3', '"features":30e-1'),
        model("spelled otherwise", '"items": [0', '"items": [0.0'),
        model("a whole sigma", '"sigma": 0.85', '"sigma": 1'),
        model("a whole sigma", '"sigma": 0.0', '"sigma": 0', "linear"),
        model("in another order", '"scale": "1:5:1", "items"', '"items"', "linear"),
        model("a promise", '"epsilon": null', '"epsilon": "1"'),
        model("a promise that does not hold", '"fails": null', '"fails": "it says so"'),
        model("a short promise", '"exact": false, "fails": null', '"exact": true'),
        model(
            "what is not covered", '"exact": false', '"exact": false, "uncovered": ["the scale"]'
        ),
        model("an escape", '"released": "every', '"released": "\\u0065very'),
        model("spelled otherwise", '"hidden": [2, 3]', '"hidden": [2.0, 3e0]', "hiding"),
        model("hidden alone", '"hidden": [2, 3]', '"hidden": [0]', "hiding"),
    ]
    lists = [
        list_model("spelled otherwise", '"neighbours": 2', '"neighbours"  :\t2.0'),
        list_model("spelled otherwise", '"factors": 3', '"factors":30e-1'),
        list_model(
            "in another order", '"factors": 3, "neighbours": 2', '"neighbours": 2, "factors": 3'
        ),
        list_model("a largest half", block={"at": WEIGHTS, "hex": "ff7bfffb01000080"}),
        list_model("the last place", block={"at": WEIGHTS - 2, "hex": "0b00"}),
        list_model("a promise that does not hold", '"fails": null', '"fails": "it says so"'),
    ]
    models[5]["edits"].append(['"factors"', '"scale": "1:5:1", "factors"'])
    answers = [
        {
            "why": "none asked",
            "kind": "tasks",
            "base": "tasks",
            "edits": [[bases()["tasks"], ' {"tasks" : []} ']],
        },
        {
            "why": "all stored",
            "kind": "refusals",
            "base": "refusals",
            "edits": [[bases()["refusals"], '{"refused":[],"more":{"a":[1e999]}}']],
        },
        {
            "why": "ids that are none",
            "kind": "refusals",
            "base": "refusals",
            "edits": [
                [
                    bases()["refusals"],
                    '{"refused":[{"id":7},{"id":"a","problem":7},{"id":"a","problem":"b"}]}',
                ]
            ],
        },
    ]
    return [*plain, *tasks, *models, *lists, *answers]
