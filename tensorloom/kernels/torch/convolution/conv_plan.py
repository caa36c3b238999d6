"""What a convolution of known sizes is in torch's terms, and whether shapes fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.window import (
    AxisWindows,
    axis_windows,
    check_spatial_only,
    spatial,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction

_Shape = tuple[int, ...]
_HostArray = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One convolution of known sizes, in torch's terms."""

    stride: tuple[int, int]
    padding: tuple[int, int]  # on both sides of height and width
    dilation: tuple[int, int]
    groups: int
    # What `torch.nn.functional.pad` adds first (left, right, top, bottom), or None.
    extra: tuple[int, int, int, int] | None
    outputs: tuple[int, int]  # height and width of the result

    @property
    def margins(self) -> tuple[int, int, int, int]:
        """Rows and columns of zeros around the image: left, right, top, bottom."""
        if self.extra is not None:
            return self.extra
        rows, columns = self.padding
        return columns, columns, rows, rows


@dataclass(frozen=True, slots=True)
class Geometry:
    """The attrs of a convolution node, decoded."""

    op: str
    data_format: bytes
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: bytes
    explicit: tuple[tuple[int, int], tuple[int, int]]
    depthwise: bool

    @property
    def channels_last(self) -> bool:
        """Whether images are NHWC."""
        return self.data_format == b"NHWC"

    @property
    def by_channel(self) -> bool:
        """Whether it is depthwise, channels last."""
        return self.depthwise and self.channels_last

    def plan(self, image: _Shape, filters: _Shape, groups: int) -> Plan:
        """For an image shape NCHW and a filter shape HWIO."""
        rows, columns = (
            axis_windows(
                image[2 + axis],
                filters[axis],
                self.stride[axis],
                self.dilation[axis],
                self.padding,
                self.explicit[axis],
            )
            for axis in (0, 1)
        )
        outputs = (rows.outputs, columns.outputs)
        if rows.is_symmetric and columns.is_symmetric:
            padding, extra = (rows.before, columns.before), None
        else:
            padding, extra = (0, 0), _extra(rows, columns)
        return Plan(self.stride, padding, self.dilation, groups, extra, outputs)


def _extra(rows: AxisWindows, columns: AxisWindows) -> tuple[int, int, int, int]:
    return columns.before, columns.after, rows.before, rows.after


def decode_geometry(c: OpKernelConstruction) -> Geometry:
    """The attrs of a convolution node.

    Raises:
      errors.InvalidArgumentError: strides or dilations over batch or channels, strides
        that are not positive or, of depthwise ones, not alike.
    """
    data_format = c["data_format"]
    for attr in ("strides", "dilations"):
        if len(c[attr]) != 4:
            raise invalid_argument(
                f"Sliding window {attr} field must specify 4 dimensions"
            )
        check_spatial_only(c[attr], data_format, attr)
    stride, depthwise = spatial(c["strides"], data_format), c.op.startswith("Depthwise")
    if min(stride) < 1:
        raise invalid_argument("Row and column strides should be larger than 0.")
    if depthwise and stride[0] != stride[1]:
        raise invalid_argument(
            "Current implementation only supports equal length strides in the row and "
            "column dimensions."
        )
    paddings = explicit_paddings(c)
    rows, columns = (2, 3) if data_format == b"NCHW" else (1, 2)
    return Geometry(
        c.op,
        data_format,
        stride,
        spatial(c["dilations"], data_format),
        c["padding"],
        (
            (paddings[2 * rows], paddings[2 * rows + 1]),
            (paddings[2 * columns], paddings[2 * columns + 1]),
        ),
        depthwise,
    )


