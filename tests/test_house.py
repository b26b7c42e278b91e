"""The house as a whole: pages name what there is, and no file names what it should not."""

import ast
import importlib.util
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

import tacit
from tacit import errors
from tacit.audit.attacks import ATTACKS
from tacit.channels import MECHANISMS
from tacit.cli import app
from tacit.crossdomain import SYSTEMS
from tacit.models import MODELS
from tacit.readers import FORMATS
from tacit.training import names
from tacit_studies import PAPERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = {str(page.relative_to(ROOT / "docs")): page.read_text() for page in DOCS}

# In parts, so that this file does not name what no file may.
REGISTRY = re.compile(
    "|".join(
        ("pypi" + r"\.org", "python" + "hosted", "anaconda" + r"\.org", "npm" + r"js\.(org|com)")
    )
)
MACHINE = re.compile("|".join(("/wor" + "k/", "/ho" + "me/", "/ro" + "ot/", "/User" + "s/")))


def verbs(command: Any, path: str = "") -> dict[str, Any]:
    """Every verb by its words, groups taken apart."""
    if not hasattr(command, "list_commands"):
        return {path: command}
    context = command.context_class(command)
    subs = {name: command.get_command(context, name) for name in command.list_commands(context)}
    inner = (verbs(sub, f"{path} {name}".strip()) for name, sub in subs.items())
    return {path: leaf for group in inner for path, leaf in group.items()}


COMMAND = typer.main.get_command(app)
VERBS = verbs(COMMAND)


def long_options(command: Any) -> set[str]:
    names = (name for each in command.params for name in (*each.opts, *each.secondary_opts))
    return {name for name in names if name.startswith("--")}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    return [ROOT / name for name in listed.stdout.splitlines()]


def python(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *flags, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", tacit.__all__)
def test_every_public_name_is_on_a_page(name):
    pages = "\n".join([README, *PAGES.values()])
    assert re.search(rf"\b{name}\b", pages), f"no page says what {name} is"


def test_the_verbs_are_found():
    assert {"compare", "channel show", "channel verify"} < set(VERBS)


@pytest.mark.parametrize("verb", list(VERBS))
def test_every_verb_is_in_the_how_to(verb):
    assert re.search(rf"tacit {verb}\b", PAGES["how-to/tasks.md"])


@pytest.mark.parametrize("verb", list(VERBS))
def test_every_verb_and_option_is_in_the_reference(verb):
    page = PAGES["reference/command-line.md"]
    assert f"## tacit {verb}\n" in page
    missing = {o for o in long_options(VERBS[verb]) if not re.search(rf"{o}\b(?!-)", page)}
    assert not missing, f"docs/reference/command-line.md lacks {', '.join(sorted(missing))}"


def test_the_pages_name_no_option_that_is_not_there():
    known = {"--help"} | long_options(COMMAND)
    known |= {option for command in VERBS.values() for option in long_options(command)}
    for name, page in {"README.md": README, **PAGES}.items():
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
        assert named <= known, f"{name} names {', '.join(sorted(named - known))}"


@pytest.mark.parametrize("member", [*MECHANISMS, *MODELS, *names(), *SYSTEMS, *FORMATS, *ATTACKS])
def test_every_member_is_on_the_page_about_extending(member):
    assert f"`{member}`" in PAGES["how-to/extending.md"]


@pytest.mark.long
def test_the_example_on_the_front_page_is_short_and_runs_as_pasted():
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 12
    ran = python(example, "-W", "error")
    assert ran.returncode == 0, ran.stderr
    promise, *items = ran.stdout.splitlines()
    assert promise.startswith("Epsilon = 1 per value, trusting nobody")
    assert len(items) == 5


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_tab_key_knows_the_verbs(shell):
    assert "--show-completion" in PAGES["how-to/tasks.md"]
    asked = {
        "_TACIT_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "tacit comp",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "tacit comp",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    command = [sys.executable, "-m", "tacit"]
    ran = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True)
    assert "compare" in ran.stdout, ran.stderr


def test_links_between_pages_lead_somewhere():
    for page in (ROOT / "README.md", *DOCS):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_no_table_has_an_empty_head():
    """Whoever listens to a page hears a column by its head."""
    for page in (ROOT / "README.md", *DOCS):
        lines = page.read_text().splitlines()
        for head, rule in itertools.pairwise(lines):
            if re.fullmatch(r"\|[-:| ]+\|", rule):
                cells = head.strip("|").split("|")
                assert all(cell.strip() for cell in cells), f"{page.name}: {head}"


def coverage() -> list[list[str]]:
    """The cells of each row on the page of every definition, theorem, figure and table."""
    lines = PAGES["explanation/papers/coverage.md"].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in rows if set(row[0]) != {"-"} and row[0] != "in the paper"]


@pytest.mark.parametrize("row", coverage(), ids=lambda row: row[0])
def test_what_is_said_of_a_paper_can_be_seen(row):
    """A module that is there, and a test or a script that is there, or why there is none."""
    _, here, _, shown, _ = row
    for module in re.findall(r"`(tacit\.[\w.]+)`", here):
        assert importlib.util.find_spec(module), f"there is no {module}"
    commands = re.findall(r"`([^`]+)`", shown)
    assert commands or shown in ("nothing to measure", "not available")
    text = ""
    for command in commands:
        if command.startswith("tacit paper "):
            paper, study = command.removeprefix("tacit paper ").split(" --only ")
            assert PAPERS[paper].chosen([study])
        elif "/" in command:
            text = (ROOT / command).read_text()
        else:
            assert f"def {command}(" in text, f"{command} is no test of that file"


