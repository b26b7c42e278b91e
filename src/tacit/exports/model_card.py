"""Model card of a model file: Markdown with YAML front matter, as model hubs render it."""

from pathlib import Path

from tacit.labels.files import of_model
from tacit.labels.label import Label
from tacit.labels.page import TRUSTED

TAGS = ("recommender-system", "differential-privacy")
USE = """\
```python
from tacit.models import load

model = load("{name}")
```

`tacit recommend {name} --user ID --profile FILE` recommends to a user from their own items, as a
device does."""


def model_card(path: Path) -> str:
    """Return the card of a model file.

    Parameters
    ----------
    path
        File of `tacit fit` or of a collector. The card names it, and its SHA-256.

    Returns
    -------
    str
        Markdown. The guarantee is that of the label, as stated by the provider.

    Raises
    ------
    DataError
        For a damaged model.
    RequestError
        For a file that is not a model.
    """
    label = of_model(path)
    sections = (
        ("Privacy", _privacy(label)),
        ("Use", USE.format(name=path.name)),
        ("File", f"SHA-256: `{label.address}`"),
    )
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"{_front_matter()}\n# {path.name}\n\n{label.leaves}\n\n{body}\n"


def _front_matter() -> str:
    tags = "\n".join(f"- {tag}" for tag in TAGS)
    return f"---\nlibrary_name: tacit\ntags:\n{tags}\n---\n"


def _privacy(label: Label) -> str:
    lines = [guarantee.sentence for guarantee in label.promises]
    lines += [f"Trusted: {TRUSTED[party]}" for party in label.trusted]
    if label.public:
        lines.append(f"Public: {', '.join(label.public)}.")
    if label.uncovered:
        lines.append(f"Inferred from the ratings, which no guarantee covers: "
                     f"{', '.join(label.uncovered)}.")  # fmt: skip
    if label.unbounded:
        lines.append(label.unbounded)
    return "\n\n".join(lines)
