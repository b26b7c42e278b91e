"""A whole page that opens without a network."""

from functools import cache
from html import escape
from importlib.resources import files


def page(title: str, body: str) -> str:
    """A whole page that fetches nothing."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return files("tacit.evaluation.html").joinpath("report.css").read_text("utf-8")