def test_the_structure_holds():
    """No circle, no arrow up, no crowded folder, no long file."""
    command = [sys.executable, ROOT / ".ci" / "structure.py"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert "No circle, no arrow up." in ran.stdout


@cache
def sources() -> list[tuple[Path, str, ast.Module]]:
    """Path, text and tree of every file of the package, read once."""
    paths = sorted((ROOT / "src" / "tacit").rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [(path, text, ast.parse(text)) for path, text in zip(paths, texts, strict=True)]


@cache
def source_names() -> list[tuple[str, str, bool]]:
    """(room, name, whether it is a public class) of every module, class and function."""
    return list(_source_names())


def _source_names() -> Iterator[tuple[str, str, bool]]:
    for path, _, module in sources():
        room = path.relative_to(ROOT / "src" / "tacit").parts[0]
        yield room, path.stem, False
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield room, node.name, isinstance(node, ast.ClassDef) and node.name[0] != "_"


def test_a_public_class_is_defined_in_one_place():
    found = Counter(name for _, name, public in source_names() if public)
    assert not [name for name, times in found.items() if times > 1]


def test_no_name_uses_a_word_that_was_given_up():
    said = PAGES["reference/glossary.md"].partition("classes, functions or modules:")[2]
    given_up = set(re.findall(r"[a-z]+", said))
    assert len(given_up) > 10
    for room, name, _ in source_names():
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
        assert not given_up & set(words), f"{name} in {room}"


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods that no leading underscore hides, nor one of their class."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name[0] != "_":
            yield each
        elif isinstance(each, ast.ClassDef) and each.name[0] != "_":
            yield from public_functions(each)


def test_every_public_function_and_module_says_what_it_is():
    for path, _, module in sources():
        assert ast.get_docstring(module), f"{path.name} has no docstring"
        for function in public_functions(module):
            assert ast.get_docstring(function), f"{path.name} does not say what {function.name} is"


def test_a_docstring_that_refers_to_a_method_names_one():
    methods: set[str] = set()
    named: set[str] = set()
    for _, text, module in sources():
        named |= set(re.findall(r'"(?:As|Implement) `([A-Z]\w+\.\w+)`', text))
        for each in ast.walk(module):
            if isinstance(each, ast.ClassDef):
                methods |= {f"{each.name}.{one.name}" for one in public_functions(each)}
    assert len(named) > 20
    assert named <= methods, f"there is no {', '.join(sorted(named - methods))}"


def raised(function: ast.AST) -> set[str]:
    """The errors of ours that the function raises itself."""
    calls = (node.exc for node in ast.walk(function) if isinstance(node, ast.Raise))
    found = {ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)}
    return found & {name for name in vars(errors) if name.endswith("Error")}


def test_a_function_that_refuses_says_with_what():
    """But for the command line's, whose docstrings are its help."""
    for path, _, module in sources():
        if "cli" in path.parts:
            continue
        for function in public_functions(module):
            text = ast.get_docstring(function) or ""
            silent = {error for error in raised(function) if error not in text}
            assert not silent, f"{path.name}, {function.name} does not say {', '.join(silent)}"


def test_no_file_names_a_registry_or_a_machine():
    for path in tracked():
        text = path.read_text(errors="replace") if path.is_file() else ""
        for pattern in (REGISTRY, MACHINE):
            found = pattern.search(text)
            assert found is None, f"{path.relative_to(ROOT)} names {found and found.group()}"


BARE = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("cryptography", "pandas", "pyarrow"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import importlib.util
found, importlib.util.find_spec = importlib.util.find_spec, lambda name, package=None: (
    None if name == "cryptography" else found(name, package)
)
from tacit import Rated, compile_channel, perturb, synthetic

ratings = synthetic(n_users=50, n_items=60, n_ratings=1200)
channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
print(len(perturb(ratings, Rated(channel))))
"""


def test_the_demo_installs_what_the_tests_do_and_less():
    """Another version of anything would be installed over and over, and tested nowhere."""
    demo, whole = (
        {line.split()[0] for line in (ROOT / name).read_text().splitlines() if "==" in line}
        for name in ("requirements-demo.lock", "requirements.lock")
    )
    assert demo < whole
    assert not [each for each in demo if re.match("pyspark|playwright|nodejs|pytest", each)]


def test_the_extras_are_extra():
    ran = python(BARE)
    assert (ran.returncode, ran.stdout) == (0, "1200\n"), ran.stderr


def imported(ran: subprocess.CompletedProcess[str]) -> set[str]:
    lines = ran.stderr.splitlines()[1:]
    return {line.rpartition("|")[2].strip().split(".")[0] for line in lines}


def test_a_device_imports_nothing_but_the_standard_library():
    ran = python(
        "import tacit.device.client, tacit.device.profile, tacit.channels", "-X", "importtime"
    )
    # What is loaded at every start is not ours; `copy` looks for a Jython module named org.
    others = sys.stdlib_module_names | imported(python("pass", "-X", "importtime")) | {"org"}
    assert imported(ran) - others == {"tacit"}


def test_the_answers_to_a_newcomer_are_there():
    """Each answer is a path in the source, and every word of it is said by at most two folders."""
    rows = re.findall(
        r"^\| [A-Z].*\? \| `([^`]+)`", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    assert len(rows) >= 40
    for answer in rows:
        assert any((ROOT / place / answer).exists() for place in ("src/tacit", ".")), answer
