"""Data that depend on a condition, and a pool of older data."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.queues.queues import RandomShuffleQueue
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.layers.dense import linear
from tensorloom.contrib.layers.shaping import flatten
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.reductions import argmax


@export("contrib.gan.features.condition_tensor")
def condition_tensor(tensor: Any, conditioning: Any) -> Any:
    """The tensor plus a learnt linear function of a condition.

    Args:
      tensor: [batch, ...], all but the batch known.
      conditioning: [batch, ...], of two axes at least.

    Raises:
      ValueError: a shape is not known, or the condition has fewer axes.
    """
    tensor.shape[1:].assert_is_fully_defined()
    if conditioning.shape.ndims < 2:
        raise ValueError(
            f"conditioning must be at least 2D, but saw shape: {conditioning.shape}"
        )
    mapped = linear(flatten(conditioning), tensor.shape[1:].num_elements())
    if not mapped.shape.is_compatible_with(tensor.shape):
        shape = shape_of(tensor)
        known = constant_value(shape)
        mapped = reshape(mapped, shape if known is None else known)
    return tensor + mapped


@export("contrib.gan.features.condition_tensor_from_onehot")
def condition_tensor_from_onehot(
    tensor: Any, one_hot_labels: Any, embedding_size: int = 256
) -> Any:
    """The tensor plus a learnt linear function of an embedding of its class.

    Args:
      tensor: [batch, ...], all but the batch known.
      one_hot_labels: [batch, classes].
      embedding_size: the size of the embedding.

    Raises:
      ValueError: a shape is not known, or the labels have not two axes.
    """
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    label = argmax(one_hot_labels, axis=1)
    table = get_variable("embedding", [one_hot_labels.shape[1], embedding_size])
    return condition_tensor(
        tensor, embedding_lookup(table, label, name="token_to_embedding")
    )


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, Tensor) else list(values)


@export("contrib.gan.features.tensor_pool")
def tensor_pool(
    input_values: Any,
    pool_size: int = 50,
    pooling_probability: Any = 0.5,
    name: str = "tensor_pool",
) -> Any:
    """The values, or by chance older ones in their place (Shrivastava et al., 2016).

    Until the pool is full, values are stored and returned. Then each run stores them
    for a random stored one, and returns one of the two.

    Args:
      input_values: a nested structure of tensors.
      pool_size: how many are stored; 0 for no pool.
      pooling_probability: of an older one.
      name: of the scope.

    Raises:
      ValueError: `pool_size` is negative.
    """
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    values = nest.flatten(input_values)
    with name_scope(f"{name}_pool_queue", values=[*values, pooling_probability]):
        pool = RandomShuffleQueue(
            capacity=pool_size,
            min_after_dequeue=0,
            dtypes=[value.dtype for value in values],
            shapes=None,
        )

        def stored() -> list[Any]:
            with control_dependencies([pool.enqueue(values)]):
                return [identity(value) for value in values]

        def exchanged() -> Any:
            older = _listed(pool.dequeue())
            with control_dependencies(older):
                enqueue = pool.enqueue(values)
            with control_dependencies([enqueue]):
                chance = random_uniform((), dtype=dtypes.float32)
                return cond(chance < pooling_probability, lambda: older, lambda: values)

        outputs = _listed(cond(pool.size() < pool_size, stored, exchanged))
        for value, output in zip(values, outputs, strict=True):
            output.set_shape(value.shape)
    return nest.pack_sequence_as(input_values, outputs)
