"""The reference of the command line is what its script generates."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = DOCS / "command_line.py"


def test_committed_page_equals_generated_page():
    page = runpy.run_path(str(SCRIPT))["page"]()
    committed = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert committed == page, "run python docs/command_line.py"


def test_page_is_independent_of_environment(tmp_path):
    code = f"import runpy; print(runpy.run_path({str(SCRIPT)!r})['page'](), end='')"
    known = {"HOME": str(tmp_path), "COLUMNS": "40", "TERM": "dumb", "LANGUAGE": "de"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | known,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == runpy.run_path(str(SCRIPT))["page"]()


def test_help_text_is_escaped_for_a_table():
    described = runpy.run_path(str(SCRIPT))["prose"]
    assert described("One of <a>, see --delta and `x`.") == r"One of \<a>, see `--delta` and `x`."
