"""Readers: parse rating files and frames into `Ratings`, in file order.

    ratings = tacit.readers.read("ml-100k/u.data")
    ratings = tacit.readers.from_frame(frame, columns={"user": "member"}, scale="1:5:1")

Automatic decisions of a reader (an inferred scale, rounded ratings, dropped repeats) are reported
to `notify`, by default a warning of the logger `tacit.readers`.
"""

from tacit.readers.declared import catalogue as catalogue
from tacit.readers.declared import item_table as item_table
from tacit.readers.declared import titles as titles
from tacit.readers.formats.detect import FORMATS as FORMATS
from tacit.readers.items import items as items
from tacit.readers.reading import as_ratings as as_ratings
from tacit.readers.reading import from_frame as from_frame
from tacit.readers.reading import read as read
from tacit.readers.synthetic import synthetic as synthetic

__all__ = [
    "FORMATS",
    "as_ratings",
    "from_frame",
    "item_table",
    "items",
    "read",
    "synthetic",
    "titles",
]
