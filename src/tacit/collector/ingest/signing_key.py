"""Private key of one-time tokens, used by OpenSSL's own program alone.

The private operation on a blinded number must take a time that does not depend on the key, because
every customer may request signatures and measure it. Python's `pow` is not such an operation, and
the library `cryptography` signs only what it has padded itself. `openssl pkeyutl` blinds the number
again and computes in constant time. The key is not read into this process.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import BinaryIO, Self

from tacit.errors import DataError, RequestError
from tacit.wire.shuffled.blind_tokens import EXPONENT, MODULUS_BYTES, is_modulus

SECONDS = 30.0
"""Seconds after which OpenSSL is stopped. A key takes about one second, a signature .01."""
NO_PASSWORD = ("-passin", "pass:")
"""OpenSSL fails for an encrypted key, instead of reading a password from the terminal."""
PREFIX = b"Modulus="


class SigningKey:
    """Key in a file in PEM, with which the provider signs tokens of one task.

    Raises `RequestError` without the program openssl, and `DataError` for a file without an RSA key
    of 3072 bits and exponent 65537.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        printed = _openssl(["rsa", "-noout", "-modulus", "-in", path, *NO_PASSWORD])
        try:
            self.modulus = bytes.fromhex((printed or b"").removeprefix(PREFIX).decode().strip())
        except ValueError:
            self.modulus = b""
        if not is_modulus(self.modulus) or self._power(b"\x02") is None:
            raise DataError(
                f"{path} is not a signing key: it must be an RSA key of 3072 bits with exponent "
                "65537, in PEM and without a password."
            )

    def __repr__(self) -> str:
        return f"<SigningKey: {self.modulus.hex()[:12]}>"

    @classmethod
    def generate(cls, path: Path) -> Self:
        """Write a new key to a new file that only its owner can read, and return it.

        Raises `RequestError` if the file exists, and without the program openssl.
        """
        program()
        try:
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise RequestError(
                f"{path} exists; a signing key is for one task, so name another --output."
            ) from None
        bits = f"rsa_keygen_bits:{8 * MODULUS_BYTES}"
        with open(opened, "wb") as file:
            _openssl(["genpkey", "-algorithm", "RSA", "-pkeyopt", bits], output=file)
            os.fsync(file.fileno())
        return cls(path)

    def accepts(self, blinded: bytes) -> bool:
        """Return whether bytes are a number below the modulus, with as many bytes."""
        return len(blinded) == MODULUS_BYTES and blinded < self.modulus

    def sign(self, blinded: bytes) -> bytes:
        """Return the signature of a blinded message (RFC 9474, section 4.3).

        Raises `RequestError` for a message that is not accepted, and if OpenSSL fails.
        """
        signature = self._power(blinded) if self.accepts(blinded) else None
        if signature is None:
            raise RequestError(f"OpenSSL cannot sign this message with {self._path}.")
        return signature

    def _power(self, blinded: bytes) -> bytes | None:
        """Return the private operation on a number; None if it fails."""
        # RSA without padding: decryption is the private operation, and has the input of `sign`,
        # which is limited to the length of a hash.
        command = ["pkeyutl", "-decrypt", "-inkey", self._path, *NO_PASSWORD]
        padded = blinded.rjust(MODULUS_BYTES, b"\0")
        signature = _openssl([*command, "-pkeyopt", "rsa_padding_mode:none"], padded)
        n, number = (int.from_bytes(each or b"", "big") for each in (self.modulus, signature))
        # A result with a fault would show a factor of n to the customer who requested it.
        is_right = pow(number, EXPONENT, n) == int.from_bytes(padded, "big")
        return signature if is_right else None


def program() -> str:
    """Return the path of the program openssl. Raises `RequestError` if it is not installed."""
    path = shutil.which("openssl")
    if path is None:
        raise RequestError(
            "Blind signatures require the program openssl, which was not found; install OpenSSL."
        )
    return path


def _openssl(
    arguments: list[str | Path], content: bytes = b"", output: BinaryIO | None = None
) -> bytes | None:
    """Return what OpenSSL prints, None if it fails. `content`: its input."""
    ran = subprocess.run(
        [program(), *arguments],
        input=content,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    return ran.stdout if ran.returncode == 0 else None
