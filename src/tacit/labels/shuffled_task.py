"""Label of a shuffled task: what is guaranteed per user, and on which conditions.

The certificate of the task proves both epsilons. The label names the neighbours of each of them,
because they differ: a profile replaced by any other one, and a profile against an empty one.
"""

from collections.abc import Iterator

from tacit.labels.label import BatchKeeping, Label, Terms
from tacit.shuffler.shuffler import RETENTION_DAYS
from tacit.wire.shuffled.task import ITEMS, SEALED_BYTES, ShuffledTask


def of_shuffled_task(task: ShuffledTask) -> Label:
    """Return the label of a shuffled task. Its delta is that of the certificate.

    Raises `CertificateError` if the numbers of the task do not prove its epsilons.
    """
    task.certificate.verify()
    guarantee = task.certificate.guarantee
    return Label(
        kind="task",
        name=task.name,
        address=task.address,
        asked_by=task.provider,
        leaves=" ".join(_released(task)),
        terms=(Terms(through=_rounds(task), promises=(guarantee,)),),
        unbounded=None,
        keeping=BatchKeeping(closes=task.closes, days=RETENTION_DAYS),
        explanation=tuple(_explanation(task)),
    )


def _rounds(task: ShuffledTask) -> str:
    """Describe the rounds of the certificate in words."""
    sizes = [each.messages + each.dummies for each in task.certificate.rounds]
    about = ("items", "pairs of items") if len(sizes) == 2 else (_about(task),)
    rounds = (f"{size:,} messages about {what}" for size, what in zip(sizes, about, strict=True))
    return f"{' and '.join(rounds)}, mixed by {task.shuffler} ({task.address[:12]})"


def _about(task: ShuffledTask) -> str:
    return "items" if task.about == ITEMS else "pairs of items"


def _sign(task: ShuffledTask) -> str:
    """Describe the sign of a message about star ratings."""
    if task.scale is None:
        return ""
    if task.about == ITEMS:
        return f" rated on the scale {task.scale}, each with a random sign whose mean is the rating"
    return (
        f" rated on the scale {task.scale}, each with a sign: + if both ratings are on the same "
        "side of what is usual for the items and the user, else -"
    )


def _released(task: ShuffledTask) -> Iterator[str]:
    most, size = task.round.messages, task.round.messages + task.round.dummies
    yield (
        f"A device sends one bundle of {size:,} sealed messages of {SEALED_BYTES} bytes to the "
        f"shuffler {task.shuffler}. At most {most:,} of them name {_about(task)} that its user "
        f"has{_sign(task)}, drawn at random. All others are random."
    )
    yield (
        f"The shuffler cannot read them. {task.provider} reads the messages of all bundles in one "
        "batch, without their senders."
    )
    if task.announced is not None:
        yield (
            "A second task, about pairs of the most frequent items, may follow. Its messages are "
            "covered by the same epsilon."
        )


def _explanation(task: ShuffledTask) -> Iterator[str]:
    claim = task.certificate
    yield (
        "Between any two profiles of a user who takes part, everything that the provider sees of "
        "all rounds is (epsilon, delta)-close, with any information on other users."
    )
    yield (
        f"Profile replaced by any other one: epsilon = {claim.replaced} per user, delta = "
        f"{claim.delta}. A device debits this epsilon, once for all rounds."
    )
    yield (
        f"Profile against an empty one: epsilon = {claim.empty} per user, delta = {claim.delta}."
    )
    yield (
        f"The shuffler must follow the protocol, and so must at least {claim.devices:,} of the "
        f"{claim.bundles:,} devices whose bundles a batch has at least."
    )
    yield (
        "Not hidden: who takes part, and when. Not covered: a shuffler that forges, drops or "
        "retains bundles. One that forges all bundles but one reads the last one."
    )
    if task.signer is not None:
        yield (
            f"Each bundle contains a token that {task.provider} has signed blindly, one per "
            "customer, and a batch with fewer tokens than its least number of bundles is not "
            "opened. The provider learns who requests a token, and when. A shuffler that drops "
            "bundles can retain their tokens, and forge as many bundles."
        )
    yield "A later task costs its epsilon again, in full, except a second one announced here."
