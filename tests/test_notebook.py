"""The notebook in the examples: it runs as it stands, without a screen, and shows what it says."""

import ast
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

pytest.importorskip("pandas")

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "examples" / "notebook.py").read_text()
CELLS = [cell.partition("\n")[2] for cell in re.split(r"^# %%", TEXT, flags=re.MULTILINE)[1:]]


def shown(cell, names):
    """Run a cell; what a notebook would show of it, the value of an expression that ends it."""
    *first, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        exec(cell, names)
        return None
    exec(compile(ast.Module(first, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.long
def test_it_runs_from_the_first_cell_to_the_last(capsys):
    names = {}
    _, found, best = [shown(cell, names) for cell in CELLS]
    promise, *items = capsys.readouterr().out.splitlines()
    assert promise.startswith("Epsilon = 1 per value, trusting nobody")
    assert len(items) == 5
    assert isinstance(found.figure(), Figure)
    assert "<svg" in found._repr_html_()
    assert best.columns == ["user", "item", "rating"]
    assert best["user"].to_list() == [
        user for user in names["frame"]["user"].unique() for _ in "12345"
    ]


def test_it_is_short():
    lines = [line.strip() for cell in CELLS for line in cell.splitlines()]
    assert sum(bool(line) and not line.startswith("#") for line in lines) <= 15


def test_its_first_cell_is_the_example_on_the_front_page():
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    assert example.group(1).strip() == CELLS[0].strip()
