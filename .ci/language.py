"""Count words and phrases that read as translated, by place and kind of text.

    python .ci/language.py            # the table; exits 1 where a count exceeds language.json
    python .ci/language.py --write    # lower the counts of language.json to today's
    python .ci/language.py --list cli # every match of a place: file, line, kind and text

Places are the folders of `src/tacit`, `studies`, `readme` and `docs`. Kinds are help, errors, docs,
docstrings, comments, strings and names. Published counts only fall: `--write` refuses to raise one.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
# Generated from the help texts, which are counted where they are written.
GENERATED = ROOT / "docs" / "reference" / "command-line.md"
SOURCE = ROOT / "src" / "tacit"
STUDIES = ROOT / "tacit-studies" / "src" / "tacit_studies"
COUNTS = Path(__file__).with_name("language.json")
PHRASES = (
    r"t(?:ells?|old|elling)(?![^.]* apart)",
    r"beside",
    r"at home",
    r"whoever|somebody|anybody|nobody(?:'s| has| can| may| knows| else)",
    r"made[ -]up|makes? up",
    r"(?:is|are|was|were) no(?! longer| more| less| such)",
    r"there (?:is|are|was|were) no(?:ne)?",
    r"what there (?:is|are|was|were)",
    r"who did what|who rated what|what goes together",
    r"so many",
    r"goe?s? on|went on|going on",
    r"by (?:commas|itself|themselves)",
    r"says?|said|saying",
    r"knows|knew",
    r"hears?|heard",
    r"lets? go|let in|lingers?",
    r"worth|worthwhile",
    r"taught|teach(?:es)?",
    r"of (?:its|their|ones?|one's) own",
    r"stands? (?:in|at|by|above|below)",
    r"give (?:a|an|one|it|the|some|other|another)",
    r"next to nothing",
    r"floors?",
    r"trainings",
    r"mend(?:s|ed)?",
    r"promis(?:e|es|ed)",
    r"for ever|now and then|all but",
    r"comes? of|came of",
    r"played|plays",
)
NAMES = re.compile(
    r"(?:^|_)(?:found|asked|told|taken|given|own|place|whole|said|kept|worth|chance|strength|opening"
    r"|crossing|outline|beside|floor|taught|spell|spelled|hears|tells|whose|mostly|anyhow)(?=_|$)",
    re.IGNORECASE,
)
PATTERN = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"\bPromise<")
CODE = re.compile(r"`[^`\n]*`|<[^>\n]*>|\{[%{].*?[%}]\}")
SCRIPT = re.compile(
    r"""(?P<comments>/\*.*?\*/|//[^\n]*)|(?P<strings>"[^"\n]*"|`[^`]*`)""", re.DOTALL
)


class Text(NamedTuple):
    """A stretch of text that somebody reads: where it is, its kind and its words."""

    file: Path
    line: int
    kind: str
    words: str


def texts() -> Iterator[Text]:
    """Yield the texts of the package, README and docs, without papers and generated pages."""
    yield from _markdown(ROOT / "README.md")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if "papers" not in path.parts and path != GENERATED:
            yield from _markdown(path)
    for path in sorted((*SOURCE.rglob("*"), *STUDIES.rglob("*"))):
        if path.suffix == ".py":
            yield from _python(path)
        elif path.suffix == ".html":
            yield from _template(path)
        elif path.suffix == ".js" and "uplot" not in path.parts:
            yield from _script(path)


def place(path: Path) -> str:
    """The room of a source file, `readme` or `docs`."""
    if path.is_relative_to(SOURCE):
        return path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if path.is_relative_to(STUDIES):
        return "studies"
    return "readme" if path.name == "README.md" else "docs"


def matches(text: Text) -> int:
    """How often the patterns occur in a text; a name counts once."""
    if text.kind == "names":
        return int(bool(NAMES.search(text.words)))
    return len(PATTERN.findall(CODE.sub(" ", TYPE.sub(" ", text.words))))


