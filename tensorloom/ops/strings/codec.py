"""Ops between strings and numbers: hashes, fingerprints, base 64, raw bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    unchanged_shape,
)
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.ops.array.argument_aliases import either

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_RAW_TYPES = "half, float, double, int32, uint16, uint8, int16, int8, int64"


def _raw_shape(c: InferenceContext) -> TensorShape:
    dims = c.input_shape(0).dims_tuple
    return UNKNOWN if dims is None else TensorShape.of((*dims, None))


def _padded_raw_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    dims = c.input_shape(0).dims_tuple
    length = c.input_value(1)
    if dims is None:
        return UNKNOWN
    size = c.attrs["out_type"].size
    width = None if length is None else int(length) // size
    return TensorShape.of((*dims, width))


def _fingerprint_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    dims = c.with_rank_at_least(0, 1).dims_tuple
    method = c.input_value(1)
    known = method is not None and bytes(method.item()) == b"farmhash64"
    return TensorShape.of((dims[0] if dims else None, 8 if known else None))


register_op(
    "StringToHashBucket",
    inputs=["string_tensor: string"],
    outputs=["output: int64"],
    attrs=["num_buckets: int >= 1"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A hash of each string modulo the number of buckets.",
)
register_op(
    "StringToHashBucketFast",
    inputs=["input: string"],
    outputs=["output: int64"],
    attrs=["num_buckets: int >= 1"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="FarmHash of each string modulo the number of buckets.",
)
register_op(
    "StringToHashBucketStrong",
    inputs=["input: string"],
    outputs=["output: int64"],
    attrs=["num_buckets: int >= 1", "key: list(int)"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="SipHash of each string under a key modulo the number of buckets.",
)
register_op(
    "Fingerprint",
    inputs=["data: T", "method: string"],
    outputs=["fingerprint: uint8"],
    attrs=["T: type"],
    shape_fn=_fingerprint_shape,
    doc="Eight bytes of FarmHash for each row.",
)
register_op(
    "EncodeBase64",
    inputs=["input: string"],
    outputs=["output: string"],
    attrs=["pad: bool = false"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Strings in web-safe base 64.",
)
register_op(
    "DecodeBase64",
    inputs=["input: string"],
    outputs=["output: string"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Strings from web-safe base 64.",
)
register_op(
    "DecodeRaw",
    inputs=["bytes: string"],
    outputs=["output: out_type"],
    attrs=[
        f"out_type: {{{_RAW_TYPES}, complex64, complex128, bool, bfloat16}}",
        "little_endian: bool = true",
    ],
    shape_fn=_raw_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The bytes of each string as a vector of numbers.",
)
register_op(
    "DecodePaddedRaw",
    inputs=["input_bytes: string", "fixed_length: int32"],
    outputs=["output: out_type"],
    attrs=[f"out_type: {{{_RAW_TYPES}, bfloat16}}", "little_endian: bool = true"],
    shape_fn=_padded_raw_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The bytes of each string, cut or padded, as a vector of numbers.",
)


@export("strings.to_hash_bucket", "string_to_hash_bucket")
def string_to_hash_bucket(
    string_tensor: Any = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The bucket of each string. The hash may change; prefer the fast one."""
    text = either("input", input, "string_tensor", string_tensor)
    return apply_op(  # type: ignore[no-any-return]
        "StringToHashBucket", string_tensor=text, num_buckets=num_buckets, name=name
    )


@export("strings.to_hash_bucket_fast", "string_to_hash_bucket_fast")
def string_to_hash_bucket_fast(
    input: Any, num_buckets: int, name: str | None = None
) -> Tensor:
    """The bucket of each string by FarmHash, int64."""
    return apply_op(  # type: ignore[no-any-return]
        "StringToHashBucketFast", input=input, num_buckets=num_buckets, name=name
    )


@export("strings.to_hash_bucket_strong", "string_to_hash_bucket_strong")
def string_to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """The bucket of each string by SipHash under a key of two integers, int64."""
    return apply_op(  # type: ignore[no-any-return]
        "StringToHashBucketStrong",
        input=input,
        num_buckets=num_buckets,
        key=key,
        name=name,
    )


@export("fingerprint")
def fingerprint(
    data: Any, method: Any = "farmhash64", name: str | None = None
) -> Tensor:
    """Eight bytes for each row of `data`: [rows, 8], uint8."""
    return apply_op("Fingerprint", data=data, method=method, name=name)  # type: ignore[no-any-return]


@export("io.encode_base64", "encode_base64")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in web-safe base 64; `pad` fills up with "="."""
    return apply_op("EncodeBase64", input=input, pad=pad, name=name)  # type: ignore[no-any-return]


@export("io.decode_base64", "decode_base64")
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Strings from web-safe base 64, padded or not."""
    return apply_op("DecodeBase64", input=input, name=name)  # type: ignore[no-any-return]


@export("io.decode_raw", "decode_raw")
def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Tensor:
    """The bytes of each string as numbers, in a new last dimension.

    Raises:
      ValueError: no `out_type`.
    """
    data = either("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return apply_op(  # type: ignore[no-any-return]
        "DecodeRaw",
        bytes=data,
        out_type=out_type,
        little_endian=little_endian,
        name=name,
    )


register_op(
    "_TensorToHashBucketFast",
    inputs=["input: T"],
    outputs=["output: int64"],
    attrs=[
        "T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
        "num_buckets: int >= 1",
    ],
    shape_fn=unchanged_shape,
    doc="StringToHashBucketFast of AsString.",
)
