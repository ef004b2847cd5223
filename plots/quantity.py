"""Parses numbers with units: "8", "4MB", "100Gbps", "5us"."""

import re
from dataclasses import dataclass

PREFIXES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
UNITS = {"": ("", 1.0), "ns": ("time", 1e-9), "us": ("time", 1e-6), "ms": ("time", 1e-3), "s": ("time", 1.0)}
for prefix, factor in PREFIXES.items():
    UNITS[prefix + "B"] = ("size", factor)
    UNITS[prefix + "B/s"] = ("rate", factor)
    UNITS[prefix + "bps"] = ("rate", factor / 8)


@dataclass(frozen=True)
class Quantity:
    kind: str  # "size", "rate" or "time"; empty for a plain number
    value: float  # in bytes, bytes per second or seconds
    digits: str  # as written
    unit: str


def parse(text):
    """The quantity, or None if the text is not one."""
    found = re.fullmatch(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/]*)", text.strip())
    if not found or found[2] not in UNITS:
        return None
    kind, factor = UNITS[found[2]]
    try:
        return Quantity(kind, float(found[1]) * factor, found[1], found[2])
    except ValueError:
        return None
