"""Specs of AsString, DecodeRaw, EncodeBase64, ReduceJoin, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.safe_mutations import SAFE


def words(d: Draw, *shape: int) -> Any:
    letters = ["", "a", "b c", " d  e ", "xyz", "a,b,,c", "tab\there", "é€", "0", "-12"]
    count = int(np.prod(shape))
    flat = np.array([d.choice(letters).encode() for _ in range(count)] + [b""], object)[
        :-1
    ]
    return flat.reshape(shape)


# --- strings --------------------------------------------------------------------

spec(
    "StringSplit",
    lambda d: call(
        words(d, 4), d.choice([b" ", b",", b"", b" ,"]), skip_empty=d.maybe()
    ),
    types=(),
)


spec(
    "StringSplitV2",
    lambda d: call(
        words(d, 4), d.choice([b" ", b",", b"", b", "]), maxsplit=d.integer(-1, 2)
    ),
    types=(),
)


spec(
    "StringLength",
    lambda d: call(words(d, 2, 2), unit=d.choice(["BYTE", "UTF8_CHAR"])),
    types=(),
)


spec(
    "StringLower StringUpper",
    lambda d: call(words(d, 3), encoding=d.choice(["", "utf-8"])),
    types=(),
)


spec("StringStrip EncodeBase64", lambda d: call(words(d, 3)), types=())


spec(
    "StringJoin",
    lambda d: call([words(d, 2), words(d, 2)], separator="-"),
    types=(),
    mutate=SAFE,
)


spec(
    "Substr",
    lambda d: call(words(d, 3), K(0, "int32"), K(d.integer(0, 4), "int32")),
    types=(),
)


spec(
    "RegexReplace",
    lambda d: call(words(d, 3), K(b"[a-c]+"), K(b"<\\0>"), replace_global=d.maybe()),
    types=(),
)


spec(
    "StaticRegexReplace",
    lambda d: call(words(d, 3), pattern="[a-c]+", rewrite="<\\0>"),
    types=(),
)


spec("StaticRegexFullMatch", lambda d: call(words(d, 3), pattern=".*b.*"), types=())


spec(
    "StringToHashBucketFast StringToHashBucket",
    lambda d: call(words(d, 5), num_buckets=1000),
    types=(),
)


spec(
    "StringToHashBucketStrong",
    lambda d: call(words(d, 5), num_buckets=1000, key=[7, 9]),
    types=(),
)


spec(
    "StringToNumber",
    lambda d: call(np.array([b"1", b"-25", b" 3 "], object)),
    attr="out_type",
    bad=(lambda d: call(np.array([b"x"], object)),),
)


spec("AsString", lambda d: call(d.array((3,))), without=["variant"])


spec(
    "ReduceJoin",
    lambda d: call(
        words(d, 2, 3), K([d.choice([0, 1, -1])], "int32"), keep_dims=d.maybe()
    ),
    types=(),
)


spec(
    "UnsortedSegmentJoin",
    lambda d: call(
        words(d, 4), np.array([0, 2, 0, 1], np.int32), K(3, "int32"), separator="+"
    ),
    types=(),
    mutate=SAFE,
)


spec(
    "UnicodeDecode UnicodeDecodeWithOffsets",
    lambda d: call(
        words(d, 3), input_encoding="UTF-8", replace_control_characters=d.maybe()
    ),
    types=(),
)


spec(
    "UnicodeTranscode",
    lambda d: call(
        words(d, 3),
        input_encoding="UTF-8",
        output_encoding=d.choice(["UTF-8", "UTF-16-BE", "UTF-32-BE"]),
    ),
    types=(),
)


spec(
    "UnicodeEncode",
    lambda d: call(
        np.array([104, 233, 8364, 97], np.int32),
        np.array([0, 2, 2, 4], np.int64),
        output_encoding="UTF-8",
    ),
    types=(),
    mutate=SAFE,
)


spec(
    "StringNGrams",
    lambda d: call(
        np.array([b"a", b"b", b"c", b"d"], object),
        np.array([0, 3, 4], np.int64),
        separator=" ",
        ngram_widths=[2, 3],
        left_pad="<",
        right_pad=">",
        pad_width=d.integer(-1, 2),
        preserve_short_sequences=d.maybe(),
    ),
    types=(),
    mutate=SAFE,
)


spec(
    "DecodeRaw",
    lambda d: call(np.array([d.array((2,)).tobytes()], object)),
    attr="out_type",
    without=["string", "bool"],
    mutate=SAFE,
)


spec(
    "UnicodeScript",
    lambda d: call(d.rng.integers(0, 0x11000, (2, 3)).astype(np.int32)),
    types=(),
)


spec(
    "_TensorToHashBucketFast",
    lambda d: call(d.array(d.shape(0, 2)), num_buckets=d.integer(1, 999)),
    types=["int8", "int16", "int32", "int64"],
    mutate=(),
)
