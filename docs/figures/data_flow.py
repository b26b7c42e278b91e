"""Draw the data flow of the README: python docs/figures/data_flow.py writes data-flow.svg."""

from html import escape
from pathlib import Path

INK, PALE, NOISE, MODEL = "#1f2a37", "#eef2f7", "#b4530a", "#1d5fa8"
STYLE = "font-family: system-ui, sans-serif; font-size: 15px"
WIDTH, HEIGHT = 520, 300


def box(x: int, y: int, width: int, lines: list[str], color: str = INK) -> str:
    """A rounded box with centered lines of text."""
    height = 14 + 19 * len(lines)
    texts = "".join(
        f'<text x="{x + width / 2:g}" y="{y + 22 + 19 * number}" fill="{color}" '
        f'text-anchor="middle">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="#fff" '
        f'stroke="{color}"/>{texts}'
    )


def panel(x: int, title: str) -> str:
    """A column of the drawing: one machine."""
    return (
        f'<rect x="{x}" y="10" width="190" height="{HEIGHT - 20}" rx="10" fill="{PALE}"/>'
        f'<text x="{x + 95}" y="36" text-anchor="middle" font-weight="600" fill="{INK}">'
        f"{escape(title)}</text>"
    )


def arrow(x1: int, y1: int, x2: int, y2: int, color: str = INK) -> str:
    """A straight arrow."""
    return (
        f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{color}" stroke-width="2" fill="none" '
        f'marker-end="url(#{color[1:]})"/>'
    )


def head(color: str) -> str:
    """The arrow head of a color."""
    return (
        f'<marker id="{color[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{color}"/></marker>'
    )


def label(y: int, text: str, color: str) -> str:
    """The words over an arrow between the two machines."""
    return f'<text x="{WIDTH // 2}" y="{y}" text-anchor="middle" fill="{color}">{text}</text>'


def drawing() -> str:
    """The whole figure: devices on the left, the provider on the right."""
    description = (
        "A device randomizes its user's ratings and sends noisy reports. The provider trains an "
        "item model on the reports. The device downloads it and predicts from the true ratings."
    )
    parts = [
        f"<title>Data flow</title><desc>{description}</desc>",
        f"<defs>{''.join(head(color) for color in (INK, NOISE, MODEL))}</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        panel(10, "User's device"),
        panel(WIDTH - 200, "Provider"),
        box(25, 56, 160, ["true ratings", "(never sent)"]),
        box(WIDTH - 185, 56, 160, ["noisy reports"], NOISE),
        box(WIDTH - 185, 160, 160, ["item model"], MODEL),
        box(25, 232, 160, ["predictions,", "recommendations"], MODEL),
        arrow(187, 72, WIDTH - 188, 72, NOISE),
        label(64, "1 randomize", NOISE),
        arrow(WIDTH - 105, 90, WIDTH - 105, 157),
        f'<text x="{WIDTH - 97}" y="128" fill="{INK}">2 train</text>',
        f'<path d="M{WIDTH - 186} 177L230 177L230 250L188 250" stroke="{MODEL}" stroke-width="2" '
        f'fill="none" marker-end="url(#{MODEL[1:]})"/>',
        label(168, "3 download", MODEL),
        arrow(105, 109, 105, 229),
        f'<text x="97" y="176" fill="{INK}" text-anchor="end">4 fold in</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" style="{STYLE}">'
        f"{''.join(parts)}</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("data-flow.svg").write_text(drawing(), encoding="utf-8")
