"""Beams as an axis of their own, and the order that the search gives them."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.seq2seq.scores import size_of
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops
from tensorloom.ops.rnn import beam_search as _registers_gather_tree  # noqa: F401


@export("contrib.seq2seq.gather_tree")
def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Tensor:
    """The tokens of whole beams, of those that each step added.

    Args:
      step_ids: int32 [time, batch, beam], the tokens.
      parent_ids: of the same shape, which beam of the step before each one continues.
      max_sequence_lengths: int32 [batch].
      end_token: an int32 scalar; after the first one a beam has nothing else.
      name: of the operation.

    Returns:
      int32 [time, batch, beam].
    """
    return apply_op(  # type: ignore[no-any-return]
        "GatherTree",
        step_ids=step_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=max_sequence_lengths,
        end_token=end_token,
        name=name,
    )


@export("contrib.seq2seq.tile_batch")
def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each row as often as there are beams: [a, b] -> [a, a, ..., b, b, ...].

    Args:
      t: a structure of tensors [batch, ...].
      multiplier: how often.
      name: of the operations.

    Returns:
      The structure, with tensors [batch * multiplier, ...].

    Raises:
      ValueError: a rank is not known, or zero.
    """
    values = [*nest.flatten(t), multiplier]
    with name_scope(name, "tile_batch", values):
        return nest.map_structure(lambda value: _tiled(value, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Tensor:
    t = convert_to_tensor(t, name="t")
    shape = array_ops.shape(t)
    if not t.shape.rank:
        raise ValueError("t must have statically known rank")
    tiling = [1] * (t.shape.rank + 1)
    tiling[1] = multiplier
    batch = t.shape.as_list()[0]
    tiled = array_ops.tile(array_ops.expand_dims(t, 1), tiling)
    tiled = array_ops.reshape(
        tiled, array_ops.concat(([shape[0] * multiplier], shape[1:]), 0)
    )
    static = None if batch is None else batch * multiplier
    tiled.set_shape(TensorShape([static]).concatenate(t.shape[1:]))
    return tiled


def check_has_rank(t: Tensor) -> None:
    """Raises ValueError where the rank is not known."""
    if t.shape.rank is None:
        raise ValueError(
            f"Expected tensor ({t}) to have known rank, but ndims == None."
        )


def gather_tree_from_array(t: Tensor, parent_ids: Any, sequence_length: Any) -> Tensor:
    """The elements of a stacked TensorArray in the order of whole beams.

    Args:
      t: [time, batch, beam, ...] or [time, batch * beam, ...].
      parent_ids: int32 [time, batch, beam].
      sequence_length: [batch, beam].

    Returns:
      A tensor like `t`.
    """
    max_time, batch, beams = (size_of(parent_ids, axis) for axis in range(3))
    beam_ids = array_ops.expand_dims(array_ops.expand_dims(math_ops.range(beams), 0), 0)
    beam_ids = array_ops.tile(beam_ids, [max_time, batch, 1])
    longest = math_ops.reduce_max(sequence_length, axis=1)
    order = gather_tree(
        step_ids=beam_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=math_ops.cast(longest, dtypes.int32),
        end_token=beams + 1,
    )
    # A beam that has ended keeps its place.
    running = array_ops.transpose(
        array_ops.sequence_mask(sequence_length, maxlen=max_time), perm=[2, 0, 1]
    )
    order = array_ops.where(running, x=order, y=beam_ids)
    times = array_ops.tile(
        array_ops.reshape(math_ops.range(max_time), [-1, 1, 1]), [1, batch, beams]
    )
    rows = array_ops.tile(
        array_ops.reshape(math_ops.range(batch), [-1, 1, 1]), [1, max_time, beams]
    )
    rows = array_ops.transpose(rows, perm=[1, 0, 2])
    indices = array_ops.stack([times, rows, order], -1)
    flat = array_ops.reshape(t, [max_time, batch, beams, -1])
    return array_ops.reshape(array_ops.gather_nd(flat, indices), array_ops.shape(t))


class BeamLayout:
    """Tensors [batch * beam, ...] as [batch, beam, ...], and back."""

    def __init__(self, batch_size: Tensor, beam_width: int) -> None:
        self.batch_size, self.beam_width = batch_size, beam_width

    def merge(self, t: Tensor, size: Any = None) -> Tensor:
        """[batch, beam, ...] -> [batch * beam, ...]; `size` is of the rest."""
        rest = array_ops.shape(t)[2:]
        merged = array_ops.reshape(
            t, array_ops.concat(([self.batch_size * self.beam_width], rest), 0)
        )
        batch = constant_value(self.batch_size)
        static = None if batch is None else int(batch) * self.beam_width
        merged.set_shape(TensorShape([static]).concatenate(_static(size)))
        return merged

    def split(self, t: Tensor, size: Any = None) -> Tensor:
        """[batch * beam, ...] -> [batch, beam, ...]; `size` is of the rest.

        Raises:
          ValueError: the first size is not batch * beam.
        """
        rest = array_ops.shape(t)[1:]
        result = array_ops.reshape(
            t, array_ops.concat(([self.batch_size, self.beam_width], rest), 0)
        )
        batch = constant_value(self.batch_size)
        expected = TensorShape(
            [None if batch is None else int(batch), self.beam_width]
        ).concatenate(_static(size))
        if not result.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size."
                f"  The reshaped tensor has shape: {result.shape}.  We expected it to "
                f"have shape (batch_size, beam_width, depth) == {expected}.  Perhaps "
                "you forgot to create a zero_state with "
                "batch_size=encoder_batch_size * beam_width?"
            )
        result.set_shape(expected)
        return result

    def maybe_split(self, t: Any, size: Any) -> Any:
        """`split`; TensorArrays and scalars as they are."""
        if isinstance(t, TensorArray):
            return t
        check_has_rank(t)
        return self.split(t, size) if t.shape.rank >= 1 else t

    def maybe_merge(self, t: Any, size: Any) -> Any:
        """`merge`; TensorArrays and what has no beams as they are."""
        if isinstance(t, TensorArray):
            return t
        check_has_rank(t)
        return self.merge(t, size) if t.shape.rank >= 2 else t

    def maybe_sort(self, t: Any, parent_ids: Any, sequence_length: Any) -> Any:
        """A TensorArray stacked in the order of whole beams, where it has beams."""
        if not isinstance(t, TensorArray):
            return t
        shape = t.element_shape
        if not shape.rank:
            program_log.warning(
                f"The TensorArray {t.handle.name} in the cell state is not amenable to "
                "sorting based on the beam search result. For a TensorArray to be "
                "sorted, its elements shape must be defined and have at least a rank "
                f"of 1, but saw shape: {shape}"
            )
            return t
        batch = constant_value(self.batch_size)
        if not may_have_beams(shape, batch, self.beam_width):
            return t
        stacked = t.stack()
        check = check_batch_beam(stacked, self.batch_size, self.beam_width)
        with control_dependencies([check]):
            return gather_tree_from_array(stacked, parent_ids, sequence_length)


def may_have_beams(shape: TensorShape, batch: int | None, beams: int) -> bool:
    """Whether elements may have beams, as far as their static shape says.

    As in TensorFlow, of two known sizes both this and one axis of batch * beam must
    hold, so only one of them known leaves the decision to the run.
    """
    sizes = shape.as_list()
    if batch is None or sizes[0] is None:
        return True
    own_axes = len(sizes) < 2 or sizes[1] is None or sizes[:2] == [batch, beams]
    if sizes[0] == batch * beams and own_axes:
        return True
    program_log.warning(
        "TensorArray reordering expects elements to be reshapable to "
        f"{TensorShape([batch, beams, None])} which is incompatible with the current "
        f"shape {shape}. Consider setting reorder_tensor_arrays to False to disable "
        "TensorArray reordering during the beam search."
    )
    return False


def check_batch_beam(t: Tensor, batch_size: Any, beam_width: int) -> Operation:
    """Asserts that [time, ...] has beams: one axis with the batch, or their own."""
    shape = array_ops.shape(t)
    fits = math_ops.equal(shape[1], batch_size * beam_width)
    if t.shape.rank != 2:
        own = math_ops.logical_and(
            math_ops.equal(shape[1], batch_size), math_ops.equal(shape[2], beam_width)
        )
        fits = math_ops.logical_or(fits, own)
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, "
        "beam_size, -1] which is incompatible with the dynamic shape of "
        f"{t.name} elements. Consider setting reorder_tensor_arrays to False to "
        "disable TensorArray reordering during the beam search."
    )
    return control_flow_ops.Assert(fits, [message])


def _static(size: Any) -> TensorShape:
    """A size (number, shape or tensor) as a static shape."""
    if isinstance(size, Tensor):
        size = constant_value(size)
    return TensorShape(size)
