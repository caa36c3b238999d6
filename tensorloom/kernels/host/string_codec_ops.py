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
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.string_arrays import map_strings, to_strings
from tensorloom.kernels.host.string_hash_arrays import (
    fingerprints64,
    fingerprints_at,
    hashes64,
    siphashes,
)
from tensorloom.kernels.host.string_spans import even_spans, joined

# --- hashes -----------------------------------------------------------------------


def _buckets(hashes: Callable[[list[bytes]], Any], count: int) -> Compute:
    """`hashes` of texts, uint64, modulo a count."""

    def compute(value: Any) -> Any:
        found = hashes(value.reshape(-1).tolist()) % np.uint64(count)
        return found.astype(np.int64).reshape(value.shape)[()]

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
        texts = np.empty(value.size, object)
        texts[:] = [b"%d" % number for number in value.reshape(-1).tolist()]
        return buckets(texts.reshape(value.shape))

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
        size = rows.shape[1] * rows.itemsize
        return fingerprints_at(even_spans(rows.tobytes(), len(rows), size))
    hashes = fingerprints64(rows.reshape(-1).tolist())
    if rows.shape[1] == 1:
        return hashes
    # Of several strings: the hash of their hashes, so that lengths count.
    return _row_hashes(hashes.reshape(rows.shape))


# --- base 64 ----------------------------------------------------------------------

# Fewer texts than that are decoded one by one.
_FEW = 16
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9_\-]")
_BASE64 = string.ascii_letters.encode() + string.digits.encode() + b"_-"
_TO_WEB_SAFE = bytes.maketrans(b"+/", b"-_")
_FROM_WEB_SAFE = bytes.maketrans(b"-_", b"+/")


@host_kernel("EncodeBase64", large=True)
def encode_base64(c: OpKernelConstruction) -> Compute:
    """Web-safe base 64."""
    dropped = b"" if c["pad"] else b"="

    def compute(value: Any) -> Any:
        # Each on a line of its own.
        lines = b"".join(map(binascii.b2a_base64, value.reshape(-1).tolist()))
        encoded = lines.translate(_TO_WEB_SAFE, dropped).split(b"\n")
        return to_strings(encoded[:-1], value.shape)

    return compute


@host_kernel("DecodeBase64", large=True)
def decode_base64(c: OpKernelConstruction) -> Compute:
    """Bytes from web-safe base 64."""

    def compute(value: Any) -> Any:
        texts = value.reshape(-1).tolist()
        if len(texts) < _FEW or not _all_base64(texts):
            return map_strings(_decode_base64, value)
        # Those that are padded are not hurt by more.
        lines = b"==\n".join([*texts, b""]).translate(_FROM_WEB_SAFE)
        decoded = map(binascii.a2b_base64, lines.split(b"\n")[:-1])
        return to_strings(list(decoded), value.shape)

    return compute


def _all_base64(texts: list[bytes]) -> bool:
    """Whether all can be decoded."""
    blob, ends = joined(texts)
    if blob.translate(None, _BASE64 + b"=") != bytes(len(texts)):
        return False
    data = np.frombuffer(blob, np.uint8) == ord("=")
    sizes = np.diff(ends, prepend=-1) - 1
    # The last byte of each text, and the one before, where it has them.
    one = data.take(ends - 1, mode="wrap") & (sizes > 0)
    two = one & data.take(ends - 2, mode="wrap") & (sizes > 1)
    pads = one.astype(np.int64) + two
    if np.count_nonzero(data) != pads.sum() or (sizes[one] % 4).any():
        return False
    return not ((sizes - pads) % 4 == 1).any()


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
        texts = value.reshape(-1).tolist()
        if not texts:
            return np.zeros((*value.shape, 0), dtype)
        size = len(texts[0])
        for text in texts:
            if len(text) != size:
                raise invalid_argument(
                    "DecodeRaw requires input strings to all be the same size, but "
                    f"element 1 has size {size} != {len(text)}"
                )
        if size % dtype.itemsize:
            raise invalid_argument(
                f"Input to DecodeRaw has length {size} that is not a multiple of "
                f"{dtype.itemsize}, the size of {c['out_type'].name}"
            )
        return _numbers(texts, dtype, swap).reshape(
            *value.shape, size // dtype.itemsize
        )

    return compute


def _numbers(texts: list[bytes], dtype: Any, swap: bool) -> Any:
    data = bytearray(b"".join(texts))
    found = np.frombuffer(data, np.uint8 if dtype == np.bool_ else dtype)
    if dtype == np.bool_:
        return found != 0
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
        texts = [x[:length].ljust(length, b"\0") for x in value.reshape(-1).tolist()]
        return _numbers(texts, dtype, swap).reshape(
            *value.shape, length // dtype.itemsize
        )

    return compute
