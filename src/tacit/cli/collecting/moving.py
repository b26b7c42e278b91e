"""Move of a provider to another origin: its key in the first task, and the signed move."""

from collections.abc import Mapping
from pathlib import Path

from tacit.cli import options
from tacit.errors import RequestError

MOVING = ("extend", "successor", "signing_key", "output")
"""Parameters of `tacit task` with --successor."""


def provider_key(signing_key: Path | None) -> str | None:
    """Return the public key for a first task, from a key file that is written if it is missing.

    None without --signing-key.
    """
    from tacit.publishing.provider_key import ProviderKey

    if signing_key is None:
        return None
    if signing_key.exists():
        return ProviderKey.load(signing_key).public
    key = ProviderKey.generate()
    key.save(signing_key)
    options.notice(
        f"{signing_key}: a new signing key. Keep it off the server, with a backup. A move of this "
        "task to another origin requires it, and anyone who has it can move the devices."
    )
    return key.public


def require_moving(typed: Mapping[str, str]) -> None:
    """Raise `RequestError` for a parameter that --successor has no use for, and a missing one."""
    if other := [option for name, option in typed.items() if name not in MOVING]:
        option = "The catalogue" if other[0] == "items" else other[0]
        raise RequestError(
            f"{option} has no effect with --successor, which changes the origin alone; leave it "
            "out, and extend the moved task afterwards."
        )
    if missing := [name for name in MOVING if name not in typed]:
        option = missing[0].replace("_", "-")
        raise RequestError(
            f"--successor requires --{option}. Write tacit task --extend TASK --successor ORIGIN "
            "--signing-key FILE -o OUTPUT."
        )


def move_task(extend: Path | None, successor: str, signing_key: Path | None, output: Path) -> None:
    """Write the task after the move of its provider, signed.

    `extend` and `signing_key`: None only if `require_moving` raises.
    """
    from tacit.atomic_files import write_atomically
    from tacit.publishing.provider_key import ProviderKey
    from tacit.results.records import writable
    from tacit.wire.origin import FORM
    from tacit.wire.tasks.loading import loads
    from tacit.wire.tasks.moves import is_successor

    assert extend is not None, "require_moving requires --extend"
    assert signing_key is not None, "require_moving requires --signing-key"
    writable(output, read=(extend, signing_key))
    if not is_successor(successor):
        raise RequestError(f"--successor must be {FORM}, got '{successor}'.")
    if not signing_key.exists():
        raise RequestError(f"{signing_key} does not exist; name the key file of the first task.")
    before = loads(extend.read_bytes())
    task = ProviderKey.load(signing_key).move(before, successor)
    write_atomically(output, task.document)
    options.notice(
        f"{output}: from {before.origin} to {successor}. Serve it at both. Address {task.address}"
    )
