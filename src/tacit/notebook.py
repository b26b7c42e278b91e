"""HTML representations of objects in notebooks: a small table and a picture."""

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS, MOST_COLUMNS = 10, 20
"""Most rows and columns of a picture. In larger tables, adjacent entries share a square."""
SIDE = 14
LEFT = 'style="text-align:left"'
LINE = "1px solid rgba(127,127,127,.4)"  # visible on light and dark backgrounds


def card(
    caption: str,
    lines: Iterable[Sequence[object]],
    *,
    heading: Sequence[str] = (),
    picture: str = "",
) -> str:
    """Return an HTML table, with the first cell of each line as its header, and a picture below.

    `picture` is markup. All other text is escaped. The result is well-formed XML.
    """
    columns = "".join(f'<th scope="col" {LEFT}>{escape(name)}</th>' for name in heading)
    head = f"<thead><tr>{columns}</tr></thead>" if heading else ""
    return (
        f'<div><table style="border-top:{LINE};border-bottom:{LINE};color:inherit">'
        f'<caption style="text-align:left;color:inherit">{escape(caption)}</caption>'
        f"{head}<tbody>{''.join(map(_line, lines))}</tbody></table>{picture}</div>"
    )


def heat(table: Sequence[Sequence[float]], words: str) -> str:
    """Return a table of probabilities as a small SVG heat map.

    Opacity is proportional to probability, 1 for the largest. `words`: alternative text.
    """
    across = _runs(len(table[0]), MOST_COLUMNS)
    down = _runs(len(table), MOST_ROWS)
    squares = [[_mean(table, rows, columns) for columns in across] for rows in down]
    most = max(map(max, squares))
    drawn = "".join(
        f'<rect x="{SIDE * x}" y="{SIDE * y}" width="{SIDE}" height="{SIDE}" '
        f'opacity="{share / most:.3g}"/>'
        for y, line in enumerate(squares)
        for x, share in enumerate(line)
    )
    width, height = SIDE * len(squares[0]), SIDE * len(squares)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(words)}" '
        f'width="{width}" height="{height}" fill="currentColor">{drawn}</svg>'
    )


def _line(cells: Sequence[object]) -> str:
    name, *others = (escape(str(cell)) for cell in cells)
    values = "".join(f"<td {LEFT}>{value}</td>" for value in others)
    return f'<tr><th scope="row" {LEFT}>{name}</th>{values}</tr>'


def _runs(count: int, most: int) -> list[range]:
    """Divide `count` indices into at most `most` runs, of one length except the last."""
    length = -(-count // most)
    return [range(start, min(start + length, count)) for start in range(0, count, length)]


def _mean(table: Sequence[Sequence[float]], rows: range, columns: range) -> float:
    return sum(table[y][x] for y in rows for x in columns) / (len(rows) * len(columns))
