"""Download and upload sizes of a device, from the wire formats, without HTTP headers."""

from dataclasses import replace
from math import ceil

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.models import item_model
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.wire.report import Report, dumps, upload

NAME = "0" * 32
"""Placeholder for report ids and pseudonyms, which all have the same length."""


def model_bytes(fitted: Fitted, guarantee: Guarantee) -> int:
    """Return the size of the item model with the given guarantee."""
    return len(item_model(replace(fitted, guarantee=guarantee)).to_bytes())


def report_bytes(channel: Channel, places: int, n_items: int) -> int:
    """Return the size of an upload on `places` slots of a catalogue of `n_items`.

    Exact for all slots. For a sample, which a hash selects per user, it is the average: indices
    with more digits take more bytes.
    """
    nothing, everything = (_length(channel, count) for count in (0, n_items))
    a_cell = (everything - nothing + 1) / n_items  # includes a comma, which the last one lacks
    return ceil(nothing + places * a_cell - 1)


def profile_bytes(scale: RatingScale, ratings: int, n_items: int) -> int:
    """Return the size of an upload of true ratings to a curator, each an index and a level."""
    levels = compile_channel("randomized-response", epsilon="1", scale=scale)
    return report_bytes(levels, ratings, n_items)


def _length(channel: Channel, places: int) -> int:
    report = Report(NAME, channel.id, 0, NAME, tuple(range(places)), (0,) * places)
    return len(upload([dumps(report, channel)]))