def explicit_paddings(c: OpKernelConstruction) -> list[int]:
    """(before, after) for each axis of a 4-D image, one after the other.

    Raises:
      errors.InvalidArgumentError: the attrs are no padding of height and width.
    """
    given: list[int] = c.get("explicit_paddings") or []
    if c["padding"] != b"EXPLICIT":
        if given:
            raise invalid_argument(
                "explicit_paddings attribute must be empty if the padding attribute is "
                "not EXPLICIT"
            )
        return [0] * 8
    if len(given) != 8:
        raise invalid_argument(
            f"explicit_paddings attribute must contain 8 values, but got: {len(given)}"
        )
    if min(given) < 0:
        raise invalid_argument("All elements of explicit_paddings must be nonnegative")
    channels = 1 if c.get("data_format", b"NHWC") == b"NCHW" else 3
    if any(given[2 * axis] or given[2 * axis + 1] for axis in (0, channels)):
        raise invalid_argument(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )
    return given


def check_forward(geometry: Geometry, image: _Shape, filters: _Shape) -> int:
    """Checks shapes (image NCHW, filters HWIO) and returns the number of groups."""
    depth, filter_depth = image[1], filters[2]
    if geometry.depthwise:
        if depth != filter_depth:
            raise invalid_argument(
                f"input and filter must have the same depth: {depth} vs {filter_depth}"
            )
        return depth
    if filter_depth == 0 or depth % filter_depth:
        raise invalid_argument(
            "input depth must be evenly divisible by filter depth: "
            f"{depth} vs {filter_depth}"
        )
    groups = depth // filter_depth
    if groups > 1 and filters[3] % groups:
        # Not an invalid argument in TensorFlow, which has no grouped convolution here.
        raise errors.UnimplementedError(
            None,
            None,
            "A grouped convolution needs an output depth that is evenly divisible by "
            f"the number of groups: {filters[3]} vs {groups}",
        )
    return groups


def check_rank(shape: Sequence[int], what: str) -> None:
    """Filters and images are 4-D."""
    if len(shape) != 4:
        raise invalid_argument(f"{what} must be 4-dimensional: {text(shape)}")


def check_backward(
    geometry: Geometry, image: _Shape, filters: _Shape, grad: _Shape, label: str
) -> Plan:
    """Checks three 4-D shapes (NCHW, HWIO, NCHW) against each other."""
    if image[0] != grad[0]:
        raise invalid_argument(
            f"{label}: input and out_backprop must have the same batch size"
            f"input batch: {image[0]}outbackprop batch: {grad[0]} batch_dim: 0"
        )
    if geometry.depthwise:
        if image[1] != filters[2]:
            raise invalid_argument(
                f"{label}: input and filter must have the same in_depth"
            )
        if filters[3] * image[1] != grad[1]:
            raise invalid_argument(
                f"{label}: depth_multiplier * in_depth not equal to out_depth"
            )
        groups = image[1]
    else:
        if filters[2] == 0 or image[1] % filters[2]:
            raise invalid_argument(
                f"{label}: input depth must be evenly divisible by filter depth"
            )
        if filters[3] != grad[1]:
            raise invalid_argument(
                f"{label}: filter and out_backprop must have the same out_depth"
            )
        groups = image[1] // filters[2]
    plan = geometry.plan(image, filters, groups)
    for axis in (0, 1):
        if plan.outputs[axis] != grad[2 + axis]:
            raise invalid_argument(
                f"{label}: Size of out_backprop doesn't match computed: actual = "
                f"{grad[2 + axis]}, computed = {plan.outputs[axis]} spatial_dim: "
                f"{axis + 1} input: {image[2 + axis]} filter: {filters[axis]} output: "
                f"{grad[2 + axis]} stride: {geometry.stride[axis]} dilation: "
                f"{geometry.dilation[axis]}"
            )
    return plan


def shape_vector(value: _HostArray, what: str, label: str) -> _Shape:
    """The 4-D shape that a host vector holds."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise invalid_argument(
            f"{label}: {what}_sizes input must be 1-dim, not {array.ndim}"
        )
    if len(array) != 4:
        raise invalid_argument(f"{label}: {what} must be 4-dimensional")
    return tuple(array.tolist())
