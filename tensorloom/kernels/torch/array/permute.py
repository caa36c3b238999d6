"""Kernels that move elements about: Transpose, Reverse, Roll, blocks of space."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array import checks, space
from tensorloom.kernels.host.array import permute as host
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.concat import padded_shape
from tensorloom.kernels.torch.array.bits import move_bits
from tensorloom.kernels.torch.array.concat import pad_tensor


@kernel("Transpose", host_inputs=("perm",), aliases=True)
def _transpose(c: OpKernelConstruction) -> Compute:
    permutation = checks.keep_last(checks.permutation)
    return lambda value, perm: value.permute(permutation(value.dim(), perm))


@kernel("ConjugateTranspose", host_inputs=("perm",), aliases=True)
def _conjugate_transpose(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, perm: Any) -> torch.Tensor:
        moved = value.permute(checks.permutation(value.dim(), perm))
        return moved.conj().resolve_conj()

    return compute


@kernel("ReverseV2", host_inputs=("axis",))
def _reverse_v2(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, axis: Any) -> torch.Tensor:
        axes = host.reverse_axes(axis, value.dim())
        return move_bits(value, lambda v: v.flip(axes))

    return compute


@kernel("Reverse", host_inputs=("dims",))
def _reverse(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, flags: Any) -> torch.Tensor:
        axes = host.flagged_axes(flags, value.dim())
        return move_bits(value, lambda v: v.flip(axes))

    return compute


@kernel("ReverseSequence", host_inputs=("seq_lengths",))
def _reverse_sequence(c: OpKernelConstruction) -> Compute:
    batch, seq = c["batch_dim"], c["seq_dim"]

    def compute(value: torch.Tensor, lengths: Any) -> torch.Tensor:
        host.check_sequences(value.shape, lengths, batch, seq)
        positions = host.reversed_positions(lengths, value.shape[seq])
        moved = value.movedim((batch, seq), (0, 1))
        rows, steps, *rest = moved.shape
        # Of whole rows: several times faster than by two indices.
        positions = positions + np.arange(rows)[:, None] * steps
        index = torch.from_numpy(positions.ravel()).to(value.device)
        chosen = moved.reshape(rows * steps, *rest).index_select(0, index)
        return chosen.reshape(moved.shape).movedim((0, 1), (batch, seq))

    return compute


@kernel("Roll", host_inputs=("shift", "axis"))
def _roll(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, shift: Any, axis: Any) -> torch.Tensor:
        shifts, axes = host.roll_plan(shift, axis, value.dim())
        return value.roll(shifts, axes) if axes else value.clone()

    return compute


# --- blocks of space ----------------------------------------------------------------


def _rearrange(value: torch.Tensor, steps: space.Steps) -> torch.Tensor:
    split, order, shape = steps
    return value.reshape(split).permute(order).reshape(shape)


@kernel(["SpaceToDepth", "DepthToSpace"], aliases=True)
def _depth(c: OpKernelConstruction) -> Compute:
    block, to_space = c["block_size"], c.op == "DepthToSpace"
    first = c["data_format"] == b"NCHW"

    def compute(value: torch.Tensor) -> torch.Tensor:
        steps = space.depth_steps(value.shape, block, first, to_space)
        return _rearrange(value, steps)

    return compute


@kernel(
    ["SpaceToBatchND", "SpaceToBatch"],
    host_inputs=("block_shape", "paddings"),
    aliases=True,
)
def _space_to_batch(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    fixed = space.fixed_block(c)

    def compute(value: torch.Tensor, *inputs: Any) -> torch.Tensor:
        block, paddings = inputs if fixed is None else (fixed, inputs[0])
        blocks, rows = space.batch_blocks(value.shape, block, paddings, True)
        whole = [[0, 0], *rows, *[[0, 0]] * (value.dim() - len(rows) - 1)]
        check_shape(padded_shape(value.shape, whole), dtype, device)
        padded = pad_tensor(value, whole, 0)
        return _rearrange(padded, space.space_to_batch_steps(padded.shape, blocks))

    return compute


@kernel(
    ["BatchToSpaceND", "BatchToSpace"],
    host_inputs=("block_shape", "crops"),
    aliases=True,
)
def _batch_to_space(c: OpKernelConstruction) -> Compute:
    fixed = space.fixed_block(c)

    def compute(value: torch.Tensor, *inputs: Any) -> torch.Tensor:
        block, crops = inputs if fixed is None else (fixed, inputs[0])
        blocks, rows = space.batch_blocks(value.shape, block, crops, False)
        whole = _rearrange(value, space.batch_to_space_steps(value.shape, blocks))
        return whole[space.crop_index(whole.shape, rows)]

    return compute
