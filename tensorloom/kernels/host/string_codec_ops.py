"""Host kernels between strings and numbers: hashes, base 64, raw bytes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.string_arrays import map_strings
from tensorloom.kernels.host.string_hash_arrays import (
    fingerprints64,
    hashes64,
    siphashes,
)

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
        hashes = fingerprints64([_row_bytes(row) for row in _rows(data)])
        return hashes.view(np.uint8).reshape(len(hashes), 8)

    return compute


def _rows(data: Any) -> list[Any]:
    return list(data.reshape(len(data), -1)) if len(data) else []


def _row_bytes(row: Any) -> bytes:
    if row.dtype != object:
        return row.tobytes()  # type: ignore[no-any-return]
    if len(row) == 1:
        return row[0]  # type: ignore[no-any-return]
    # Of several strings: the hash of their hashes, so that lengths count.
    return fingerprints64(row.tolist()).tobytes()  # type: ignore[no-any-return]


# --- base 64 ----------------------------------------------------------------------

_NO_BASE64 = re.compile(rb"[^A-Za-z0-9_\-]")


@host_kernel("EncodeBase64", large=True)
def encode_base64(c: OpKernelConstruction) -> Compute:
    """Web-safe base 64."""
    pad = c["pad"]

    def encode(text: bytes) -> bytes:
        encoded = base64.urlsafe_b64encode(text)
        return encoded if pad else encoded.rstrip(b"=")

    return lambda value: map_strings(encode, value)


@host_kernel("DecodeBase64", large=True)
def decode_base64(c: OpKernelConstruction) -> Compute:
    """Bytes from web-safe base 64."""
    return lambda value: map_strings(_decode_base64, value)


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
