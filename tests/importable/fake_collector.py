"""A collector in a few lines: keeps whatever it is sent, and fails when told to."""

import itertools
import json
from dataclasses import dataclass, field

from tacit.device.transport import Answer
from tacit.wire.tasks.task import Task


@dataclass
class FakeCollector:
    """A transport. `payloads`: every payload ever received, by report id, acknowledged or not.

    `script`: answers to give to the next uploads instead of storing them; None is a lost answer,
    which loses the request as well unless `stores`. `erased`: task and body of each request to
    erase that was acknowledged; the script holds for them, too.
    """

    tasks: list[Task]
    payloads: dict[str, list[str]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    uploads: list[list[dict]] = field(default_factory=list)
    script: list[Answer | None] = field(default_factory=list)
    stores: bool = True
    models: list[tuple[str, bytes]] = field(default_factory=list)
    erased: list[tuple[str, bytes]] = field(default_factory=list)
    forge: object = staticmethod(lambda document: document)

    def __call__(self, method, path, body=None, longest=1 << 18):
        self.asked.append((method, path))
        if method == "POST":
            return self._take(path, body)
        parts = path.strip("/").split("/")
        if parts == ["v1", "tasks"]:
            named = {"tasks": [task.address for task in self.tasks]}
        elif parts[-1] == "model" and self.models:
            named = {"model": self.models[-1][0]}
        elif parts[1] == "models":
            return Answer(200, dict(self.models)[parts[2]])
        else:
            found = [task.document for task in self.tasks if task.address == parts[2]]
            return Answer(200, self.forge(found[0])) if found and len(parts) == 3 else Answer(404)
        return Answer(200, json.dumps(named).encode())

    def _take(self, path, body):
        answer = self.script.pop(0) if self.script else Answer(200)
        address, kind = path.split("/")[3:]
        if address not in {task.address for task in self.tasks}:
            return Answer(404)
        if kind == "erasures":
            if answer == Answer(200):
                self.erased.append((address, body))
            return answer
        if answer == Answer(200) or (answer is None and self.stores):
            reports = json.loads(body)["reports"]
            self.uploads.append(reports)
            for report, sent in zip(reports, _split(body.decode(), reports), strict=True):
                self.payloads.setdefault(report["id"], []).append(sent)
        return answer

    @property
    def reports(self):
        """Every distinct report, as JSON, by epoch and first cell."""
        found = [json.loads(sent[0]) for sent in self.payloads.values()]
        return sorted(found, key=lambda report: (report["epoch"], report["cells"][0][0]))

    def conflicts(self):
        """Ids that came with two payloads: never any."""
        return [name for name, sent in self.payloads.items() if len(set(sent)) > 1]


def _split(body, reports):
    """The text of each report, as it was sent."""
    starts = [body.index('{"id":"' + report["id"]) for report in reports] + [len(body) - 2]
    return [body[a:b].rstrip(",") for a, b in itertools.pairwise(starts)]
