"""The attrs of a general convolution: which dimension is which, windows and groups.

The uniformly quantized convolutions of TensorFlow 2.x are told in XLA's terms. Their
shape functions and their kernels read these terms here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorloom.framework.types.varint import decode_varint

# Fields of the message UniformQuantizedConvolutionDimensionNumbersAttr, in the order
# (batch, feature, spatial) for images and (output, input, spatial) for filters.
_INPUT, _FILTER, _OUTPUT = (1, 2, 3), (5, 4, 6), (7, 8, 9)
_WIRE_VARINT, _WIRE_BYTES = 0, 2
_PADDINGS = ("EXPLICIT", "SAME", "VALID")

_Ints = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AxisWindow:
    """What happens along one spatial dimension."""

    stride: int
    input_dilation: int  # the distance of neighbours after zeros came between them
    filter_dilation: int
    before: int  # zeros around the dilated input
    after: int
    outputs: int


@dataclass(frozen=True, slots=True)
class ConvolutionDimensions:
    """The attrs of a node, for tensors of one rank.

    Attributes:
      images, results: the axes that are batch, feature and spatial, in this order.
      filters: the axes that are output feature, input feature and spatial.
      feature_groups, batch_groups: how many convolutions of parts it is.
    """

    images: _Ints
    filters: _Ints
    results: _Ints
    stride: _Ints
    input_dilation: _Ints
    filter_dilation: _Ints
    padding: str
    explicit: _Ints
    feature_groups: int
    batch_groups: int

    @classmethod
    def of(cls, attrs: Mapping[str, Any], rank: int) -> ConvolutionDimensions:
        """The decoded attrs of a node.

        Raises:
          ValueError: they do not go together, or not with that rank.
        """
        if rank < 3:
            raise ValueError(f"lhs and rhs need at least 3 dimensions, got {rank}")
        images, filters, results = _axes(attrs["dimension_numbers"], rank)
        padding, explicit = attrs["padding"].decode(), attrs["explicit_padding"]
        if padding not in _PADDINGS:
            raise ValueError(f"padding must be one of {_PADDINGS}, got {padding!r}")
        if padding == "EXPLICIT" and len(explicit) != 2 * (rank - 2):
            raise ValueError(
                f"explicit_padding needs {2 * (rank - 2)} numbers for rank {rank}, got "
                f"{len(explicit)}"
            )
        if padding != "EXPLICIT" and explicit:
            raise ValueError(
                f"explicit_padding must be empty where padding is {padding}"
            )
        return cls(
            images,
            filters,
            results,
            _positive(attrs, "window_strides", rank - 2),
            _positive(attrs, "lhs_dilation", rank - 2),
            _positive(attrs, "rhs_dilation", rank - 2),
            padding,
            tuple(explicit),
            _group_count(attrs, "feature_group_count"),
            _group_count(attrs, "batch_group_count"),
        )

    def check(self, image: Sequence[int], filters: Sequence[int]) -> None:
        """Checks shapes, in the tensors' own order, against each other.

        Raises:
          ValueError: ranks, groups and feature dimensions do not fit.
        """
        if len(filters) != len(image):
            raise ValueError(
                f"lhs and rhs must have the same rank, got {len(image)} and "
                f"{len(filters)}"
            )
        batch, depth = (image[axis] for axis in self.images[:2])
        outputs, filter_depth = (filters[axis] for axis in self.filters[:2])
        if depth != filter_depth * self.feature_groups:
            raise ValueError(
                f"lhs has {depth} features; {self.feature_groups} groups of rhs take "
                f"{filter_depth} each"
            )
        for name, groups, size in (
            ("feature_group_count", self.feature_groups, outputs),
            ("batch_group_count", self.batch_groups, outputs),
            ("batch_group_count", self.batch_groups, batch),
        ):
            if size % groups:
                raise ValueError(f"{name} {groups} must divide {size}")

    def windows(
        self, image: Sequence[int], filters: Sequence[int]
    ) -> tuple[AxisWindow, ...]:
        """What happens along each spatial dimension, for shapes in their own order."""
        sizes = [image[axis] for axis in self.images[2:]]
        spans = [filters[axis] for axis in self.filters[2:]]
        return tuple(
            self._window(i, size, span)
            for i, (size, span) in enumerate(zip(sizes, spans, strict=True))
        )

    def _window(self, i: int, size: int, span: int) -> AxisWindow:
        stride, spread = self.stride[i], self.filter_dilation[i]
        given, window = _dilated(size, self.input_dilation[i]), _dilated(span, spread)
        before, after = 0, 0
        if self.padding == "EXPLICIT":
            before, after = self.explicit[2 * i : 2 * i + 2]
        elif self.padding == "SAME":
            positions = -(-given // stride)
            total = max((positions - 1) * stride + window - given, 0)
            before, after = total // 2, total - total // 2
        room = given + before + after - window
        outputs = room // stride + 1 if room >= 0 else 0
        dilation = self.input_dilation[i]
        return AxisWindow(stride, dilation, spread, before, after, outputs)

    def result_shape(self, image: Sequence[int], filters: Sequence[int]) -> _Ints:
        """The shape of the result, in its own order."""
        ordered = (
            image[self.images[0]] // self.batch_groups,
            filters[self.filters[0]],
            *(window.outputs for window in self.windows(image, filters)),
        )
        return tuple(ordered[self.results.index(i)] for i in range(len(ordered)))


def _dilated(size: int, dilation: int) -> int:
    return size and size + (dilation - 1) * (size - 1)


def _positive(attrs: Mapping[str, Any], name: str, count: int) -> _Ints:
    given = tuple(attrs[name]) or (1,) * count
    if len(given) != count or min(given) < 1:
        raise ValueError(f"{name} needs {count} positive numbers, got {list(given)}")
    return given


def _group_count(attrs: Mapping[str, Any], name: str) -> int:
    count: int = attrs[name]
    if count < 1:
        raise ValueError(f"{name} must be positive, got {count}")
    return count


def _axes(message: bytes, rank: int) -> tuple[_Ints, _Ints, _Ints]:
    """The axes of images, filters and results; without a message in plain order."""
    if not message:
        plain = tuple(range(rank))
        return plain, plain, plain
    fields = _fields(message)

    def axes(first: int, second: int, spatial: int) -> _Ints:
        single = [fields.get(number, [0])[-1] for number in (first, second)]
        found = (*single, *fields.get(spatial, []))
        if sorted(found) != list(range(rank)):
            raise ValueError(
                f"dimension_numbers must name each of {rank} dimensions once, got "
                f"{list(found)}"
            )
        return found

    return axes(*_INPUT), axes(*_FILTER), axes(*_OUTPUT)


def _fields(message: bytes) -> dict[int, list[int]]:
    """The numbers of a message, by field."""
    found: dict[int, list[int]] = {}
    at = 0
    try:
        while at < len(message):
            tag, at = decode_varint(message, at)
            number, kind = tag >> 3, tag & 7
            if kind not in (_WIRE_VARINT, _WIRE_BYTES):
                raise ValueError("not a number")
            first, at = decode_varint(message, at)
            values = found.setdefault(number, [])
            if kind == _WIRE_VARINT:
                values.append(first)
                continue
            end = at + first
            if end > len(message):
                raise ValueError("cut short")
            while at < end:
                value, at = decode_varint(message, at)
                values.append(value)
    except (ValueError, IndexError):
        raise ValueError("Error parsing convolution dimension numbers.") from None
    return found
