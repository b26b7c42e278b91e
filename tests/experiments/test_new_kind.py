"""A new kind of experiment is a row, a cell and a declaration: at most 40 lines."""

import inspect
import json
from dataclasses import asdict, dataclass

import polars as pl
import pytest

from tacit.channels import compile_channel
from tacit.experiments.experiment import Experiment, Interrupted, journal_path
from tacit.scale import RatingScale


class Kind:
    """Size of a channel's table by mechanism and epsilon."""

    @dataclass(frozen=True)
    class Row:
        channel: str
        epsilon: float
        symbols: int

        def to_dict(self):
            return asdict(self)

        @classmethod
        def from_dict(cls, values):
            return cls(**values)

    @dataclass(frozen=True)
    class Cell:
        channel: str
        epsilon: str

        @property
        def key(self):
            return json.dumps(asdict(self), sort_keys=True)

        @property
        def label(self):
            return f"{self.channel} at {self.epsilon}"

    def __init__(self, scale):
        self.scale = scale

    def measure(self, cell):
        table = compile_channel(cell.channel, epsilon=cell.epsilon, scale=self.scale)
        return [Kind.Row(cell.channel, float(cell.epsilon), len(table.outputs))]

    def experiment(self, channels, epsilons):
        cells = [Kind.Cell(channel, epsilon) for channel in channels for epsilon in epsilons]
        return Experiment(title="compiling", row=Kind.Row, cells=cells, measure=self.measure,
                          text=lambda rows: f"{len(rows)} tables", page=str)  # fmt: skip


def test_a_new_kind_is_at_most_40_lines_and_has_journal_files_and_report(tmp_path):
    assert len(inspect.getsource(Kind).splitlines()) <= 40
    kind, measured = Kind(RatingScale.parse("1:5:1")), []

    def interrupted(cell):
        measured.append(cell)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return Kind.measure(kind, cell)

    kind.measure = interrupted
    declared = kind.experiment(["duchi", "optimal"], ["1", "2"])
    out, page, notices = tmp_path / "out.json", tmp_path / "out.html", []
    with pytest.raises(Interrupted) as stop:
        declared.execute(json=out, report=page)
    assert [row.channel for row in stop.value.rows] == ["duchi", "duchi"]
    assert json.loads(out.read_text()) == [row.to_dict() for row in stop.value.rows]
    rows = declared.execute(json=out, report=page, notify=notices.append)
    assert notices == ["2 rows of an earlier run were found. Resuming."]
    assert len(measured) == 5
    assert [(row.channel, row.epsilon) for row in rows] == [
        ("duchi", 1), ("duchi", 2), ("optimal", 1), ("optimal", 2)
    ]  # fmt: skip
    assert pl.read_parquet(tmp_path / "out.parquet").height == 4
    assert page.read_text() == str(rows)
    assert not journal_path(out).exists()
