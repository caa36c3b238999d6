"""Host kernels between strings and the characters in them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.strings import characters
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.characters import CODECS, Characters, Codes
from tensorloom.kernels.host.strings.unicode_scripts import scripts


def replacement_code(c: OpKernelConstruction) -> int:
    """The code point that stands for what is not one.

    Raises:
      InvalidArgumentError: it is none itself.
    """
    code: int = c["replacement_char"]
    if not 0 <= code <= 0x10FFFF:
        raise invalid_argument("replacement_char out of unicode codepoint range")
    return code


def _is_control(codes: Codes) -> Any:
    return (codes < 32) | ((codes >= 127) & (codes < 160))


class _Decoder:
    """Decodes strings by the attrs of the Unicode ops."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.encoding = c["input_encoding"].decode()
        self.mode = c["errors"]
        self.replacement = replacement_code(c)
        self.controls = c["replace_control_characters"]
        try:
            "".encode(self.encoding)
        except LookupError:
            raise invalid_argument(
                f"Could not create converter for input encoding: {self.encoding}"
            ) from None

    def characters(
        self, texts: list[bytes], *, with_starts: bool = False
    ) -> tuple[Characters, bool]:
        """(the characters of texts, whether some were replaced or left out).

        Raises:
          InvalidArgumentError: bytes are no character, which is an error if strict.
        """
        if self.encoding == "UTF-8":
            found = characters.of_utf_8(texts, with_starts=with_starts)
        else:
            found = characters.of_encoding(
                texts, self.encoding, with_starts=with_starts
            )
        bad, is_changed = found.bad, False
        if self.controls:
            is_control = _is_control(found.codes)
            is_changed = bool(is_control.any())
            found.codes = np.where(is_control, np.int32(self.replacement), found.codes)
        if not len(bad):
            return found, is_changed
        if self.mode == b"strict":
            text = texts[int(np.searchsorted(found.splits, bad[0], "right")) - 1]
            raise invalid_argument(
                "Invalid formatting on input string: " + text.decode("utf-8", "replace")
            )
        if self.mode != b"replace":
            return characters.without(found, bad), True
        found.codes = found.codes.copy()
        found.codes[bad] = self.replacement
        return found, True


@host_kernel(["UnicodeDecode", "UnicodeDecodeWithOffsets"], large=True)
def unicode_decode(c: OpKernelConstruction) -> Compute:
    """Code points as a ragged matrix."""
    decoder = _Decoder(c)
    with_starts = c.op == "UnicodeDecodeWithOffsets"
    splits_type = c["Tsplits"].as_numpy_dtype

    def compute(value: Any) -> tuple[Any, ...]:
        texts = value.reshape(-1).tolist()
        found, _ = decoder.characters(texts, with_starts=with_starts)
        splits = found.splits.astype(splits_type)
        codes = np.require(found.codes, np.int32, "W")
        return (splits, codes, found.starts) if with_starts else (splits, codes)

    return compute


@host_kernel("UnicodeTranscode", large=True)
def unicode_transcode(c: OpKernelConstruction) -> Compute:
    """Strings in another encoding."""
    decoder = _Decoder(c)
    codec = CODECS[c["output_encoding"].decode()]
    is_same = decoder.encoding == "UTF-8" and codec == "utf-8"

    def compute(value: Any) -> Any:
        texts = value.reshape(-1).tolist()
        found, is_changed = decoder.characters(texts)
        if not is_same or is_changed:
            texts = characters.encoded(found.codes, found.splits, codec)
        return to_strings(texts, value.shape)

    return compute


@host_kernel("UnicodeEncode", large=True)
def unicode_encode(c: OpKernelConstruction) -> Compute:
    """Strings from a ragged matrix of code points."""
    codec = CODECS[c["output_encoding"].decode()]
    mode, replacement = c["errors"], replacement_code(c)

    def compute(values: Any, splits: Any) -> Any:
        check_splits(splits.tolist(), len(values))
        given = Characters(values, splits, None, _no_characters(values))
        if len(given.bad):
            if mode == b"strict":
                raise invalid_argument(
                    "Code point is out of range for Unicode, or a noncharacter."
                )
            if mode == b"replace":
                given.codes = values.copy()
                given.codes[given.bad] = replacement
            else:
                given = characters.without(given, given.bad)
        texts = characters.encoded(given.codes, given.splits, codec)
        return to_strings(texts, (len(texts),))

    return compute


def _no_characters(codes: Codes) -> Any:
    """Which of the numbers are surrogates or outside of Unicode."""
    is_bad = codes.view(np.uint32) > 0x10FFFF
    is_bad |= (codes >> 11) == 0xD800 >> 11
    return np.flatnonzero(is_bad)


def check_splits(splits: list[int], count: int) -> None:
    """Raises InvalidArgumentError unless splits rise from 0 to a count."""
    if not splits or splits[0] != 0 or splits[-1] != count:
        raise invalid_argument(
            "Values in input_splits must be equal or in ascending order, from 0 to "
            f"the number of values ({count})"
        )
    if any(a > b for a, b in pairwise(splits)):
        raise invalid_argument(
            "Values in input_splits must be equal or in ascending order."
        )


@host_kernel("UnicodeScript", large=True)
def unicode_script(c: OpKernelConstruction) -> Compute:
    """The script of each code point, -1 outside of Unicode."""

    def compute(codes: Any) -> Any:
        # What is no code point is found at the last place.
        places = np.minimum(np.asarray(codes).view(np.uint32), 0x110000)
        return scripts().take(places).astype(np.int32)

    return compute
