"""Self-contained HTML pages from templates. Values are escaped."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

PACKAGE = "tacit.evaluation.html"


def render(template: str, **values: object) -> str:
    """Render a template of the folder `templates`. Values are escaped, except `Markup`.

    Raises `jinja2.UndefinedError` for a missing value.
    """
    return _templates().get_template(template).render(inlined=inlined, **values)


@cache
def inlined(name: str) -> Markup:
    """Return a style sheet or a script of this package, to inline it into a page."""
    return Markup(files(PACKAGE).joinpath(name).read_text("utf-8"))


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
