"""Host kernels between strings and numbers: hashes, base 64, raw bytes."""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.strings.arrays import map_strings, to_strings
from tensorloom.kernels.host.strings.hash_arrays import (
    fingerprints64,
    fingerprints_at,
    hashes64,
    siphashes,
)
from tensorloom.kernels.host.strings.spans import even_spans, spans_of, strings_at

# --- hashes -----------------------------------------------------------------------


def _buckets(hashes: Callable[[Any], Any], count: int) -> Compute:
    """`hashes` of texts, uint64, modulo a count."""

    def compute(value: Any) -> Any:
        found = hashes(value.reshape(-1)) % np.uint64(count)
        return found.view(np.int64).reshape(value.shape)[()]

    return compute


@host_kernel("StringToHashBucket", large=True)
def hash_bucket(c: OpKernelConstruction) -> Compute:
    """Buckets by Hash64."""
    return _buckets(hashes64, c["num_buckets"])


@host_kernel("StringToHashBucketFast", large=True)
def hash_bucket_fast(c: OpKernelConstruction) -> Compute:
    """Buckets by FarmHash."""
    return _buckets(fingerprints64, c["num_buckets"])


@host_kernel("_TensorToHashBucketFast", large=True)
def number_hash_bucket_fast(c: OpKernelConstruction) -> Compute:
    """Buckets by FarmHash of the numbers' decimal texts."""
    buckets = _buckets(fingerprints64, c["num_buckets"])

    def compute(value: Any) -> Any:
        texts = [b"%d" % number for number in value.reshape(-1).tolist()]
        return buckets(to_strings(texts, value.shape))

    return compute


@host_kernel("StringToHashBucketStrong", large=True)
def hash_bucket_strong(c: OpKernelConstruction) -> Compute:
    """Buckets by SipHash."""
    key = list(c["key"])
    if len(key) != 2:
        raise invalid_argument("Key must have 2 elements")
    pair = key[0], key[1]
    return _buckets(lambda texts: siphashes(texts, pair), c["num_buckets"])


@host_kernel("Fingerprint", large=True)
def fingerprint(c: OpKernelConstruction) -> Compute:
    """FarmHash of each row's bytes."""

    def compute(data: Any, method: Any) -> Any:
        if method.ndim or method.item() != b"farmhash64":
            raise invalid_argument(
                "Unsupported fingerprint method: "
                + str(method.reshape(-1)[:1].tolist() or "")
            )
        if not data.ndim:
            raise invalid_argument("`data` should have at least one dimension.")
        count = len(data)
        rows = data.reshape(count, -1) if count else data.reshape(0, 0)
        hashes = _row_hashes(rows)
        return hashes.view(np.uint8).reshape(len(hashes), 8)

    return compute


def _row_hashes(rows: Any) -> Any:
    """The hash of each row of a matrix, uint64."""
    if rows.dtype != object:
        return fingerprints_at(even_spans(rows))
    hashes = fingerprints64(rows.reshape(-1)).copy()
    if rows.shape[1] == 1:
        return hashes
    # Of several strings: the hash of their hashes, so that lengths count.
    return _row_hashes(hashes.reshape(rows.shape))


# --- base 64 ----------------------------------------------------------------------

# Fewer texts than that are encoded and decoded one by one.
_FEW = 16
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9_\-]")
_LETTERS = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}-_="
_CODES = np.frombuffer(_LETTERS.encode(), np.uint8)
_VALUES = np.full(256, -1, np.int8)
_VALUES[_CODES[:64]] = np.arange(64)


@host_kernel("EncodeBase64", large=True)
def encode_base64(c: OpKernelConstruction) -> Compute:
    """Web-safe base 64."""
    pad = c["pad"]

    def one(text: bytes) -> bytes:
        encoded = base64.urlsafe_b64encode(text)
        return encoded if pad else encoded.rstrip(b"=")

    def compute(value: Any) -> Any:
        if value.size < _FEW:
            return map_strings(one, value)
        from tensorloom.kernels.loops.strings import base64 as loops

        spans = spans_of(value)
        sizes = (spans.lengths + 2) // 3 * 4 if pad else (spans.lengths * 4 + 2) // 3
        places = np.append(0, sizes.cumsum())
        made = np.empty(places[-1], np.uint8)
        loops.encode(spans.blob, spans.starts, spans.lengths, _CODES, made, places)
        return strings_at(made, places[:-1], sizes, value.shape)

    return compute


