"""Tables as part of a page, laid out so that they can be read on a phone."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from tacit.evaluation.comparison.tables import Table


def winners(table: Table) -> str:
    """The table that `best` made: under each figure, small, who reached it."""
    columns = range(1, len(table.heading), 2)
    lines = [
        f"<th scope=row>{escape(line[0])}</th>"
        + "".join(_won(line[k], line[k + 1]) for k in columns)
        for line in table.lines
    ]
    heading = [table.heading[0], *(table.heading[k] for k in columns)]
    return _table(table.caption, heading, _body(lines), "winners")


def _won(figure: str, by: str) -> str:
    return f"<td class=n><strong>{escape(figure)}</strong><small>{escape(by)}</small></td>"


def grouped(table: Table) -> str:
    """A table by its first column, the next two in one cell, as `accuracy` and `slice_tables` make
    them."""
    bodies: list[str] = []
    for channel, lines in groupby(table.lines, key=lambda line: line[0]):
        head = f"<th colspan={len(table.heading) - 2} scope=rowgroup>{escape(channel)}</th>"
        bodies.append(_body([head, *map(_figures, lines)]))
    return _table(
        table.caption, (", ".join(table.heading[1:3]), *table.heading[3:]), "\n".join(bodies), "all"
    )


def plain(table: Table) -> str:
    """Any table: one line a line, its first cell the name."""
    lines = [
        f"<th scope=row>{escape(name)}</th>"
        + "".join(f"<td class=n>{escape(figure)}</td>" for figure in figures)
        for name, *figures in table.lines
    ]
    return _table(table.caption, table.heading, _body(lines), "all")


def _figures(line: Sequence[str]) -> str:
    _, model, where, *figures = map(escape, line)
    cells = "".join(f"<td class=n>{figure}</td>" for figure in figures)
    return f"<th scope=row>{model} <small>{where}</small></th>{cells}"


def _body(lines: Sequence[str]) -> str:
    return "<tbody>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</tbody>"


def _table(caption: str, heading: Sequence[str], body: str, kind: str) -> str:
    names = "".join(
        f"<th scope=col{'' if k == 0 else ' class=n'}>{escape(name)}</th>"
        for k, name in enumerate(heading)
    )
    return wide(
        caption,
        f"<table class={kind}><caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{names}</tr></thead>\n{body}</table>",
    )


def wide(name: str, table: str) -> str:
    """What scrolls sideways where there is no room; keys reach it, and `name` says what it is."""
    return f'<div class=wide role=group tabindex=0 aria-label="{escape(name)}">{table}</div>'
