"""Label of a task, as served by a collector."""

from tacit.wire.task import Task

DELTA = "1e-6"


def served(task: Task) -> str:
    """Return the page, with the epsilon per user at delta 1e-6 and attacks on synthetic users."""
    # Attacks are imported on the first request for a label, to keep the collector's start fast.
    from tacit.evaluation.label.made_up import found_by_attackers
    from tacit.evaluation.label.of_task import of_task
    from tacit.evaluation.label.page import html

    return html(of_task(task, delta=DELTA, found=found_by_attackers(task)))
