"""Host kernels that move elements about: Transpose, Reverse, Roll."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.math.errors import shape_text


@host_kernel("Transpose", aliases=True)
def _transpose(c: OpKernelConstruction) -> Compute:
    permutation = checks.keep_last(checks.permutation)
    return lambda value, perm: value.transpose(permutation(value.ndim, perm))


@host_kernel("ConjugateTranspose")
def _conjugate_transpose(c: OpKernelConstruction) -> Compute:
    is_complex = c["T"].is_complex

    def compute(value: Any, perm: Any) -> Any:
        moved = value.transpose(checks.permutation(value.ndim, perm))
        return np.conj(moved) if is_complex else moved.copy()

    return compute


@host_kernel("InvertPermutation")
def _invert_permutation(c: OpKernelConstruction) -> Compute:
    return invert_permutation


def invert_permutation(perm: Any) -> Any:
    """The permutation y with y[perm[i]] = i.

    Raises:
      InvalidArgumentError: not a permutation.
    """
    if perm.ndim != 1:
        raise invalid_argument(
            f"invert_permutation expects a 1D vector, but got shape "
            f"{shape_text(perm.shape)}"
        )
    if perm.size == 1 and perm[0] == 0:
        return perm
    if not perm.size:
        return perm.copy()
    if perm.min() < 0 or perm.max() >= perm.size:
        outside = perm[(perm < 0) | (perm >= perm.size)]
        raise invalid_argument(f"{outside[0]} is not between 0 and {perm.size}")
    result = np.full_like(perm, -1)
    result[perm] = np.arange(perm.size, dtype=perm.dtype)
    if result.min() < 0:
        values, counts = np.unique(perm, return_counts=True)
        raise invalid_argument(f"{values[counts > 1][0]} is duplicated in the input.")
    return result


@host_kernel("ReverseV2", aliases=True)
def _reverse_v2(c: OpKernelConstruction) -> Compute:
    def compute(value: Any, axis: Any) -> Any:
        axes = reverse_axes(axis, value.ndim)
        return np.flip(value, axes) if axes else value

    return compute


def reverse_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes to reverse, counted from the front.

    Raises:
      InvalidArgumentError: one out of range, or twice.
    """
    if axis.ndim != 1:
        raise invalid_argument("'axis' must be 1-dimension, not " + str(axis.ndim))
    axes: list[int] = []
    for i, number in enumerate(axis.tolist()):
        at = number + rank if number < 0 else number
        if not 0 <= at < rank:
            raise invalid_argument(
                f"'axis'[{i}] = {number} is out of valid range [0, {rank - 1}"
            )
        if at in axes:
            raise invalid_argument(f"axis {at} specified more than once.")
        axes.append(at)
    return tuple(axes)


@host_kernel("Reverse", aliases=True)
def _reverse(c: OpKernelConstruction) -> Compute:
    def compute(value: Any, flags: Any) -> Any:
        axes = flagged_axes(flags, value.ndim)
        return np.flip(value, axes) if axes else value

    return compute


def flagged_axes(flags: Any, rank: int) -> tuple[int, ...]:
    """The axes whose flag is set.

    Raises:
      InvalidArgumentError: not one flag for each axis.
    """
    if flags.ndim != 1 or flags.size != rank:
        raise invalid_argument(
            f"'dims' must have the same number of values as 'input' has dimensions. "
            f"'input' has {rank}'dims' has {flags.size} values"
        )
    return tuple(np.flatnonzero(flags).tolist())


@host_kernel("ReverseSequence")
def _reverse_sequence(c: OpKernelConstruction) -> Compute:
    batch, seq = c["batch_dim"], c["seq_dim"]

    def compute(value: Any, lengths: Any) -> Any:
        check_sequences(value.shape, lengths, batch, seq)
        index = reversed_positions(lengths, value.shape[seq])
        if batch + seq == 1:
            return _taken_rows(value, index, is_time_major=seq == 0)
        # [batch, time] first, gathered, and moved back.
        moved = np.moveaxis(value, (batch, seq), (0, 1))
        rows = np.arange(moved.shape[0])[:, None]
        return np.moveaxis(moved[rows, index], (0, 1), (batch, seq))

    return compute


def _taken_rows(value: Any, index: Any, is_time_major: bool) -> Any:
    """Rows of [batch, time, ...], or of [time, batch, ...], as one take of all."""
    batch, time = index.shape
    numbers = np.arange(batch)[:, None]
    places = (index * batch + numbers).T if is_time_major else index + numbers * time
    rows = value.reshape(batch * time, *value.shape[2:])
    return rows.take(places, 0)


def check_sequences(shape: Sequence[int], lengths: Any, batch: int, seq: int) -> None:
    """Checks what a ReverseSequence is given.

    Raises:
      InvalidArgumentError: axes out of range, or lengths that do not fit.
    """
    rank = len(shape)
    if batch == seq:
        raise invalid_argument("batch_dim == seq_dim == " + str(seq))
    for name, axis in (("seq_dim", seq), ("batch_dim", batch)):
        if not 0 <= axis < rank:
            raise invalid_argument(f"{name} must be < input rank ( {axis} vs. {rank})")
    if lengths.ndim != 1 or lengths.size != shape[batch]:
        raise invalid_argument(
            f"Length of seq_lengths != input.dims({batch}), ({lengths.size} vs. "
            f"{shape[batch]})"
        )
    for d, length in enumerate(lengths.tolist()):
        if length < 0:
            raise invalid_argument(f"seq_lens({d}) < 0")
        if length > shape[seq]:
            raise invalid_argument(f"seq_lens({d}) > input.dims({seq})")


def reversed_positions(lengths: Any, size: int) -> Any:
    """[batch, size]: where each entry of a partly reversed sequence comes from."""
    steps = np.arange(size)[None, :]
    ends = np.asarray(lengths, np.int64)[:, None]
    return np.where(steps < ends, ends - 1 - steps, steps)


@host_kernel("Roll")
def _roll(c: OpKernelConstruction) -> Compute:
    def compute(value: Any, shift: Any, axis: Any) -> Any:
        shifts, axes = roll_plan(shift, axis, value.ndim)
        return np.roll(value, shifts, axes)

    return compute


def roll_plan(
    shift: Any, axis: Any, rank: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(shifts, axes), the axes counted from the front.

    Raises:
      InvalidArgumentError: a scalar input, different numbers, or a bad axis.
    """
    if rank < 1:
        raise invalid_argument("input must be 1-D or higher")
    if shift.ndim > 1:
        raise invalid_argument(
            f"shift must be a scalar or a 1-D vector. Found: {shape_text(shift.shape)}"
        )
    if axis.ndim > 1:
        raise invalid_argument(
            f"axis must be a scalar or a 1-D vector. Found: {shape_text(axis.shape)}"
        )
    if shift.shape != axis.shape:
        raise invalid_argument("shift and axis must have the same size")
    axes = []
    for number in np.reshape(axis, -1).tolist():
        at = number + rank if number < 0 else number
        if not 0 <= at < rank:
            raise invalid_argument(f"axis {number} is out of range")
        axes.append(at)
    return tuple(np.reshape(shift, -1).tolist()), tuple(axes)
