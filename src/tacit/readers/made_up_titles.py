"""Titles of synthetic films, for demonstrations."""

from tacit.errors import RequestError

QUALITIES = (
    "Quiet", "Second", "Borrowed", "Glass", "Distant", "Last", "Crooked", "Silver", "Hungry",
    "Patient", "Electric", "Forgotten", "Northern", "Painted", "Reluctant", "Burning", "Paper",
    "Midnight", "Gentle", "Impossible", "Velvet", "Stolen", "Winter", "Honest", "Hollow", "Golden",
    "Wandering", "Careful", "Broken", "Invisible", "Salted", "Restless", "Emerald", "Sleeping",
    "Unwritten", "Marble", "Distracted", "Thirteenth", "Drowned", "Ordinary",
)  # fmt: skip
THINGS = (
    "Harbour", "Orchard", "Letter", "Clockmaker", "River", "Witness", "Garden", "Lantern",
    "Passenger", "Season", "Mirror", "Cartographer", "Storm", "Library", "Violin", "Frontier",
    "Neighbour", "Bridge", "Summer", "Detective", "Island", "Promise", "Machine", "Waltz",
    "Lighthouse", "Inheritance", "Train", "Sparrow", "Kitchen", "Kingdom", "Stranger", "Alphabet",
    "Mountain", "Photograph", "Thief", "Carnival", "Window", "Voyage", "Choir", "Rehearsal",
    "Tailor", "Archive", "Meadow",
)  # fmt: skip


def made_up_titles(count: int) -> list[str]:
    """Return `count` distinct titles, always the same, at most 1,720.

    Raises `RequestError` for more.

    >>> made_up_titles(3)
    ['The Quiet Harbour', 'The Second Orchard', 'The Borrowed Letter']
    """
    most = len(QUALITIES) * len(THINGS)
    if count > most:
        raise RequestError(f"count must be at most {most} titles, got {count}.")
    # The lengths of the lists are coprime, so no pair occurs twice.
    return [f"The {QUALITIES[k % len(QUALITIES)]} {THINGS[k % len(THINGS)]}" for k in range(count)]
