"""The site: pages in Markdown, the Python reference from docstrings; nothing is fetched."""

import re
from typing import Any

project, author, copyright = "Tacit", "the Tacit authors", "the Tacit authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"navbar_persistent": ["search-field"], "navbar_end": [], "footer_end": []}
html_sidebars = {"**": ["sidebar-nav-bs"]}
html_title = "Tacit"
html_show_sphinx = False
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing_repo"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
exclude_patterns = ["_build"]


def in_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: names in backticks, formulas in indented blocks.

    Napoleon parses those with numpydoc sections, whose indented lines are not formulas.
    """
    if any(line and set(line) == {"-"} for line in lines):
        lines[:] = [re.sub(r"`+([^`]+)`+", r"``\1``", line) for line in lines]
        return
    found: list[str] = []
    in_formula = False
    for line in lines:
        formula = line.startswith("    ") or (in_formula and not line)
        if formula and not in_formula and not (found and found[-1]):
            found += ["::", ""]
        found.append(line if formula else re.sub(r"`+([^`]+)`+", r"``\1``", line))
        in_formula = formula
    lines[:] = found


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", in_rst, priority=400)  # before Napoleon
