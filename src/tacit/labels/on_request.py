"""Label of a task as a page, rendered on the first request.

Attacks and their libraries are imported then, to keep the start of the collector fast.
"""

from tacit.wire.tasks.task import Task

DELTA = "1e-6"


def served(task: Task) -> str:
    """Return the page, with the epsilon per user at delta 1e-6 and attacks on synthetic users."""
    from tacit.labels.label import of_task
    from tacit.labels.page import html
    from tacit.labels.simulated_attacks import found_by_attackers

    return html(of_task(task, delta=DELTA, found=found_by_attackers(task)))
