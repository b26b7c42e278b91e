"""Keys of providers, from fixed primes: their signatures are the same in every run."""

from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric import rsa

from tacit.publishing.provider_key import ProviderKey
from tacit.wire.tasks.moves import SIZE, base64url

PRIMES = (
    (
        "fc7144f80f98f2a46e8cd47e76a32c32a5adfb6289872158282c36dd0467f3d6be7fd1e9ca5bdc50"
        "b261db5d95c0165f8ec187a44c11eb0cbc918c222354b5f0a596211f292f8996b0546647093b5bae"
        "1d9bee3a84c6833a54c942d3d7a6d313813ea15d3dfa22f2d0d649ea7781e2570cda74235470692c"
        "41c7e8c1b73795253ba55aef2ef9a8b011f0ed7eb67942e6f4c38d253d3cd294d6eadd94136434b8"
        "8cd1042680341959b9eafa349290fc03bdd08c7133c63a62359b798f6c89d92f",
        "de19153a087b836295d82558e9d1b6e53ad66bb8ffc0130f5f67cba0d9479168b2a8087c97750031"
        "3450d2c71376396737b58205d19f92c08657b06a729ea21e0aedfd0ccbf368dde6e342b162946166"
        "027de7a6ad5e706ca639e26c1ace1eb7f51b68c6ce0c8fccce1ca5c0ab1f36332c844c4432101b2f"
        "f8d6aaa9b37384b01363939e8f984920f89c698bf22abfa51db11db294e1e467c8dd720131db770f"
        "eaac65f3395151a43abe5a6f4d9ba9e45652168903b489880d8238e1d7077a1d",
    ),
    (
        "ed000dd817b8f089c57f491c689e3329efc625c615ab35ec79da167c716ad3071636d5d6c933ae4a"
        "213f361f660732580576a11b1dd10186b59fd86ed0d3dcc01d340b4807c550dccae1335ca4e5eca4"
        "dad2b67666645e02ef66b5c0459a75dd5a73d7b66d729be60ad574f5a574693969daec03856d77f2"
        "2b638111beaeadc2d15e3c4bb47d8f9fc56dfdeb2645b31612225332b311eace0a7364358b1a28ad"
        "2d0128d201dcfa0c065377c183ad1cdac3317211600457a96820d2910257aec9",
        "e6c0866d4b946b3766697803db598213bc200f2e4b2c055feea183b682873a8bb736ad8450b8c533"
        "9f6c76faa0ed62fc3d488fd613284818e7dcc53b40e934baae9ec79d85a923730bb6bae1d5256339"
        "bf9edcd80a0323243b8e6093acdd2d69db5ea5d8f8a049e6cfcd154247a95804c8e2d3560715d5bb"
        "74549255a847718ecace9db2227f84f6e92b3a877ba987cffccff0605ed9cbe3f2c257b25739ca2b"
        "f9708f99eaa5df0a970fe2a1dfa0e3f042dbfcfc09f885de62371c92da6a0b6f",
    )
)  # fmt: skip
SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")


def _key(p, q):
    p, q = int(p, 16), int(q, 16)
    d = pow(65537, -1, (p - 1) * (q - 1))
    crt = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    public = rsa.RSAPublicNumbers(65537, p * q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, *crt, public)
    return ProviderKey(numbers.private_key(unsafe_skip_rsa_key_validation=True))


KEY, OTHER = (_key(*primes) for primes in PRIMES)


def signature(message, key=KEY):
    return base64url(int.from_bytes(key._sign(message)))


def raw(encoded, key=KEY):
    """The number whose power is this encoded message: what a forger of a lax verifier gets."""
    numbers, power = key.private.private_numbers(), int.from_bytes(encoded)
    at_p, at_q = pow(power, numbers.dmp1, numbers.p), pow(power, numbers.dmq1, numbers.q)
    return at_q + numbers.q * ((at_p - at_q) * numbers.iqmp % numbers.p)


def encodings(message):
    """Encoded messages that a verifier accepts if it parses the padding, and what is wrong."""
    digest = sha256(message).digest()
    info = SHA256 + digest
    bare = bytes.fromhex("302f300b0609608648016503040201 0420".replace(" ", "")) + digest

    def padded(info, start=b"\x00\x01", fill=b"\xff", gap=b"\x00"):
        return start + fill * (SIZE - len(info) - 3) + gap + info

    def short(info, count, end):
        head = b"\x00\x01" + b"\xff" * count + b"\x00" + info
        return head + end * (SIZE - len(head))

    return {
        "garbage after the hash": short(info, 8, b"\x5a"),
        "zeros after the hash": short(info, 8, b"\x00"),
        "one byte of garbage": short(info, SIZE - len(info) - 4, b"\x01"),
        "no padding": short(info, 0, b"\x5a"),
        "parameters left out": padded(bare),
        "the hash alone": padded(digest),
        "another hash function": padded(
            bytes.fromhex("3021300906052b0e03021a05000414") + digest[:20]
        ),
        "another message": padded(SHA256 + sha256(message + b" ").digest()),
        "block type 2": padded(info, start=b"\x00\x02"),
        "block type 0": padded(info, start=b"\x00\x00", fill=b"\x00"),
        "padding of other bytes": padded(info, fill=b"\xfe"),
        "no separator": padded(info, gap=b"\xff"),
        "a leading one": padded(info, start=b"\x01\x01"),
    }