@host_kernel("DecodeBase64", large=True)
def decode_base64(c: OpKernelConstruction) -> Compute:
    """Bytes from web-safe base 64."""

    def compute(value: Any) -> Any:
        if value.size < _FEW:
            return map_strings(_decode_base64, value)
        from tensorloom.kernels.loops.strings import base64 as loops

        spans = spans_of(value)
        sizes = (spans.lengths + 3) // 4 * 3
        places = sizes.cumsum() - sizes
        made = np.empty(int(sizes.sum()), np.uint8)
        bad = loops.decode(
            spans.blob, spans.starts, spans.lengths, _VALUES, made, places
        )
        if bad >= 0:
            _decode_base64(value.reshape(-1)[bad])  # says what is wrong with it
        return strings_at(made, places, spans.lengths, value.shape)

    return compute


def _decode_base64(text: bytes) -> bytes:
    bare = text
    if len(text) % 4 == 0:
        bare = text[:-2] + text[-2:].rstrip(b"=")
    if _NO_BASE64.search(bare):
        raise invalid_argument("Invalid character found in base64.")
    if len(bare) % 4 == 1:
        raise invalid_argument(
            f"Base64 string length {len(bare)} is not a valid length."
        )
    try:
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
    except binascii.Error as error:
        raise invalid_argument(str(error)) from None


# --- raw bytes --------------------------------------------------------------------


@host_kernel("DecodeRaw", large=True)
def decode_raw(c: OpKernelConstruction) -> Compute:
    """The bytes of strings of one length as numbers."""
    dtype = np.dtype(c["out_type"].as_numpy_dtype)
    swap = not c["little_endian"]

    def compute(value: Any) -> Any:
        if not value.size:
            return np.zeros((*value.shape, 0), dtype)
        data, lengths = _joined(value.reshape(-1))
        size = int(lengths[0])
        if len(others := lengths[lengths != size]):
            raise invalid_argument(
                "DecodeRaw requires input strings to all be the same size, but "
                f"element 1 has size {size} != {others[0]}"
            )
        if size % dtype.itemsize:
            raise invalid_argument(
                f"Input to DecodeRaw has length {size} that is not a multiple of "
                f"{dtype.itemsize}, the size of {c['out_type'].name}"
            )
        return _numbers(data, dtype, swap).reshape(*value.shape, size // dtype.itemsize)

    return compute


def _joined(texts: Any) -> tuple[Any, Any]:
    """(all bytes of texts, how many each has); the former may be written to."""
    if len(texts) >= _FEW:
        spans = spans_of(texts)
        return spans.blob[: int(spans.lengths.sum())], spans.lengths
    data = np.frombuffer(bytearray(b"".join(texts)), np.uint8)
    return data, np.fromiter(map(len, texts), np.int64, len(texts))


def _numbers(data: Any, dtype: Any, swap: bool) -> Any:
    if dtype == np.bool_:
        return data != 0
    found = data.view(dtype)
    return found.byteswap() if swap else found


@host_kernel("DecodePaddedRaw", large=True)
def decode_padded_raw(c: OpKernelConstruction) -> Compute:
    """The bytes of strings, cut or filled with zeros to one length."""
    dtype = np.dtype(c["out_type"].as_numpy_dtype)
    swap = not c["little_endian"]

    def compute(value: Any, fixed_length: Any) -> Any:
        length = int(fixed_length)
        if length <= 0:
            raise invalid_argument(
                f"k must be greater than or equal to 1, but got {length}"
            )
        if length % dtype.itemsize:
            raise invalid_argument(
                f"fixed_length ({length}) must be a multiple of the size of out_type "
                f"({dtype.itemsize})"
            )
        data = _padded(value.reshape(-1), length)
        return _numbers(data, dtype, swap).reshape(
            *value.shape, length // dtype.itemsize
        )

    return compute


def _padded(texts: Any, length: int) -> Any:
    """All bytes of texts of one length."""
    if len(texts) < _FEW:
        padded = b"".join([text[:length].ljust(length, b"\0") for text in texts])
        return np.frombuffer(bytearray(padded), np.uint8)
    from tensorloom.kernels.loops.strings import words

    spans, rows = spans_of(texts), np.empty((len(texts), length), np.uint8)
    words.pad(spans.blob, spans.starts, spans.lengths, rows)
    return rows.reshape(-1)
