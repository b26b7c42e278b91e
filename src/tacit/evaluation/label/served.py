"""The label of a task as a collector serves it."""

from tacit.wire.task import Task

DELTA = "1e-6"


def served(task: Task) -> str:
    """The page, with a whole person's epsilon at delta 1e-6 and attacks on made-up people."""
    # A collector answers before anybody asks for a label, and need not load attackers until then.
    from tacit.evaluation.label.made_up import found_by_attackers
    from tacit.evaluation.label.of_task import of_task
    from tacit.evaluation.label.page import html

    return html(of_task(task, delta=DELTA, found=found_by_attackers(task)))
