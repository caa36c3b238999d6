"""What the processor is, as far as libraries have to be told or chosen by it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

# What the libraries' code for AVX-512 asks of a processor.
_AVX512: Final = frozenset(["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"])
# Zen 4, which takes two cycles for 512 bits.
_LAST_HALVED_FAMILY: Final = 25


@cache
def description(path: str = "/proc/cpuinfo") -> dict[str, str]:
    """Linux's description of the first processor: "vendor_id", "flags" and more.

    Empty where there is none to be read.
    """
    found: dict[str, str] = {}
    try:
        with Path(path).open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                key, colon, value = line.partition(":")
                if not colon:
                    break  # the next processor comes
                found[key.strip()] = value.strip()
    except OSError:
        pass
    return found


def has_avx512(about: dict[str, str]) -> bool:
    """Whether a processor is known to have AVX-512."""
    return set(about.get("flags", "").split()) >= _AVX512


def is_other_avx512(about: dict[str, str]) -> bool:
    """Whether a processor with AVX-512 is one that MKL was not made for.

    A processor of unknown make counts as Intel's.
    """
    return about.get("vendor_id", "GenuineIntel") != "GenuineIntel" and has_avx512(
        about
    )


def has_halved_avx512(about: dict[str, str]) -> bool:
    """Whether AVX-512 computes no more in a cycle than AVX2: AMD's before Zen 5."""
    family = about.get("cpu family", "")
    return (
        about.get("vendor_id") == "AuthenticAMD"
        and has_avx512(about)
        and family.isdigit()
        and int(family) <= _LAST_HALVED_FAMILY
    )
