"""Host kernels that move blocks of space to depth or batch and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.concat import pad_array
from tensorloom.kernels.host.array.fill import empty_of
from tensorloom.kernels.host.math.errors import shape_text

Steps = tuple[list[int], list[int], list[int]]  # reshape to, then permute, then reshape


def depth_steps(
    shape: Sequence[int], block: int, channels_first: bool, to_space: bool
) -> Steps:
    """How to move blocks between channels and space.

    Raises:
      InvalidArgumentError: not pictures, or sizes that the block does not divide.
    """
    if len(shape) != 4:
        raise invalid_argument(f"Input rank should be: 4 instead of: {len(shape)}")
    if channels_first:
        batch, depth, height, width = shape
    else:
        batch, height, width, depth = shape
    if to_space:
        if depth % (block * block):
            raise invalid_argument(
                f"Input depth dimension {depth} should be divisible by: {block * block}"
            )
        part = depth // (block * block)
        if channels_first:
            split = [batch, block, block, part, height, width]
            order = [0, 3, 4, 1, 5, 2]
            return split, order, [batch, part, height * block, width * block]
        split = [batch, height, width, block, block, part]
        return split, [0, 1, 3, 2, 4, 5], [batch, height * block, width * block, part]
    if height % block or width % block:
        raise invalid_argument(
            f"Image width {width} and height {height} should be divisible by "
            f"block_size: {block}"
        )
    rows, columns, whole = height // block, width // block, depth * block * block
    if channels_first:
        split = [batch, depth, rows, block, columns, block]
        return split, [0, 3, 5, 1, 2, 4], [batch, whole, rows, columns]
    split = [batch, rows, block, columns, block, depth]
    return split, [0, 1, 3, 2, 4, 5], [batch, rows, columns, whole]


@host_kernel(["SpaceToDepth", "DepthToSpace"])
def _depth(c: OpKernelConstruction) -> Compute:
    block, to_space = c["block_size"], c.op == "DepthToSpace"
    first = c["data_format"] == b"NCHW"

    def compute(value: Any) -> Any:
        split, order, shape = depth_steps(value.shape, block, first, to_space)
        return value.reshape(split).transpose(order).reshape(shape)

    return compute


# --- batch --------------------------------------------------------------------------


def batch_blocks(
    shape: Sequence[int], block: Any, borders: Any, into_batch: bool
) -> tuple[list[int], list[list[int]]]:
    """(blocks, borders), checked against the shape.

    Raises:
      InvalidArgumentError: they do not fit.
    """
    blocks = [int(b) for b in np.reshape(block, -1)]
    count = len(blocks)
    word = "paddings" if into_batch else "crops"
    if np.ndim(block) != 1:
        raise invalid_argument(
            f"block_shape should be 1-D, got {shape_text(np.shape(block))}"
        )
    if len(shape) < 1 + count:
        raise invalid_argument(
            f"input rank should be >= {1 + count} instead of {len(shape)}"
        )
    if tuple(borders.shape) != (count, 2):
        raise invalid_argument(
            f"{word} should have shape [{count}, 2] instead of "
            f"{shape_text(borders.shape)}"
        )
    if any(b < 1 for b in blocks):
        raise invalid_argument("All values in block_shape must be positive")
    rows: list[list[int]] = borders.tolist()
    if any(min(row) < 0 for row in rows):
        raise invalid_argument(f"{word.capitalize()} must be non-negative")
    if into_batch:
        _check_padded(shape, blocks, rows)
    else:
        _check_cropped(shape, blocks, rows)
    return blocks, rows


def _check_padded(
    shape: Sequence[int], blocks: list[int], rows: list[list[int]]
) -> None:
    for i, (block, (before, after)) in enumerate(zip(blocks, rows, strict=True)):
        size = shape[i + 1] + before + after
        if size % block:
            raise invalid_argument(
                f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={block}"
            )


def _check_cropped(
    shape: Sequence[int], blocks: list[int], rows: list[list[int]]
) -> None:
    area = math.prod(blocks)
    if shape[0] % area:
        raise invalid_argument(
            f"Input batch dimension ({shape[0]}) is not divisible by product of block "
            f"sizes ({area})"
        )
    for i, (block, (before, after)) in enumerate(zip(blocks, rows, strict=True)):
        if shape[i + 1] * block < before + after:
            raise invalid_argument(
                f"cropped_shape[{i}]={shape[i + 1] * block - before - after} must be "
                "non-negative"
            )


def space_to_batch_steps(shape: Sequence[int], blocks: list[int]) -> Steps:
    """How to move blocks of a padded shape into the batch."""
    count = len(blocks)
    split = [shape[0]]
    for size, block in zip(shape[1:], blocks, strict=False):
        split += [size // block, block]
    rest = list(shape[count + 1 :])
    within = [2 + 2 * i for i in range(count)]
    across = [1 + 2 * i for i in range(count)]
    tail = list(range(1 + 2 * count, 1 + 2 * count + len(rest)))
    batch = shape[0] * math.prod(blocks)
    space = [size // block for size, block in zip(shape[1:], blocks, strict=False)]
    return split + rest, [*within, 0, *across, *tail], [batch, *space, *rest]


def batch_to_space_steps(shape: Sequence[int], blocks: list[int]) -> Steps:
    """How to move the batch into blocks, before they are cropped."""
    count = len(blocks)
    batch = shape[0] // math.prod(blocks)
    rest = list(shape[count + 1 :])
    split = [*blocks, batch, *shape[1:]]
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += list(range(2 * count + 1, 2 * count + 1 + len(rest)))
    space = [size * block for size, block in zip(shape[1:], blocks, strict=False)]
    return split, order, [batch, *space, *rest]


def crop_index(shape: Sequence[int], rows: list[list[int]]) -> tuple[slice, ...]:
    """The part of a shape that is left after cropping its space axes."""
    return (
        slice(None),
        *[slice(b, size - a) for size, (b, a) in zip(shape[1:], rows, strict=False)],
    )


@host_kernel(["SpaceToBatchND", "SpaceToBatch"])
def _space_to_batch(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    zero = empty_of(dtype)
    fixed = fixed_block(c)

    def compute(value: Any, *inputs: Any) -> Any:
        block, paddings = inputs if fixed is None else (fixed, inputs[0])
        blocks, rows = batch_blocks(value.shape, block, paddings, True)
        whole = [[0, 0], *rows, *[[0, 0]] * (value.ndim - len(rows) - 1)]
        padded = pad_array(value, np.array(whole), zero, dtype, device)
        split, order, shape = space_to_batch_steps(padded.shape, blocks)
        return padded.reshape(split).transpose(order).reshape(shape)

    return compute


def fixed_block(c: OpKernelConstruction) -> Any:
    """The block of the ops that have it as an attr, None for the ND ops."""
    return None if c.op.endswith("ND") else np.full(2, c["block_size"], np.int64)


@host_kernel(["BatchToSpaceND", "BatchToSpace"])
def _batch_to_space(c: OpKernelConstruction) -> Compute:
    fixed = fixed_block(c)

    def compute(value: Any, *inputs: Any) -> Any:
        block, crops = inputs if fixed is None else (fixed, inputs[0])
        blocks, rows = batch_blocks(value.shape, block, crops, False)
        split, order, shape = batch_to_space_steps(value.shape, blocks)
        whole = value.reshape(split).transpose(order).reshape(shape)
        return whole[crop_index(shape, rows)].copy()

    return compute
