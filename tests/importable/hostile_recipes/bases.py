"""What recipes begin with, what they put there, and how one is written."""

import base64
import json
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from provider_keys import KEY

MAKE = runpy.run_path(str(Path(__file__).parents[2] / "vectors" / "make.py"))
TASK = MAKE["asking"]("rated", provider="https://films.example").document.decode()
FORMER = MAKE["asking"]("catalogue").document.decode()
SAMPLE = MAKE["asking"]("sample:3", provider="https://films.example").document.decode()
KEYED = replace(MAKE["asking"]("rated", provider="https://films.example"), provider_key=KEY.public)
MOVED = KEY.move(replace(KEYED, channels=KEYED.channels[:1]), "https://next.example")
TABLE = json.loads(TASK)["channels"][0]
NAMES = ('"7","7a","300","ä","日本","-1"', '["Alien"')
ADDRESS = "ab" * 32
HUGE = ["-1", {"text": "0", "times": 4000}]
DIGITS = [{"text": "9", "times": 5000}]
LONG = {"text": "x", "times": 1_000_000}
DEEP = [{"text": "[", "times": 100_000}, {"text": "]", "times": 100_000}]
STEEP = [{"text": "[", "times": 900}, {"text": "]", "times": 900}]
MANY = ["[", {"text": "[],", "times": 1_000_000}, "[]]"]
OBJECTS = ["[", {"text": "{},", "times": 500_000}, "{}]"]
NUMBERS = ["[", {"text": "1,", "times": 1_000_000}, "1]"]
BROKEN = [{"text": "[", "times": 70}, '"', {"text": '\\"', "times": 500_000}]


@cache
def bases() -> dict[str, Any]:
    scale = MAKE["STARS"]
    models = {
        "linear": MAKE["published"](scale, "linear", presence=False).to_bytes(),
        "cells": MAKE["published"](scale, "cells", presence=True).to_bytes(),
        "shrinking": MAKE["published"](scale, "cells", presence=True, shrinking=True).to_bytes(),
        "hiding": MAKE["published"](scale, "cells", presence=True).hiding([2, "d"]).to_bytes(),
        "hiding list": MAKE["a_list"](3, 2).hiding([2, "d"]).to_bytes(),
        "across": MAKE["across_domains"](scale).to_bytes(),
        "sparse": MAKE["a_list"](3, 2).to_bytes(),
        "dense": MAKE["a_list"](0, 12).to_bytes(),
    }
    named = {
        "tasks": json.dumps({"tasks": [ADDRESS, "cd" * 32]}, separators=(",", ":")),
        "newest": json.dumps({"model": ADDRESS}, separators=(",", ":")),
        "refusals": json.dumps(
            {"detail": "no", "refused": [{"id": "ab" * 16, "problem": "epoch"}]},
            separators=(",", ":"),
        ),
    }
    return {
        "task": TASK,
        "former": FORMER,
        "sample": SAMPLE,
        "moved": MOVED.document.decode(),
        **named,
        **{name: parted(model) for name, model in models.items()},
    }


def parted(model: bytes) -> dict[str, str]:
    at = model.index(b"\n") + 5
    end = at + int.from_bytes(model[at - 4 : at], "little")
    return {
        "magic": model[: at - 4].decode(),
        "header": model[at:end].decode(),
        "block": base64.b64encode(model[end:]).decode(),
    }


def task(why: str, old: str, new: Any, base: str = "task") -> dict[str, Any]:
    return {"why": why, "kind": "task", "base": base, "edits": [[old, new]]}


def model(
    why: str, old: str = "", new: Any = "", base: str = "cells", **more: Any
) -> dict[str, Any]:
    edits = [[old, new]] if old else []
    return {"why": f"model: {why}", "kind": "model", "base": base, "edits": edits, **more}


def list_model(
    why: str, old: str = "", new: Any = "", base: str = "sparse", **more: Any
) -> dict[str, Any]:
    return {**model(why, old, new, base, **more), "why": f"list: {why}", "kind": "list"}


def parts(text: Any) -> list[Any]:
    return [text] if isinstance(text, str) else text
