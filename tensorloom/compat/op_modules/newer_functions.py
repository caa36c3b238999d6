"""Functions of 1.15's modules whose arguments are those of TensorFlow 2 (`..._v2`)."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime import random_seed
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array import reshape
from tensorloom.ops.lookup import index_tables
from tensorloom.ops.lookup.bucket_tables import FastHashSpec
from tensorloom.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from tensorloom.ops.sparse import serialization


def squeeze_v2(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """`tf.squeeze` without its old name for `axis`."""
    return reshape.squeeze(input, axis, name)


def fractional_max_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.nn.fractional_max_pool` with one seed; a seed makes all steps alike.

    Args:
      value: [batch, height, width, channels].
      pooling_ratio: a number for height and width, or a list of one, two or four.
    """
    options = (pooling_ratio, pseudo_random, overlapping, seed, name)
    return _fractional_pool("FractionalMaxPool", value, *options)


def fractional_avg_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.nn.fractional_avg_pool` with one seed; a seed makes all steps alike.

    Args:
      value: [batch, height, width, channels].
      pooling_ratio: as 1.15 has it, four numbers.
    """
    options = (pooling_ratio, pseudo_random, overlapping, seed, name)
    return _fractional_pool("FractionalAvgPool", value, *options)


def _fractional_pool(
    op: str,
    value: Any,
    ratio: Any,
    pseudo_random: bool,
    overlapping: bool,
    seed: int,
    name: str | None,
) -> Any:
    if op == "FractionalMaxPool":
        ratio = _four_numbers(ratio)
    first, second = (0, 0) if seed == 0 else random_seed.get_seed(seed)
    return apply_op(
        op,
        value=value,
        pooling_ratio=ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=seed != 0,
        seed=first,
        seed2=second,
        name=name,
    )


def _four_numbers(ratio: Any) -> list[Any]:
    """[1, height, width, 1] from what the caller wrote."""
    if not isinstance(ratio, list | tuple):
        ratio = [ratio]
    if len(ratio) == 4:
        return list(ratio)
    if len(ratio) == 1:
        ratio = [*ratio, *ratio]
    if len(ratio) != 2:
        raise ValueError(
            f"pooling_ratio should be of length 1, 2 or 4 but was {len(ratio)}"
        )
    return [1, *ratio, 1]


def safe_embedding_lookup_sparse_v2(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.safe_embedding_lookup_sparse` of tables partitioned by "div"."""
    return safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner,
        default_id,
        name,
        "div",
        max_norm,
    )


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.io.decode_raw` of strings of several lengths.

    Args:
      fixed_length: to how many bytes each string is cut, or padded by zeros.
    """
    if fixed_length is None:
        return apply_op(
            "DecodeRaw",
            bytes=input_bytes,
            out_type=out_type,
            little_endian=little_endian,
            name=name,
        )
    return apply_op(
        "DecodePaddedRaw",
        input_bytes=input_bytes,
        fixed_length=fixed_length,
        out_type=out_type,
        little_endian=little_endian,
        name=name,
    )


def serialize_sparse_v2(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Any:
    """`tf.io.serialize_sparse` with the dtype before the name."""
    return serialization.serialize_sparse(sp_input, name, out_type)


def serialize_many_sparse_v2(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Any:
    """`tf.io.serialize_many_sparse` with the dtype before the name."""
    return serialization.serialize_many_sparse(sp_input, name, out_type)


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensors of serialized ones, joined along new dimensions.

    Args:
      serialized_sparse: strings or variants [d0, ..., dn, 3].
      dtype: of their values.
      rank: of each of them; None if it is not known.
    """
    indices, values, shape = apply_op(
        "DeserializeSparse", serialized_sparse=serialized_sparse, dtype=dtype, name=name
    )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def extract_glimpse_v2(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Any:
    """`tf.image.extract_glimpse` with the kind of noise as a word.

    Args:
      noise: "uniform", "gaussian" or "zero".
    """
    return apply_op(
        "ExtractGlimpse",
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=noise == "uniform",
        noise=noise,
        name=name,
    )


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """`tf.contrib.lookup.index_table_from_tensor` with another name for the words."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    return index_tables.index_table_from_tensor(
        vocabulary_list, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """`tf.contrib.lookup.index_to_string_table_from_tensor`, likewise."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    return index_tables.index_to_string_table_from_tensor(
        vocabulary_list, default_value, name
    )
