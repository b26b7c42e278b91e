"""Register of a shuffler: a public list of its tasks and batches, to which lines are only added.

Every line is JSON in its unique notation, and contains the SHA-256 of the line before it. A device
stores the last line that it has verified, so a shuffler that later shows another list, such as one
with a task for a single victim, is detected. A provider has at most one open task, which is thus
the same for everybody.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire import strict
from tacit.wire.origin import is_origin
from tacit.wire.tasks.task import is_address

LONGEST = 1 << 24
"""Most bytes of a register: about 50,000 tasks."""
OPENED, CLOSED = ("before", "task", "provider"), ("before", "task", "bundles", "batch")
"""Keys of the two kinds of lines, in order."""
WHAT = "The register"
BEGIN = sha256(b"tacit-register-1").hexdigest()
"""What the first line contains in place of a digest."""


@dataclass(frozen=True, kw_only=True)
class Closing:
    """A closed batch. `bundles`: their number. `batch`: its SHA-256, None if not released."""

    bundles: int
    batch: str | None


@dataclass
class Register:
    """The verified lines.

    `open`: the open task of each provider. `closed`: batches by task. `released`: the last task of
    each provider whose batch was released. `_providers`: by open task, so that a long register is
    verified in linear time.
    """

    lines: list[bytes] = field(default_factory=list[bytes])
    open: dict[str, str] = field(default_factory=dict[str, str])
    closed: dict[str, Closing] = field(default_factory=dict[str, Closing])
    released: dict[str, str] = field(default_factory=dict[str, str])
    _providers: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def document(self) -> bytes:
        """All lines."""
        return b"".join(line + b"\n" for line in self.lines)

    @property
    def head(self) -> str:
        """SHA-256 of the last line."""
        return sha256(self.lines[-1]).hexdigest() if self.lines else BEGIN

    @property
    def heads(self) -> set[str]:
        """SHA-256 of each line, and `BEGIN`."""
        return {BEGIN, *(sha256(line).hexdigest() for line in self.lines)}

    def is_listed(self, task: str) -> bool:
        """Return whether a task is open or closed."""
        return task in self.closed or task in self._providers

    def add_task(self, task: str, provider: str) -> bytes:
        """Add a provider's task, and return its line.

        Raises `RequestError` for a task that is listed, and while the provider has an open one.
        """
        if self.is_listed(task):
            raise RequestError(f"The shuffled task {task} is in the register already.")
        if provider in self.open:
            raise RequestError(
                f"The provider {provider} has an open task, {self.open[provider]}. Add the next "
                "one after it is closed."
            )
        return self._add({"task": task, "provider": provider})

    def add_closing(self, task: str, closing: Closing) -> bytes:
        """Add the closing of an open task, and return its line.

        Raises `RequestError` for a task that is not open.
        """
        if task not in self._providers:
            raise RequestError(f"The shuffled task {task} is not open.")
        return self._add({"task": task, "bundles": closing.bundles, "batch": closing.batch})

    def _add(self, values: Mapping[str, Any]) -> bytes:
        line = _notation({"before": self.head, **values})
        self.read(line)
        return line

    def read(self, line: bytes) -> None:
        """Verify the next line, and add it. Raises `DataError` for a line that breaks the rules."""
        value = strict.parse(line, WHAT, LONGEST)
        is_opening = isinstance(value, dict) and "provider" in value
        keys = OPENED if is_opening else CLOSED
        fields = strict.fields(value, WHAT, keys)
        task = strict.typed(fields, "task", str, WHAT)
        is_canonical = _notation({key: fields[key] for key in keys}) == line
        if not is_canonical or fields["before"] != self.head or not is_address(task):
            raise DataError(f"{WHAT} is damaged: line {len(self.lines) + 1} is not the next one.")
        if is_opening:
            self._open(task, strict.typed(fields, "provider", str, WHAT))
        else:
            self._close(task, strict.integer(fields, "bundles", WHAT), fields["batch"])
        self.lines.append(line)

    def _open(self, task: str, provider: str) -> None:
        if not is_origin(provider) or provider in self.open or self.is_listed(task):
            raise DataError(
                f"{WHAT} has two tasks of one provider at a time, or a task twice: it must show "
                "everybody one task."
            )
        self.open[provider], self._providers[task] = task, provider

    def _close(self, task: str, bundles: int, batch: Any) -> None:
        provider = self._providers.get(task)
        is_digest = isinstance(batch, str) and is_address(batch)
        if provider is None or bundles < 0 or not (batch is None or is_digest):
            raise DataError(f"{WHAT} closes a task that is not open.")
        del self.open[provider], self._providers[task]
        self.closed[task] = Closing(bundles=bundles, batch=batch)
        if batch is not None:
            self.released[provider] = task


def _notation(fields: Mapping[str, Any]) -> bytes:
    """Return a line in its unique notation, without the line feed."""
    return json.dumps(fields, separators=(",", ":")).encode()


def loads(document: bytes, before: str = BEGIN) -> Register:
    """Parse and verify a register. `before`: SHA-256 of the last line that was verified earlier.

    Raises `DataError` for a malformed register, and `CertificateError` if it does not continue the
    earlier one.
    """
    if len(document) > LONGEST:
        raise DataError(f"{WHAT} of {len(document)} bytes is longer than {LONGEST}.")
    register = Register()
    lines = document.split(b"\n")
    if lines.pop():
        raise DataError(f"{WHAT} is damaged: its last line is incomplete.")
    for line in lines:
        register.read(line)
    if before not in register.heads:
        raise CertificateError(
            "The shuffler shows another list of tasks than before, so the device sends nothing. "
            "Compare its register with that of other people."
        )
    return register
