"""Versions of `requirements.lock` for what only tests need, as requirements.

    python .ci/test_tools.py

The lowest versions of Tacit's own dependencies are tested with today's test tools: an old tool that
fails says nothing about a dependency.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"[\w-]+")


def names(needs: list[str]) -> set[str]:
    """Names of requirements."""
    return {match[0] for need in needs if (match := NAME.match(need))}


def main() -> None:
    """Print the pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    tools = names(extras.pop("dev"))
    own = names(project["dependencies"]).union(*(names(needs) for needs in extras.values()))
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    for pin in re.findall(r"^[\w-]+(?:\[.*\])?==[^\\\n]+", lock, re.MULTILINE):
        if names([pin]) <= tools - own:
            print(pin.strip())


if __name__ == "__main__":
    main()
