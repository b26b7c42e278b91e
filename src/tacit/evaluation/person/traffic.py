"""Bytes that a device downloads and uploads, from the formats themselves; HTTP's own are not in
them."""

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
"""Of a report, and of a person in it: hexadecimal digits, as many for everybody."""


def model_bytes(fitted: Fitted, guarantee: Guarantee) -> int:
    """Bytes of the item model under the guarantee that it is to have."""
    return len(item_model(replace(fitted, guarantee=guarantee)).to_bytes())


def report_bytes(channel: Channel, places: int, n_items: int) -> int:
    """Bytes of an upload of answers for `places` slots of a catalogue of `n_items`.

    Of all slots exactly. Of some, which a hash picks for each person, on average: a place of more
    digits takes more bytes.
    """
    nothing, everything = (_length(channel, count) for count in (0, n_items))
    a_cell = (everything - nothing + 1) / n_items  # with a comma, of which the last has none
    return ceil(nothing + places * a_cell - 1)


def profile_bytes(scale: RatingScale, ratings: int, n_items: int) -> int:
    """The same of true ratings, each a place and a level: what a curator has to be sent."""
    levels = compile_channel("randomized-response", epsilon="1", scale=scale)
    return report_bytes(levels, ratings, n_items)


def _length(channel: Channel, places: int) -> int:
    report = Report(NAME, channel.id, 0, NAME, tuple(range(places)), (0,) * places)
    return len(upload([dumps(report, channel)]))
