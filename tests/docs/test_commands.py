"""Every command of the documentation is one that `tacit` has, and does what its page says."""

import contextlib
import re
import shlex
import subprocess
import time
import urllib.request
import zipfile
from pathlib import Path

import polars as pl
import pytest
import typer
from processes import CLI, free_port

from tacit import Rated, compile_channel, perturb
from tacit.cli import app
from tacit.collection.report_file import write_reports
from tacit.readers import synthetic

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```$|((?:^ {4}tacit [^\n]*\n(?: {8}[^\n]*\n)*)+)", re.M | re.S)
ELSEWHERE = {
    "demo": "tests/cli",
    "download": "no network in a test",
    "paper": "tests/studies",
    "simulate": "tests/simulation, against a collector",
    "--install-completion": "changes the shell of whoever runs the tests",
    "spark": "tests/collection and tests/models, with Java",
    "postgresql://": "tests/collector, with a server",
    "fit --db": "tests/cli/test_publish.py, with reports in the store",
    "my_package": "tests/plugin, with a package installed",
    "attempt.py": "tests/cli/test_check.py",
    "--private": "tests/experiments/test_private_choice.py: hundreds of people are needed",
    "tacit admin": "tests/collector/test_runbook.py and others, with reports in the store",
    "tacit models": "tests/cli/test_publish.py and tests/collector/test_runbook.py",
    "tacit shuffle ": "tests/shuffler/test_random_kills.py, with tokens",
    "tacit shuffled count": "tests/cli/test_shuffled.py, with a released batch",
    "tacit shuffled pairs": "tests/cli/test_shuffled.py, with counts",
    "tacit shuffled fit": "tests/cli/test_shuffled.py, with counts",
    "ADDRESS": "stands for an address that the reader has",
}
"""Commands that only the fast test covers, by a word of theirs, and where the rest is shown."""
PLUGIN = """
from dataclasses import dataclass

from tacit.models import Baseline
from tacit.plugins import register


@dataclass(frozen=True, kw_only=True)
class Halfway(Baseline):
    name = "halfway"


register("models", "halfway", Halfway)
"""


LARGE = ("accuracy", "presence", "tasks")
"""Pages whose comparisons take minutes each, however few the ratings are."""


def commands(page):
    """The commands of a page, one line each."""
    blocks = [match[1] or match[2] for match in BLOCK.finditer(page.read_text())]
    joined = re.sub(r"\\\n\s*", "", "\n".join(blocks))
    lines = [line.partition(" #")[0].strip() for line in joined.splitlines()]
    return [line for line in lines if re.match(r"(tacit|printf) ", line)]


FOUND = [(page, line) for page in PAGES for line in commands(page)]


def silenced(command):
    """Return the command without effect: its options are parsed, and then nothing is run."""
    if not hasattr(command, "list_commands"):
        command.callback = lambda **_: None
        return command
    context = command.context_class(command)
    for name in command.list_commands(context):
        command.add_command(silenced(command.get_command(context, name)), name)
    return command


def _lines(separator, rows):
    return "\n".join(separator.join(row) for row in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small file of each name that the pages use."""
    world = tmp_path_factory.mktemp("world")
    ratings = synthetic(60, 40, 1200, rng=1)
    made = ratings.to_polars()
    rows = list(zip(made["user"], made["item"], made["rating"].cast(int), strict=True))
    tabs, colons = ("\n".join(f"{u}{s}{i}{s}{r}{s}1" for u, i, r in rows) for s in ("\t", "::"))
    flags = "|".join(["0"] * 19)
    films = "\n".join(f"{i}|Film {i} (1999)|01-Jan-1999||url|{flags}" for i in ratings.item_ids.ids)
    ids = ratings.item_ids.ids.to_list()
    titles = [f"Film {i} (1999)" for i in ids]
    genres = ["Drama" if i % 2 else "Comedy" for i in ids]
    known = list(zip(map(str, ids), titles, genres, strict=True))
    texts = {
        "u.data": tabs, "ml-100k/u.data": tabs, "u.item": films, "ml-100k/u.item": films,
        "ml-1m/ratings.dat": colons, "movies.csv": f"movieId,title,genres\n{_lines(',', known)}",
        "films.csv": "item,title\n" + _lines(",", [row[:2] for row in known]),
        "new-films.csv": "item,title\n9001,Sunrise\n",
        "mine.csv": "item,rating\n" + _lines(",", [(i, "4") for i, *_ in known[:9]]),
        "my-books.csv": "item,rating\n" + _lines(",", [(str(100 + i), "4") for i in ids[:9]]),
        "ml-1m/movies.dat": _lines("::", known),
        "attempt.py": PLUGIN,
        "customers": "0" * 64,
        "signing/customers": "",
    }  # fmt: skip
    for name, text in texts.items():
        (world / name).parent.mkdir(exist_ok=True)
        (world / name).write_text(text)
    for name in ("ml-100k.zip", "data/ml-100k.zip", "ml-1m.zip"):
        (world / name).parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(world / name, "w") as archive:
            archive.writestr("ml-100k/u.data", tabs)
            archive.writestr("ml-100k/u.item", films)
    made.write_csv(world / "ratings.csv")
    made.write_csv(world / "film-ratings.csv")
    made.with_columns(item=made["item"] + 100).write_csv(world / "book-ratings.csv")
    for kind in ("film", "book"):
        rated = pl.read_csv(world / f"{kind}-ratings.csv")
        rated.select("user", "item").write_csv(world / f"{kind}-clicks.csv")
    channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
    write_reports(perturb(ratings, Rated(channel)), world / "reports.parquet")
    users = ratings.user_ids.ids
    pl.DataFrame({"user": users, "gender": ["f", "m"] * 30}).write_parquet(world / "users.parquet")
    return world


@pytest.mark.parametrize(
    "line", dict.fromkeys(line for _, line in FOUND if line.startswith("tacit "))
)
def test_a_command_of_the_docs_is_understood(line, folder, monkeypatch):
    words = shlex.split(line.partition(" > ")[0])[1:]
    if words[0].endswith("-completion"):  # asks for the shell that runs the command
        return
    monkeypatch.chdir(folder)
    silenced(typer.main.get_command(app))(words, standalone_mode=False)


def test_an_option_that_no_verb_has_is_found(folder, monkeypatch):
    asked = silenced(typer.main.get_command(app))
    with pytest.raises(Exception, match="No such option: --epsilom"):
        asked(["fit", "u.data", "--epsilom", "1"], standalone_mode=False)


def served(line, folder):
    """A command that serves until it is stopped: it answers."""
    words, port = shlex.split(line)[1:], free_port()
    if "--port" in words:
        del words[words.index("--port") : words.index("--port") + 2]
    running = subprocess.Popen([*CLI, *words, "--port", str(port)], cwd=folder)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").status
            assert running.poll() is None, line
            time.sleep(0.1)
        raise AssertionError(f"{line} answers nothing in a minute")
    finally:
        running.terminate()
        running.wait(20)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=page.stem, marks=getattr(pytest.mark, "full" if page.stem in LARGE else "long")
        )
        for page in PAGES
        if commands(page)
    ],
)
def test_the_commands_of_a_page_do_what_they_are_for(page, folder):
    for line in commands(page):
        if any(word in line for word in ELSEWHERE):
            continue
        if line.startswith(("tacit collect", "tacit serve")):
            assert served(line, folder) == 200
            continue
        ran = subprocess.run(
            ["bash", "-c", f"tacit() {{ {shlex.join(CLI)} \"$@\"; }}; {line}"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"
