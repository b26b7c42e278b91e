"""Texts of modules that have members from outside, sound ones."""

MODEL = """
from dataclasses import dataclass, replace

from tacit.models import Baseline


@dataclass(frozen=True, kw_only=True)
class Plain:
    '''The item means again.'''

    name = "plain"

    def fit(self, data, *, rng=0, advance=lambda done: None):
        return replace(Baseline(people=False).fit(data, rng=rng), model=self.name)
"""
READER = """
from tacit.readers.text import Delimited
from tacit.readers.format import Format
from tacit.readers.text import frames

def bars(sources, request):
    yield from frames(sources[0], Delimited("!", ("user", "item", "rating"), request.grid))

BARS = Format("bars", ("*.bars",), lambda source, request: b"!" in source.head, bars, scale="1:5:1")
"""
CHANNEL = "from tacit.channels.mean_estimation import Duchi as Again\n"
TRAINING = """
class Told:
    '''Nothing.'''
    name, where = "told", ("device",)
    def fit(self, ratings, *, epsilon, delta="0", rng=0, advance=None): ...
"""
PLUGGED = MODEL + "\nfrom tacit.plugins import register\nregister('models', 'plain', Plain)\n"
