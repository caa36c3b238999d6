"""Specs of Fingerprint."""

from __future__ import annotations

from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.text import bytes_of

spec(
    "Fingerprint",
    lambda d: (d.array((3, 2)), bytes_of("farmhash64")),
    types=["float32", "int64", "uint8", "string"],
    mutate=("dtype",),
    bad=(
        lambda d: (d.array((3, 2)), bytes_of("md5")),
        lambda d: (d.array(()), bytes_of("farmhash64")),
    ),
)
