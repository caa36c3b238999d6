"""Long sequences cut into segments, whose states are kept from one to the next.

A `Barrier` holds the segments. Its key of a segment is `<segment>_of_<count>:<key>`; a
segment is complete, and can be taken, once its state is there: that of the first is the
initial one, that of each next is inserted by `save_state` of the one before.
"""

from __future__ import annotations

from typing import Any

from tensorloom.client.queues.barrier import Barrier
from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.contrib.training.sequence_checks import (
    multiple_of,
    with_rank,
    with_shape,
    with_sizes,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import ones as ones_op
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.array.stack import stack
from tensorloom.ops.control_flow.builders import Assert, group
from tensorloom.ops.debugging.check import assert_greater_equal
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.indexing.slice import slice as slice_op
from tensorloom.ops.math.binary import div, maximum, minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import less_equal, logical_not
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.strings.string_ops import as_string, string_join

# The components that come before those of sequences, contexts and states.
_COUNTERS = ("length", "total_length", "next_key", "sequence", "sequence_count")


@export("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """A batch of segments; `SequenceQueueingStateSaver.next_batch` gives it."""

    def __init__(self, state_saver: Any) -> None:
        self._state_saver = state_saver
        self._taken: dict[str, Any] = state_saver._taken

    @property
    def total_length(self) -> Any:
        """The lengths of the whole sequences, int32 of shape [batch]."""
        return self._taken["total_length"]

    @property
    def length(self) -> Any:
        """How many steps of each segment count, int32 of shape [batch]."""
        return self._taken["length"]

    @property
    def batch_size(self) -> Any:
        """How many segments there are, a scalar int32."""
        return self._taken["batch_size"]

    @property
    def insertion_index(self) -> Any:
        """The number of the insertion of each example, int64 from -2**63."""
        return self._taken["insertion_index"]

    @property
    def key(self) -> Any:
        """The keys of the segments, strings of shape [batch]."""
        return self._taken["key"]

    @property
    def next_key(self) -> Any:
        """The keys of the segments after; `STOP:<key>` after the last."""
        return self._taken["next_key"]

    @property
    def sequence(self) -> Any:
        """Which segment of its example each is, int32 of shape [batch]."""
        return self._taken["sequence"]

    @property
    def sequence_count(self) -> Any:
        """How many segments the examples have, int32 of shape [batch]."""
        return self._taken["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        """By name what belongs to whole examples, each of shape [batch, ...]."""
        return self._taken["contexts"]  # type: ignore[no-any-return]

    @property
    def sequences(self) -> dict[str, Any]:
        """By name the segments, each of shape [batch, num_unroll, ...]."""
        return self._taken["sequences"]  # type: ignore[no-any-return]

    def state(self, state_name: str) -> Any:
        """The states with which the segments begin, of shape [batch, ...].

        Raises:
          KeyError: there is no such state.
        """
        return self._taken["states"][state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Any:
        """An operation that keeps a state for the segments after.

        Args:
          state_name: one of the names in `initial_states`.
          value: of shape [batch, ...].
          name: of the operations.

        Raises:
          KeyError: there is no such state.
        """
        saver = self._state_saver
        if state_name not in self._taken["states"]:
            raise KeyError(f"state was not declared: {state_name}")
        with (
            name_scope(name, "InputQueueingStateSaver_SaveState", [value]),
            colocate_with(saver._capacity_queue.queue_ref),
        ):
            goes_on = reshape(where_v2(logical_not(self._taken["is_done"])), [-1])
            value = with_shape(
                identity(value, name=f"convert_{state_name}"),
                shape_op(self._taken["states"][state_name]),
            )
            return saver.barrier.insert_many(
                saver._component("state", state_name),
                gather(self._taken["next_key"], goes_on),
                gather(value, goes_on),
                name=f"BarrierInsertState_{state_name}",
            )


@export("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Cuts sequences into segments, and batches segments of different examples.

    Args:
      batch_size: segments a batch, an int or a scalar tensor.
      num_unroll: steps a segment.
      input_length: the steps of the example that count, a scalar int32.
      input_key: a string that no other example has.
      input_sequences: by name tensors of shape [steps, ...]; the steps are a multiple
        of `num_unroll`.
      input_context: by name tensors that belong to the whole example.
      initial_states: by name the states of a first segment.
      capacity: how many examples are held; None for any number.
      allow_small_batch: give smaller batches at the end.
      name: of the operations.

    Raises:
      TypeError: an argument is of the wrong type.
      ValueError: shapes are not known, a name has a colon, the capacity is too small.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Any,
        input_context: Any,
        initial_states: Any,
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        input_key = _within_capacity(capacity, batch_size, input_key)
        self._batch_size = batch_size
        self._num_unroll = num_unroll
        self._allow_small_batch = allow_small_batch
        self._prefetch_op: Any = None
        self._next_batch: NextQueuedSequenceBatch | None = None
        self._capacity_queue = FIFOQueue(
            capacity=-1 if capacity is None else capacity,
            dtypes=[dtypes.int32],
            shapes=[[]],
        )
        with colocate_with(self._capacity_queue.queue_ref):
            _check_states(initial_states)
            values = [
                input_length,
                input_key,
                *input_sequences.values(),
                *input_context.values(),
            ]
            with name_scope(name, "InputQueueingStateSaver", values) as scope:
                self._name = scope
                self._convert(
                    input_length,
                    input_key,
                    input_sequences,
                    input_context,
                    initial_states,
                )
                self._barrier = self._make_barrier()

    def _convert(
        self, length: Any, key: Any, sequences: Any, context: Any, states: Any
    ) -> None:
        """The inputs as tensors, checked and ordered by name."""
        length = convert_to_tensor(length, name="length")
        key = convert_to_tensor(key, name="key")
        self._sequences = _tensors("sequence", sequences)
        self._context = _tensors("context", context)
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        self._states = _tensors("state", states)
        _check_known("state", self._states)
        _check_known("context", self._context)
        _check_known("sequence", self._sequences, skip=1)
        length, self._key = with_rank(length, 0), with_rank(key, 0)
        if length.dtype != dtypes.int32:
            raise TypeError(f"length dtype must be int32, but received: {length.dtype}")
        if key.dtype != dtypes.string:
            raise TypeError(f"key dtype must be string, but received: {key.dtype}")
        first = next(iter(self._sequences.values()))
        padded = identity(shape_op(first)[0], name="padded_length")
        check = multiple_of(padded, f"Tensor {padded.name}", self._num_unroll)
        with control_dependencies([check]):
            self._padded_length = identity(padded, name="multiple_of_checked")
        self._sequences = {
            k: with_sizes(v, [0], [self._padded_length], f"sorted_sequences_{k}")
            for k, v in self._sequences.items()
        }
        fits = Assert(
            less_equal(length, self._padded_length),
            [
                "Input length should be <= than length from sequences:",
                length,
                " vs. ",
                self._padded_length,
            ],
        )
        with control_dependencies([fits]):
            self._length = identity(length)

    def _make_barrier(self) -> Barrier:
        groups = {
            "sequence": self._sequences,
            "context": self._context,
            "state": self._states,
        }
        self._components = list(_COUNTERS)
        types = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
        shapes: list[Any] = [()] * len(types)
        for kind, values in groups.items():
            for k, value in values.items():
                self._components.append(f"{kind}:{k}")
                types.append(value.dtype)
                known = value.shape.as_list()
                if kind == "sequence":
                    known[0] = self._num_unroll
                shapes.append(known)
        return Barrier(types=types, shapes=shapes)

    def _component(self, kind: str, name: str = "") -> int:
        return self._components.index(f"{kind}:{name}" if name else kind)

    @property
    def name(self) -> str:
        """The name scope of the operations."""
        return self._name

    @property
    def barrier(self) -> Barrier:
        """The barrier that holds the segments."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """Segments a batch, as it was given."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """Steps a segment."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Any:
        """The operation that adds one example; a queue runner should run it."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._name):
                self._prefetch_op = self._make_prefetch_op()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next batch. Save its states in the step that reads it."""
        _ = self.prefetch_op
        if self._next_batch is None:
            with name_scope(None), name_scope(self._name):
                self._taken = self._take()
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Any:
        """An operation after which no example is added.

        Args:
          cancel_pending_enqueues: end those that wait, and the sequences begun, too.
          name: of the operation.
        """
        with name_scope(name, "SQSSClose", [self.prefetch_op]) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            queue = self._capacity_queue.close(cancel_pending_enqueues, "FIFOClose")
            return group(barrier, queue, name=scope)

    def _keys(self, sequence: Any, count: Any) -> tuple[Any, Any]:
        """The keys of the segments, and of those after them."""
        keys = string_join(
            [
                as_string(sequence, width=5, fill="0"),
                "_of_",
                as_string(count, width=5, fill="0"),
                ":",
                self._key,
            ],
            name="StringJoinCurrentKeys",
        )
        stop = string_join(["STOP:", self._key], name="StringJoinStop")
        following = concat(
            [slice_op(keys, [1], [-1]), expand_dims(stop, 0)],
            0,
            name="concat_next_keys",
        )
        return keys, following

    def _make_prefetch_op(self) -> Any:
        unroll = self._num_unroll
        count = div(self._padded_length, unroll)
        ones = ones_op(expand_dims(count, 0), dtype=dtypes.int32)
        sequence = range_op(count)
        keys, following = self._keys(sequence, count)
        left = maximum(0, self._length - unroll * sequence)
        counters = {
            "sequence": sequence,
            "sequence_count": count * ones,
            "next_key": following,
            "length": minimum(unroll, left),
            "total_length": self._length * ones,
        }
        inserts = [
            self._barrier.insert_many(
                self._component(kind), keys, value, name=f"BarrierInsert{_camel(kind)}"
            )
            for kind, value in counters.items()
        ]
        for k, value in self._context.items():
            inserts.append(
                self._barrier.insert_many(
                    self._component("context", k),
                    keys,
                    _repeated(value, count, k),
                    name=f"BarrierInsertContext_{k}",
                )
            )
        for k, value in self._sequences.items():
            inserts.append(
                self._barrier.insert_many(
                    self._component("sequence", k),
                    keys,
                    _segments(value, count, unroll, k),
                    name=f"BarrierInsertSequences_{k}",
                )
            )
        # The token is taken back with the last segment: so many examples are held.
        token = self._capacity_queue.enqueue((0,))
        # The initial state makes the first segment complete. `inserts[0]` comes before,
        # so that the examples keep the order in which they were added.
        with control_dependencies([inserts[0], token]):
            first = [
                self._barrier.insert_many(
                    self._component("state", k),
                    stack([keys[0]]),
                    stack([value]),
                    name=f"BarrierInitialInsertState_{k}",
                )
                for k, value in self._states.items()
            ]
        return group(token, *inserts, *first, name="StateSaverPrefetchGroup")

    def _take(self) -> dict[str, Any]:
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        taken = {kind: values[i] for i, kind in enumerate(_COUNTERS)}
        taken["insertion_index"], taken["key"] = indices, keys
        taken["contexts"] = {
            k: values[self._component("context", k)] for k in self._context
        }
        taken["sequences"] = {
            k: values[self._component("sequence", k)] for k in self._sequences
        }
        taken["batch_size"] = squeeze(shape_op(taken["length"]))
        taken["is_done"] = done = taken["sequence"] + 1 >= taken["sequence_count"]
        finished = reduce_sum(cast(done, dtypes.int32))
        with control_dependencies([self._capacity_queue.dequeue_many(finished)]):
            taken["states"] = {
                k: identity(values[self._component("state", k)]) for k in self._states
            }
        return taken


def _within_capacity(capacity: int | None, batch_size: Any, key: Any) -> Any:
    if capacity is None:
        return key
    if isinstance(batch_size, Tensor):
        check = assert_greater_equal(
            cast(capacity, dtypes.int64),
            cast(batch_size, dtypes.int64),
            message="capacity needs to be >= batch_size.",
        )
        with control_dependencies([check]):
            return identity(key)
    if capacity < batch_size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
    return key


def _camel(words: str) -> str:
    return "".join(word.capitalize() for word in words.split("_"))


def _check_states(states: Any) -> None:
    if not isinstance(states, dict):
        raise TypeError("initial_states must be a dictionary")
    if not states:
        raise ValueError(
            "initial_states may not be empty: at least one state variable is required "
            "to properly enqueue split sequences to run in separate iterations"
        )


def _tensors(kind: str, values: Any) -> dict[str, Any]:
    """By name, in order, tensors. Raises TypeError and ValueError for bad names."""
    if not isinstance(values, dict):
        raise TypeError(f"{kind} must be a dict")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")
    return {
        name: convert_to_tensor(values[name], name=f"{kind}_{name}")
        for name in sorted(values)
    }


def _check_known(kind: str, values: dict[str, Any], skip: int = 0) -> None:
    for name, value in values.items():
        if not value.shape[skip:].is_fully_defined():
            which = "(ignoring first dimension)" if skip else ""
            raise ValueError(
                f"Shape for {kind} {name} is not fully defined {which}: {value.shape}"
            )


def _segments(value: Any, count: Any, unroll: int, name: str) -> Any:
    """A sequence as segments, [count, unroll, ...]."""
    rest = value.shape.as_list()[1:]
    shape = concat(
        [expand_dims(count, 0), expand_dims(unroll, 0), rest],
        0,
        name=f"concat_sequences_{name}",
    )
    return with_sizes(
        reshape(value, shape, name=f"reshape_sequences_{name}"),
        range(len(rest) + 2),
        [count, unroll, *rest],
        f"reshaped_sequences_{name}",
    )


def _repeated(value: Any, count: Any, name: str) -> Any:
    """A context for each segment, [count, ...]."""
    known = value.shape.as_list()
    times = concat(
        [expand_dims(count, 0), [1] * len(known)], 0, name=f"concat_context_{name}"
    )
    return with_sizes(
        tile(expand_dims(value, 0), times, name=f"tile_context_{name}"),
        range(len(known) + 1),
        [count, *known],
        f"expanded_context_{name}",
    )
