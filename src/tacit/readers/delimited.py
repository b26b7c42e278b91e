"""Lines of separated fields: the one parser behind most families."""

import io
from dataclasses import dataclass

import polars as pl

from tacit.readers.levels import DeclaredScale
from tacit.readers.text import rating_fault, shown, sound, split, whole

UNIT_SEPARATOR = b"\x1f"


@dataclass(frozen=True)
class Delimited:
    """Lines of separated fields, `fields` naming those that matter and None the others.

    Ids are whole numbers but in the columns of `text`.
    """

    separator: str
    fields: tuple[str | None, ...]
    grid: DeclaredScale | None
    text: frozenset[str] = frozenset()

    def parse(self, data: bytes) -> pl.DataFrame:
        """The named fields as columns: ids Int64 or String, rating Float64, timestamp Int64."""
        separator = self.separator.encode()
        if len(separator) > 1:
            data, separator = data.replace(separator, UNIT_SEPARATOR), UNIT_SEPARATOR
        frame = pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            separator=separator.decode(),
            schema={name or f"_{k}": self._type(name) for k, name in enumerate(self.fields)},
            columns=[k for k, name in enumerate(self.fields) if name],
            empty_string_is_null=True,
        )
        sound(frame, self.grid)
        return frame

    def fault(self, line: str) -> str | None:
        """What is wrong with one line, field by field."""
        values = self._split(line)
        if len(values) != len(self.fields):
            return (
                f"{shown(line)} has {len(values)} fields, not {len(self.fields)}; "
                f"correct or remove the line"
            )
        pairs = zip(self.fields, values, strict=True)
        faults = (self._field_fault(name, value.strip()) for name, value in pairs if name)
        return next((fault for fault in faults if fault), None)

    def _type(self, name: str | None) -> pl.DataType:
        if name == "rating":
            return pl.Float64()
        return pl.String() if name is None or name in self.text else pl.Int64()

    def _split(self, line: str) -> list[str]:
        several = len(self.separator) > 1
        return line.split(self.separator) if several else split(line, self.separator)

    def _field_fault(self, name: str, value: str) -> str | None:
        if not value:
            return f"the {name} is empty; correct or remove the line"
        if name == "rating":
            return rating_fault(value, self.grid)
        if self._type(name) == pl.Int64 and not whole(value):
            return f"{name} {shown(value)} is not a whole number; correct or remove the line"
        return None
