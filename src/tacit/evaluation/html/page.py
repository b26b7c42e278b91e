"""Pages that open without a network, written by templates: what is put in is text, never markup."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

PACKAGE = "tacit.evaluation.html"


def render(template: str, **values: object) -> str:
    """A template of the folder `templates` with these values, escaped but for `Markup`.

    Raises `jinja2.UndefinedError` where the template names a value that is not given.
    """
    return _templates().get_template(template).render(inlined=inlined, **values)


@cache
def inlined(name: str) -> Markup:
    """A file of this package as part of a page, which may fetch nothing: a style or a script."""
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
