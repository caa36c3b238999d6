"""Scores of attention, masks of them, and one-hot maxima."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import dimension_value
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging.check import assert_positive
from tensorloom.ops.math import math_ops


def size_of(tensor: Tensor, axis: int) -> Any:
    """The size of an axis: a number where it is known, else a scalar tensor."""
    return dimension_value(tensor.shape[axis]) or array_ops.shape(tensor)[axis]


@export("contrib.seq2seq.hardmax")
def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """One-hot vectors [..., depth] with the 1 where the logits are greatest.

    Args:
      logits: numbers [..., depth].
      name: of the operations.
    """
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = dimension_value(logits.shape[-1])
        if depth is None:
            depth = array_ops.shape(logits)[-1]
        return array_ops.one_hot(math_ops.argmax(logits, -1), depth, dtype=logits.dtype)


def prepare_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """A structure of memories [batch, time, ...], with zeros past their ends.

    Args:
      memory: tensors.
      memory_sequence_length: int [batch], how many steps of each row count.
      memory_mask: bool [batch, time], which of them do; in place of the lengths.
      check_inner_dims_defined: whether all but two sizes must be known.

    Raises:
      ValueError: a size is not known, or both lengths and mask are given.
    """
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    _check_one_mask(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        memory_sequence_length = convert_to_tensor(
            memory_sequence_length, name="memory_sequence_length"
        )
    if check_inner_dims_defined:
        nest.map_structure(_check_inner_sizes, memory)
    first = nest.flatten(memory)[0]
    if memory_sequence_length is not None:
        mask = array_ops.sequence_mask(
            memory_sequence_length, maxlen=array_ops.shape(first)[1], dtype=first.dtype
        )
    elif memory_mask is not None:
        mask = math_ops.cast(memory_mask, dtype=first.dtype)
    else:
        return memory
    return nest.map_structure(lambda m: _masked(m, mask), memory)


def _check_one_mask(memory_sequence_length: Any, memory_mask: Any) -> None:
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError(
            "memory_sequence_length and memory_mask can't be provided at same time."
        )


def _check_inner_sizes(memory: Tensor) -> None:
    if not memory.shape[2:].is_fully_defined():
        raise ValueError(
            f"Expected memory {memory.name} to have fully defined inner dims, but saw "
            f"shape: {memory.shape}"
        )


def _masked(memory: Tensor, mask: Tensor) -> Any:
    rank: Any = memory.shape.rank
    if rank is None:
        rank = array_ops.rank(memory)
    ones = array_ops.ones(rank - 2, dtype=dtypes.int32)
    shape = array_ops.concat((array_ops.shape(mask), ones), 0)
    return memory * array_ops.reshape(mask, shape)


def maybe_mask_score(
    score: Tensor,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Tensor:
    """Scores [batch, time] with `score_mask_value` past the ends of the memory.

    Raises:
      ValueError: both lengths and mask are given.
    """
    if memory_sequence_length is None and memory_mask is None:
        return score
    _check_one_mask(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        message = "All values in memory_sequence_length must be greater than zero."
        check = assert_positive(memory_sequence_length, message=message)
        with control_dependencies([check]):
            memory_mask = array_ops.sequence_mask(
                memory_sequence_length, maxlen=array_ops.shape(score)[1]
            )
    masked = score_mask_value * array_ops.ones_like(score)
    return array_ops.where(memory_mask, score, masked)


def luong_score(query: Tensor, keys: Tensor, scale: Any) -> Any:
    """The inner products of a query and keys (arXiv:1508.04025).

    Args:
      query: [batch, units].
      keys: [batch, time, units].
      scale: a scalar to multiply the scores with, or None.

    Returns:
      Scores [batch, time].

    Raises:
      ValueError: the numbers of units differ, or are not known.
    """
    depth, units = query.shape[-1], keys.shape[-1]
    # Two unknown sizes compare as None, which is no agreement.
    if not depth == units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  "
            "Perhaps you need to set num_units to the keys' dimension "
            f"({units})?"
        )
    query = array_ops.expand_dims(query, 1)
    score = array_ops.squeeze(math_ops.matmul(query, keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def bahdanau_score(
    processed_query: Tensor,
    keys: Tensor,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Tensor:
    """sum(v * tanh(keys + query)) over the units (arXiv:1409.0473).

    With both `attention_g` and `attention_b` it is g * v / |v| in place of v, and b is
    added under tanh (arXiv:1602.07868).

    Args:
      processed_query: [batch, units].
      keys: [batch, time, units].
      attention_v, attention_b: [units].
      attention_g: a scalar.

    Returns:
      Scores [batch, time].
    """
    query = array_ops.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return math_ops.reduce_sum(attention_v * math_ops.tanh(keys + query), [2])
    length = math_ops.reduce_sum(math_ops.square(attention_v))
    normed_v = attention_g * attention_v * math_ops.rsqrt(length)
    return math_ops.reduce_sum(
        normed_v * math_ops.tanh(keys + query + attention_b), [2]
    )
