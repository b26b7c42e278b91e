"""Writes the recipes of hostile documents: both devices refuse each of them, and take a few others.

    PYTHONPATH=tests/importable python tests/vectors/hostile.py

A recipe says how its document differs from a base, so that a large one is a short line.
`tests/importable/hostile.py` and `tests/page/hostile.js` make the documents.
"""

import json
from pathlib import Path

from hostile_recipes import answers, bases, lists, models, scales, tables, taken, tasks

HERE = Path(__file__).parent
REFUSED = (
    scales.scales, scales.times, scales.providers, tasks.shapes, tasks.moves, tasks.catalogues,
    tasks.gaps, tables.tables, models.headers, models.targets, models.hidden, models.promises,
    models.blocks, lists.headers, lists.hidden, lists.blocks, answers.answers,
)  # fmt: skip


def text() -> str:
    """The file: one recipe a line."""
    spelled = bases.MAKE["spelled"]
    first = [f"{json.dumps(name)}: {spelled(one)}" for name, one in bases.bases().items()]
    parts = ['"bases": {\n' + ",\n".join(first) + "\n}"]
    made = {
        "refused": [recipe for some in REFUSED for recipe in some()],
        "unsaid": answers.unsaid(),
        "taken": taken.taken(),
    }
    for key, recipes in made.items():
        parts.append(f"{json.dumps(key)}: [\n" + ",\n".join(map(spelled, recipes)) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    (HERE / "hostile.json").write_text(text(), encoding="utf-8")
