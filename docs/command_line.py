"""Generate the reference of the command line from its help texts.

python docs/command_line.py  # writes docs/reference/command-line.md
"""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import typer.main

from tacit.cli import app

PAGE = Path(__file__).parent / "reference" / "command-line.md"
INTRODUCTION = """# Command line

Every command with its arguments and options, as `--help` prints them. `python docs/command_line.py`
generates this page. [Tasks on the command line](../how-to/tasks.md) explains how to use the
commands, what they read and write, and their exit statuses.

Every command also accepts `--help`. An option without a default is not set unless you pass it.
"""
DEFAULT = re.compile(r"\s*\[(?:default: )?([^][]+)\]$")
CODE = re.compile(r"(`[^`]*`|(?<![\w-])--?[a-z](?:[\w-]*\w)?)")


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path and the command of every node of the command tree, parents first."""
    yield path, command
    if not hasattr(command, "list_commands"):
        return
    context = command.context_class(command, info_name=path)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if not child.hidden:
            yield from commands(child, f"{path} {name}")


def prose(text: str) -> str:
    """Escape help text for Markdown, with options as code."""
    parts = enumerate(CODE.split(text))
    marked = (f"`{p.strip('`')}`" if n % 2 else re.sub(r"([*<\\])", r"\\\1", p) for n, p in parts)
    return "".join(marked)


def description(text: str) -> str:
    """Convert the help of a command to Markdown, with its examples as code."""
    blocks = []
    for block in text.replace("Example: ", "Example:\n\n    ").split("\n\n"):
        if block.startswith("    "):
            code = re.sub(r"\s*\\?\n\s*(?=-)", " \\\\\n    ", dedent(block))
            blocks.append(f"```text\n{code}\n```")
        else:
            blocks.append(prose(block))
    return "\n\n".join(blocks).replace("\n```\n\n```text\n", "\n")


def default(parameter: Any) -> str:
    """Return the default of a parameter as Markdown, empty if there is none."""
    if parameter.required:
        return "required"
    if isinstance(parameter.default, bool):
        return "on" if parameter.default else "off"
    if parameter.default is not None:
        return f"`{getattr(parameter.default, 'value', parameter.default)}`"
    shown = parameter.show_default
    stated = DEFAULT.search(parameter.help or "")
    return prose(shown if isinstance(shown, str) else stated[1] if stated else "")


def kind(parameter: Any, context: Any) -> str:
    """Return the metavariable or the type of a parameter, with its bounds."""
    if getattr(parameter, "is_flag", False):
        return "flag"
    shown = parameter.display_type_rich(context).strip("<>").removesuffix(" range")
    shown = re.sub(r"list\[(.*)\]", lambda found: f"{found[1].lower()}...", shown)
    bounds = ((">=", getattr(parameter, "min", None)), ("<=", getattr(parameter, "max", None)))
    limits = ", ".join(f"{sign} {bound}" for sign, bound in bounds if bound is not None)
    return f"`{shown} {limits}`" if limits else f"`{shown}`"


def row(parameter: Any, context: Any) -> str:
    """Return the table row of an argument or option."""
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    text = prose(DEFAULT.sub("", parameter.help or ""))
    cells = (names, kind(parameter, context), default(parameter), text)
    return "| " + " | ".join(" ".join(cell.replace("|", r"\|").split()) for cell in cells) + " |"


def section(path: str, command: Any) -> str:
    """Return the section of a command: help, usage, arguments and options."""
    context = command.context_class(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    blocks = [f"## {path}", description(command.help or ""), f"Usage: `{usage}`"]
    rows = [row(each, context) for each in command.params if not each.hidden]
    if rows:
        head = ["| argument or option | type | default | description |", "|---|---|---|---|"]
        blocks.append("\n".join([*head, *rows]))
    return "\n\n".join(blocks) + "\n"


def summary(path: str, command: Any) -> str:
    """Return the line of a command in the overview, linked to its section."""
    first = (command.help or "").partition("\n\n")[0]
    return f"| [`{path}`](#{path.replace(' ', '-')}) | {' '.join(prose(first).split())} |"


def page() -> str:
    """Return the complete page."""
    known = list(commands(typer.main.get_command(app), "tacit"))
    overview = [summary(*each) for each in known[1:]]
    head = ["| command | summary |", "|---|---|"]
    sections = [section(*each) for each in known]
    return "\n".join([INTRODUCTION, *head, *overview, "", *sections])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
