"""Batches of examples that are taken or left by chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import (
    convert_n_to_tensor_or_indexed_slices,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.control_flow.builders import Assert, with_dependencies
from tensorloom.ops.debugging.check import (
    assert_equal,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from tensorloom.ops.debugging.check_type import assert_integer
from tensorloom.ops.debugging.logging import print_v1
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math.binary import truediv
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, less, logical_or, not_equal
from tensorloom.ops.math.elementwise import is_nan
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.reductions import reduce_all, reduce_max, reduce_sum
from tensorloom.train.inputs.input_batches import batch as batch_op
from tensorloom.train.inputs.input_batches import maybe_batch

# What an estimated proportion of classes begins with, so that none is zero.
_FIRST_COUNT = 10
_TOLERANCE = 1e-6


@export("contrib.training.rejection_sample")
def rejection_sample(
    tensors: Any,
    accept_prob_fn: Callable[[Any], Any],
    batch_size: Any,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Batches of examples, each taken with a probability of its own.

    Args:
      tensors: a list: an example, or with `enqueue_many` several along dimension 0.
      accept_prob_fn: from the tensors of an example the probability, a scalar.
      batch_size: an int or a scalar tensor.
      queue_threads: that fill the batches.
      enqueue_many: `tensors` are several examples.
      prebatch_capacity, prebatch_threads: of the queue that holds those.
      runtime_checks: check when run that a probability lies in [0, 1].
      name: of the variable scope.

    Returns:
      A list of tensors with a new dimension 0.

    Raises:
      ValueError: with `enqueue_many`, a tensor has no dimension 0, or another one.
    """
    with variable_scope(name, "rejection_sample", tensors):
        example = convert_n_to_tensor_or_indexed_slices(tensors)
        if enqueue_many:
            _check_batches(example, example[0])
            example = _single(example, prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(example)
        if runtime_checks:
            checks = [
                assert_less_equal(0.0, probability),
                assert_less_equal(probability, 1.0),
            ]
            probability = identity(
                with_dependencies(checks, probability), name="prob_with_checks"
            )
        batch = maybe_batch(
            example,
            keep_input=random_uniform([]) < probability,
            batch_size=batch_size,
            num_threads=queue_threads,
        )
        return [batch] if isinstance(batch, Tensor) else batch


def _single(tensors: Sequence[Any], threads: int, capacity: int) -> list[Any]:
    """One example at a time of several."""
    batched = batch_op(
        tensors,
        batch_size=1,
        num_threads=threads,
        capacity=capacity,
        enqueue_many=True,
    )
    if isinstance(batched, Tensor):
        batched = [batched]
    return [squeeze(one, [0]) for one in batched]


def _check_batches(tensors: Sequence[Any], like: Any) -> None:
    for tensor in tensors:
        shape = tensor.shape.with_rank_at_least(1)
        shape[:1].assert_is_compatible_with(like.shape[:1])


@export("contrib.training.stratified_sample")
def stratified_sample(
    tensors: Any,
    labels: Any,
    target_probs: Any,
    batch_size: Any,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """Batches in which classes have the wanted proportions; what is too much is left.

    Args:
      tensors: a list: an example, or with `enqueue_many` several along dimension 0.
      labels: its class, an integer; or the classes of several.
      target_probs: the wanted proportions, float32 of shape [classes].
      batch_size: an int or a scalar tensor.
      init_probs: the proportions in the data; they are estimated when None.
      enqueue_many: `tensors` are several examples.
      queue_capacity, threads_per_queue: of the queues.
      name: of the operations.

    Returns:
      A list of tensors with a new dimension 0, and the labels [batch].

    Raises:
      ValueError: shapes do not fit. (When run, InvalidArgumentError: probabilities do
        not sum to 1, labels are no classes, or a class that does not occur is wanted.)
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = convert_n_to_tensor_or_indexed_slices(tensors)
        labels = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            examples = [expand_dims(tensor, 0) for tensor in examples]
            labels = expand_dims(labels, 0)
        if init_probs is None:
            target.shape.assert_is_fully_defined()
            start = estimated_proportions(labels, target.shape.num_elements() or 0)
        else:
            start = convert_to_tensor(init_probs, dtype=dtypes.float32)
        examples, labels, (start, target) = checked_inputs(
            examples, labels, [start, target]
        )
        occur = Assert(
            reduce_all(logical_or(not_equal(start, 0), equal(target, 0))),
            [
                "All classes with zero initial probability must also have zero target "
                "probability: ",
                start,
                target,
            ],
        )
        start = with_dependencies([occur], start)
        accept = _warned(acceptance(start, target), start)
        *example, label = _single(
            [*examples, labels], threads_per_queue, queue_capacity
        )
        *batch, batch_labels = maybe_batch(
            [*example, label],
            keep_input=random_uniform([]) < gather(accept, label),
            batch_size=batch_size,
            num_threads=threads_per_queue,
        )
        return batch, batch_labels


def acceptance(start: Any, target: Any) -> Any:
    """The probability to take an example of a class: wanted over given, at most 1."""
    ratio = target / start
    ratio = where_v2(is_nan(ratio), zeros_like(ratio), ratio)
    return ratio / reduce_max(ratio)


def _warned(accept: Any, start: Any) -> Any:
    """Prints where more than half of the examples are left."""
    rejected = reduce_sum((1 - accept) * start)
    return cond(
        less(rejected, 0.5),
        lambda: accept,
        lambda: print_v1(
            accept,
            [accept],
            message="Proportion of examples rejected by sampler is high.",
            first_n=10,
        ),
    )


def estimated_proportions(labels: Any, classes: int) -> Any:
    """The proportions of the classes among the labels so far."""
    counts: Any = Variable(
        initial_value=[_FIRST_COUNT] * classes,
        trainable=False,
        name="class_count",
        dtype=dtypes.int64,
    ).assign_add(reduce_sum(one_hot(labels, classes, dtype=dtypes.int64), 0))
    # A copy: another thread may go on counting while this one divides.
    counts += 0
    return cast(truediv(counts, reduce_sum(counts)), dtypes.float32)


def checked_inputs(
    examples: Sequence[Any], labels: Any, probabilities: Sequence[Any]
) -> tuple[list[Any], Any, list[Any]]:
    """Batches, their labels, and probabilities of classes, which steps check.

    Raises:
      ValueError: a static shape does not fit.
    """
    checked = _checked_probabilities(probabilities)
    classes = checked[0].shape.num_elements() or 0
    return (*_checked_examples(examples, labels, classes), checked)


def _checked_probabilities(given: Sequence[Any]) -> list[Any]:
    checked = []
    for probabilities in given:
        probabilities.shape.assert_is_fully_defined()
        probabilities.shape.assert_has_rank(1)
        total = reduce_sum(probabilities)
        checks = [
            assert_non_negative(probabilities),
            assert_less(total, 1.0 + _TOLERANCE),
            assert_less(1.0 - _TOLERANCE, total),
        ]
        checked.append(with_dependencies(checks, probabilities))
    if len({one.shape.num_elements() for one in checked}) > 1:
        raise ValueError("Probability parameters must have the same length.")
    return checked


def _checked_examples(
    examples: Sequence[Any], labels: Any, classes: int
) -> tuple[list[Any], Any]:
    labels.shape.assert_has_rank(1)
    _check_batches(examples, labels)
    count = shape_op(labels)[0]
    positive = assert_positive(count)
    labels = with_dependencies([positive], labels)
    examples = [
        with_dependencies([positive, assert_equal(shape_op(one)[0], count)], one)
        for one in examples
    ]
    checks = [
        assert_integer(labels),
        assert_non_negative(labels),
        assert_less(labels, cast(classes, labels.dtype)),
    ]
    return examples, with_dependencies(checks, labels)
