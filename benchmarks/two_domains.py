"""The files of two domains and the shares of people who link them, off a command line."""

import argparse

from tacit import read
from tacit.crossdomain.domains import Domains


def two_domains(description: str | None) -> tuple[Domains, list[float], int]:
    """The domains named on the command line, the shares of people who link, and k."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("ratings", nargs=2)
    parser.add_argument("--names", type=lambda text: text.split(","), default=[None, None])
    parser.add_argument("--overlaps", default="0.05,0.2,1")
    parser.add_argument("--scale", default="1:5:1")
    parser.add_argument("--k", type=int, default=50)
    asked = parser.parse_args()
    files = zip(asked.ratings, asked.names, strict=True)
    domains = Domains.join([read(path, scale=asked.scale, name=name) for path, name in files])
    return domains, [float(part) for part in asked.overlaps.split(",")], asked.k
