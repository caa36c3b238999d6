"""Draws from distributions over the tokens of a step, and embeddings of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.random.random_ops import multinomial, random_uniform


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """ids -> embeddings, of such a function or of the embeddings."""
    if callable(embedding):
        return embedding  # type: ignore[no-any-return]
    return lambda ids: embedding_lookup(embedding, ids)


def checked_embedding_fn(
    embedding_fn: Any, wanted: str = "callable"
) -> Callable[[Any], Any] | None:
    """The function itself, or None. Raises ValueError: neither."""
    if embedding_fn is None or callable(embedding_fn):
        return embedding_fn  # type: ignore[no-any-return]
    raise ValueError(
        f"embedding_fn is expected to be {wanted}, got {type(embedding_fn)}"
    )


def start_and_end(start_tokens: Any, end_token: Any) -> tuple[Tensor, Tensor]:
    """Both as int32 tensors.

    Raises:
      ValueError: the first is no vector, or the second no scalar.
    """
    start = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
    end = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
    if start.shape.rank != 1:
        raise ValueError("start_tokens must be a vector")
    if end.shape.rank != 0:
        raise ValueError("end_token must be a scalar")
    return start, end


def bernoulli_sample(
    probs: Any = None,
    logits: Any = None,
    dtype: Any = dtypes.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Tensor:
    """Zeros and ones, [sample shape, shape of probs].

    Args:
      probs: of ones.
      logits: in place of them.
      dtype: of the result.
      sample_shape: a number, a list or a tensor.
      seed: of the draws.
    """
    if probs is None:
        probs = math_ops.sigmoid(logits, name="probs")
    else:
        probs = convert_to_tensor(probs, name="probs")
    batch_shape = array_ops.shape(probs)

    def draw(count: Tensor) -> Tensor:
        shape = array_ops.concat([[count], batch_shape], 0)
        uniform = random_uniform(shape, seed=seed, dtype=probs.dtype)
        return math_ops.cast(math_ops.less(uniform, probs), dtype)  # type: ignore[no-any-return]

    return _shaped(draw, sample_shape)


def categorical_sample(
    logits: Any,
    dtype: Any = dtypes.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Tensor:
    """Classes, [sample shape, shape of logits but the last].

    Args:
      logits: [..., classes].
      dtype: of the result.
      sample_shape: a number, a list or a tensor.
      seed: of the draws.
    """
    logits = convert_to_tensor(logits, name="logits")
    classes = array_ops.shape(logits)[-1]
    batch_shape = array_ops.shape(logits)[:-1]

    def draw(count: Tensor) -> Tensor:
        rows = logits
        if logits.shape.rank != 2:
            rows = array_ops.reshape(logits, [-1, classes])
        drawn_dtype = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        drawn = multinomial(rows, count, seed=seed, output_dtype=drawn_dtype)
        shape = array_ops.concat([[count], batch_shape], 0)
        drawn = array_ops.reshape(array_ops.transpose(drawn), shape)
        return math_ops.cast(drawn, dtype)  # type: ignore[no-any-return]

    return _shaped(draw, sample_shape)


def _shaped(draw: Callable[[Tensor], Tensor], sample_shape: Any) -> Tensor:
    """As many draws as the shape has elements, in the shape."""
    with name_scope(None, "call_sampler", values=[sample_shape]):
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        # A scalar becomes a vector of one.
        is_scalar = math_ops.equal(array_ops.rank(shape), 0)
        before = math_ops.cast(is_scalar, dtypes.int32)
        shape = array_ops.reshape(
            shape,
            array_ops.pad(
                array_ops.shape(shape), paddings=[[before, 0]], constant_values=1
            ),
        )
        samples = draw(math_ops.reduce_prod(shape))
        whole = array_ops.concat([shape, array_ops.shape(samples)[1:]], 0)
        return array_ops.reshape(samples, whole)