def counts() -> dict[str, dict[str, int]]:
    """Matches by place and kind."""
    found: dict[str, Counter[str]] = {}
    for text in texts():
        found.setdefault(place(text.file), Counter())[text.kind] += matches(text)
    return {room: {k: n for k, n in sorted(found[room].items()) if n} for room in sorted(found)}


def _markdown(path: Path) -> Iterator[Text]:
    blank = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), path.read_text(encoding="utf-8"))
    for number, line in enumerate(blank.splitlines(), 1):
        yield Text(path, number, "docs", line)


def _template(path: Path) -> Iterator[Text]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        yield Text(path, number, "comments" if line.startswith("{#") else "strings", line)


def _script(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    for found in SCRIPT.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        yield Text(path, line, found.lastgroup or "", found[0].replace("`", ""))


def _python(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], "comments", token.string)
    yield from _visit(path, ast.parse(source), "strings")


def _visit(path: Path, node: ast.AST, kind: str) -> Iterator[Text]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield Text(path, node.lineno, kind, node.value)
    for name in _bound(node):
        yield Text(path, node.lineno, "names", name)  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        yield from _visit(path, child, _kind(path, node, child, kind))


def _kind(path: Path, node: ast.AST, child: ast.AST, kind: str) -> str:
    """What the strings below a child are read as."""
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        command = isinstance(node, ast.FunctionDef) and node.decorator_list and "cli" in path.parts
        return "help" if command else "docstrings"
    if isinstance(child, ast.keyword) and child.arg in ("help", "epilog", "rich_help_panel"):
        return "help"
    if isinstance(child, ast.Raise) or _is_message(child):
        return "errors"
    return kind


def _is_message(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "id", getattr(called, "attr", ""))
    return name.endswith(("Error", "warn", "notice", "warning"))


def _bound(node: ast.AST) -> list[str]:
    """Names that a statement makes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


def _risen(today: dict[str, dict[str, int]], before: dict[str, dict[str, int]]) -> list[str]:
    return [
        f"{room}: {kind} {n}, at most {before.get(room, {}).get(kind, 0)}"
        for room, kinds in today.items()
        for kind, n in kinds.items()
        if n > before.get(room, {}).get(kind, 0)
    ]


def _print(today: dict[str, dict[str, int]]) -> None:
    kinds = sorted({kind for row in today.values() for kind in row})
    print(f"{'':16}" + "".join(f"{kind:>11}" for kind in kinds))
    total: Counter[str] = Counter()
    for room, row in today.items():
        print(f"{room:16}" + "".join(f"{row.get(kind, 0):11}" for kind in kinds))
        total.update(row)
    print(f"{'total':16}" + "".join(f"{total[kind]:11}" for kind in kinds))


def main(arguments: list[str]) -> int:
    """Print counts, write them, or list the matches of a place."""
    if arguments[:1] == ["--list"]:
        for text in texts():
            if place(text.file) in arguments[1:] and matches(text):
                where = f"{text.file.relative_to(ROOT)}:{text.line}"
                found = NAMES.search(text.words) if text.kind == "names" else None
                shown = [found[0]] if found else PATTERN.findall(CODE.sub(" ", text.words))
                print(f"{where}: {text.kind}: {', '.join(shown)}: {' '.join(text.words.split())}")
        return 0
    today = counts()
    _print(today)
    before = json.loads(COUNTS.read_text()) if COUNTS.exists() else today
    if risen := _risen(today, before):
        rooms = " ".join(dict.fromkeys(line.partition(":")[0] for line in risen))
        hint = f"To see the matches: python .ci/language.py --list {rooms}"
        print("\n".join(["", "Counts that rose:", *risen, hint]), file=sys.stderr)
        return 1
    if arguments == ["--write"]:
        COUNTS.write_text(json.dumps(today, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
