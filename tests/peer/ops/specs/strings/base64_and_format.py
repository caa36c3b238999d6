"""Specs of DecodeBase64, RegexFullMatch, StringFormat."""

from __future__ import annotations

import numpy as np

from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.references_and_counts import bytes_of

# --- strings -----------------------------------------------------------------------

spec(
    "DecodeBase64",
    lambda d: (np.array([b"aGVsbG8", b"", b"-_-_"], object),),
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: (np.array([b"a"], object),),
        lambda d: (np.array([b"****"], object),),
    ),
)


spec(
    "RegexFullMatch",
    lambda d: (
        np.array([b"abc", b"", b"ab"], object),
        bytes_of(d.choice(("a.c", "", "[a-c]+", "x|ab"))),
    ),
    types=(),
    mutate=("dtype",),
    bad=(lambda d: (np.array([b"a"], object), bytes_of("(")),),
)


spec(
    "StringFormat",
    lambda d: call(
        [d.array((2, 3), dtype="float32"), np.int32(7), np.array([b"a"], object)],
        template="a %s b %s c %s",
        summarize=d.choice((-1, 1, 3)),
    ),
    types=(),
    mutate=("dtype",),
)
