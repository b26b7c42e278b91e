"""What is on the page, read as text: nothing from elsewhere, nothing inline, nothing loose."""

import re
from pathlib import Path

import pytest

import tacit

PAGE = Path(tacit.__file__).parent / "page"
SCRIPTS = sorted(PAGE.rglob("*.js"))
DEVICE = [path for path in SCRIPTS if path.is_relative_to(PAGE / "device")]
KINDS = {".html", ".css", ".js", ".svg"}
IMPORT = re.compile(r'\b(?:from|import)\s*\(?\s*"([^"]+)"')
ELSEWHERE = re.compile(r"https?:|//[a-z]|\bimport\(\s*[^\")]|\beval\b|innerHTML|new Function")
SHOWN = re.compile(
    r"\bwindow\.|\bdocument\.(createElement|querySelector|getElementById|body)|\bHTML[A-Z]"
)
TRACES = re.compile(r"console\.|localStorage|sessionStorage|document\.cookie|navigator\.sendBeacon")


def bare(text: str) -> str:
    """The code without its comments."""
    return re.sub(r"/\*.*?\*/|(?<![:\"])//[^\n]*", "", text, flags=re.DOTALL)


def test_the_page_is_static_files_alone():
    assert {path.suffix for path in PAGE.rglob("*") if path.is_file()} <= KINDS


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", DEVICE, ids=lambda path: path.name)
def test_the_device_knows_neither_the_document_nor_what_shows_it(path):
    text = path.read_text(encoding="utf-8")
    assert not SHOWN.search(bare(text))
    assert not any("/view/" in name for name in IMPORT.findall(text))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_loads_its_neighbours_only_and_leaves_no_trace(path):
    text = path.read_text(encoding="utf-8")
    code = bare(text)
    for name in IMPORT.findall(text):
        assert name.startswith("."), f"{path.name} loads {name}"
        found = (path.parent / name).resolve()
        assert found in SCRIPTS, f"{path.name} loads {name}, which is not there"
    assert not ELSEWHERE.search(code)
    assert not TRACES.search(code)
    assert not re.search(r"\{any\}|<any\b|\bany\[\]|@ts-(ignore|nocheck|expect-error)", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_chance_that_is_no_secret_is_for_waiting_alone(path):
    assert "Math.random" not in path.read_text() or path.name == "outbox.js"


def test_the_document_has_no_inline_script_or_style():
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert re.findall(r"<script[^>]*>([^<]*)</script>", text) == [""]
    for name in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert (PAGE / name).is_file()


def test_the_style_says_nothing_and_knows_no_left_or_right():
    """Words are elsewhere, and a language may be read from right to left."""
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    assert not re.search(r'content:\s*"[^"]*\w', style)
    sided = r"(?<![\w-])(?:(?:margin|padding|border|inset)-)?(?:left|right)(?:-[a-z]+)*\s*:"
    assert not re.search(sided + r"|:\s*(?:left|right)\b", style)
    four = r"(?:margin|padding): [^\s;]+ ([^\s;]+) [^\s;]+ ([^\s;]+);"
    for start, end in re.findall(four, style):
        assert start == end
