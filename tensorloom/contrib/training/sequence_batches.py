"""`tf.contrib.training.batch_sequences_with_states`."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.training import sparse_segments
from tensorloom.contrib.training.sequence_checks import multiple_of
from tensorloom.contrib.training.sequence_states import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
)
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import fill
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.control_flow.builders import Assert, with_dependencies
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.reductions import reduce_max
from tensorloom.ops.strings.string_ops import as_string, string_join
from tensorloom.summary import summary
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner

# Of a key that is made unique, the numbers that come behind it.
_KEYS = 100_000_000


@export("contrib.training.batch_sequences_with_states")
def batch_sequences_with_states(
    input_key: Any,
    input_sequences: Any,
    input_context: Any,
    input_length: Any,
    initial_states: Any,
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of segments of long sequences, whose states go on; a queue runner fills.

    Args:
      input_key: a string that no other example has.
      input_sequences: by name tensors or sparse tensors of shape [steps, ...].
      input_context: by name tensors or sparse tensors of the whole example.
      input_length: the steps that count, a scalar int32; all of them when None and
        `pad` is true.
      initial_states: by name the states of a first segment.
      num_unroll: steps a segment.
      batch_size: segments a batch.
      num_threads: that add examples.
      capacity: how many examples are held.
      allow_small_batch: give smaller batches at the end.
      pad: lengthen sequences to a multiple of `num_unroll`.
      make_keys_unique: put a random number behind the key.
      make_keys_unique_seed: of it.
      name: of the operations.

    Raises:
      TypeError: an argument is of the wrong type.
      ValueError: shapes are not known.
    """
    values = [
        *input_sequences.values(),
        *input_context.values(),
        *initial_states.values(),
    ]
    with name_scope(name, "batch_sequences_with_states", values):
        if pad:
            length, sequences = padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {
                k: _checked(k, v, num_unroll) for k, v in input_sequences.items()
            }
        context, sequences = sparse_segments.context_into_sequences(
            input_context, sequences, num_unroll
        )
        sequences, stored = sparse_segments.stored(sequences)
        if make_keys_unique:
            number = random_uniform(
                (),
                minval=0,
                maxval=_KEYS,
                dtype=dtypes.int32,
                seed=make_keys_unique_seed,
            )
            input_key = string_join([input_key, as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences=sequences,
            input_context=context,
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        summary.scalar(
            f"queue/{saver.barrier.name}/ready_segment_batches_",
            cast(saver.barrier.ready_size(), dtypes.float32),
        )
        add_queue_runner(
            QueueRunner(
                saver,
                [saver.prefetch_op] * num_threads,
                queue_closed_exception_types=(
                    errors.OutOfRangeError,
                    errors.CancelledError,
                ),
            )
        )
        batch = saver.next_batch
        sparse_segments.restored(batch.sequences, stored, batch_size, num_unroll)
        sparse_segments.context_from_sequences(batch.context, batch.sequences)
        return batch


def _checked(name: str, value: Any, unroll: int) -> Any:
    """A sequence whose length is checked in each step."""
    if sparse_segments.is_sparse(value):
        steps = value.dense_shape[0]
        check = multiple_of(
            steps, f"SparseTensor {name} first dimension", cast(unroll, dtypes.int64)
        )
        with control_dependencies([check]):
            return SparseTensor(
                indices=identity(value.indices, name="multiple_of_checked"),
                values=identity(value.values, name="multiple_of_checked"),
                dense_shape=identity(value.dense_shape, name="multiple_of_checked"),
            )
    if not isinstance(value, Tensor):
        try:
            value = convert_to_tensor(value)
        except TypeError as error:
            raise TypeError(
                "Unsupported input_sequences expected Tensor or SparseTensor values, "
                f"got: {type(value)} for key {name}"
            ) from error
    check = multiple_of(shape_op(value)[0], f"Tensor {name} first dimension", unroll)
    with control_dependencies([check]):
        return identity(value, name="multiple_of_checked")


def padded(sequences: Any, num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """The length of the sequences, and these lengthened to a multiple of a number.

    Raises:
      TypeError: the sequences are no dict with strings for keys.
      ValueError: `num_unroll` is no int.
    """
    if not isinstance(num_unroll, int):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    values = {
        key: sequences[key]
        if sparse_segments.is_sparse(sequences[key])
        else convert_to_tensor(sequences[key])
        for key in sorted(sequences)
    }
    length = _length(list(values.values()))
    longer = length + ((num_unroll - (length % num_unroll)) % num_unroll)
    return length, {key: _lengthened(value, longer) for key, value in values.items()}


def _length(values: list[Any]) -> Any:
    dense = [v for v in values if not sparse_segments.is_sparse(v)]
    lengths = [shape_op(value)[0] for value in dense]
    if not lengths:
        return reduce_max(cast([v.dense_shape[0] for v in values], dtypes.int32))
    checks = [
        Assert(
            equal(one, lengths[0]),
            ["All sequence lengths must match, but received lengths: ", *lengths],
        )
        for one in lengths
    ]
    return with_dependencies(checks, lengths[0])


def _lengthened(value: Any, steps: Any) -> Any:
    if sparse_segments.is_sparse(value):
        first = expand_dims(cast(steps, dtypes.int64), 0)
        shape = concat([first, value.dense_shape[1:]], 0)
        return SparseTensor(value.indices, value.values, shape)
    shape = shape_op(value)
    missing = concat([expand_dims(steps - shape[0], 0), shape[1:]], 0)
    nothing = constant("" if value.dtype == dtypes.string else 0, dtype=value.dtype)
    return concat([value, fill(missing, nothing)], 0)
