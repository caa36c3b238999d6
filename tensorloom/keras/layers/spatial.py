"""Padding, cropping and repeating along spatial axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.window_sizes import normalize_data_format, normalize_tuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape

_Pair = tuple[int, int]
_RESIZE_OPS = {"nearest": "ResizeNearestNeighbor", "bilinear": "ResizeBilinear"}


class SpatialLayer(Layer):
    """A layer that changes the sizes of spatial axes alone."""

    _spatial = 0

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._spatial + 2)

    @property
    def _first(self) -> int:
        """The first spatial axis."""
        return 2 if self.data_format == "channels_first" else 1

    def _size(self, size: int, axis: int) -> int:
        """The new size of a spatial axis, counted from 0."""
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The new sizes; unknown ones stay unknown."""
        sizes = as_shape(input_shape).as_list()
        for axis in range(self._spatial):
            size = sizes[self._first + axis]
            if size is not None:
                sizes[self._first + axis] = self._size(size, axis)
        return as_shape(sizes)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        config = super().get_config()
        if self._spatial > 1:
            config["data_format"] = self.data_format
        return config


def _pairs(value: Any, count: int, name: str) -> tuple[_Pair, ...]:
    """(before, after) for each axis, from one number, one an axis, or pairs.

    Raises:
      ValueError: another structure.
    """
    if isinstance(value, int):
        return ((value, value),) * count
    if not hasattr(value, "__len__"):
        raise ValueError(
            f"`{name}` should be either an int, a tuple of {count} ints, or a tuple of "
            f"{count} tuples of 2 ints. Found: {value}"
        )
    if len(value) != count:
        raise ValueError(f"`{name}` should have {count} elements. Found: {value}")
    return tuple(
        normalize_tuple(part, 2, f"entry {i + 1} of {name}")
        for i, part in enumerate(value)
    )


class ZeroPadding(SpatialLayer):
    """Zeros before and after each spatial axis."""

    _padding: tuple[_Pair, ...]

    def _size(self, size: int, axis: int) -> int:
        return size + sum(self._padding[axis])

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The padded inputs."""
        paddings = [[0, 0] for _ in range(self._spatial + 2)]
        for axis, pair in enumerate(self._padding):
            paddings[self._first + axis] = list(pair)
        return array_ops.pad(inputs, paddings)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "padding": self.padding}

    @property
    def padding(self) -> Any:
        """(before, after); in several dimensions for each."""
        return self._padding if self._spatial > 1 else self._padding[0]


@export("keras.layers.ZeroPadding1D")
class ZeroPadding1D(ZeroPadding):
    """Zeros before and after sequences; one number, or (before, after)."""

    _spatial = 1

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._padding = (normalize_tuple(padding, 2, "padding"),)


@export("keras.layers.ZeroPadding2D")
class ZeroPadding2D(ZeroPadding):
    """Zeros around images; one number, one an axis, or pairs."""

    _spatial = 2

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self._padding = _pairs(padding, 2, "padding")


@export("keras.layers.ZeroPadding3D")
class ZeroPadding3D(ZeroPadding):
    """Zeros around volumes; one number, one an axis, or pairs."""

    _spatial = 3

    def __init__(
        self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self._padding = _pairs(padding, 3, "padding")


class Cropping(SpatialLayer):
    """Leaves out what is before and after along each spatial axis."""

    _cropping: tuple[_Pair, ...]

    def _size(self, size: int, axis: int) -> int:
        return size - sum(self._cropping[axis])

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The inputs without their margins."""
        kept = [slice(None)] * (self._spatial + 2)
        for axis, (before, after) in enumerate(self._cropping):
            kept[self._first + axis] = slice(before, -after if after else None)
        return inputs[tuple(kept)]  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "cropping": self.cropping}

    @property
    def cropping(self) -> Any:
        """(before, after); in several dimensions for each."""
        return self._cropping if self._spatial > 1 else self._cropping[0]


@export("keras.layers.Cropping1D")
class Cropping1D(Cropping):
    """Sequences without their first and last steps; a number, or (before, after)."""

    _spatial = 1

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._cropping = (normalize_tuple(cropping, 2, "cropping"),)


@export("keras.layers.Cropping2D")
class Cropping2D(Cropping):
    """Images without their margins; one number, one an axis, or pairs."""

    _spatial = 2

    def __init__(
        self,
        cropping: Any = ((0, 0), (0, 0)),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self._cropping = _pairs(cropping, 2, "cropping")


@export("keras.layers.Cropping3D")
class Cropping3D(Cropping):
    """Volumes without their margins; one number, one an axis, or pairs."""

    _spatial = 3

    def __init__(
        self,
        cropping: Any = ((1, 1), (1, 1), (1, 1)),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self._cropping = _pairs(cropping, 3, "cropping")


class UpSampling(SpatialLayer):
    """Each position several times along each spatial axis."""

    size: Any

    def _times(self, axis: int) -> int:
        return int(self.size if self._spatial == 1 else self.size[axis])

    def _size(self, size: int, axis: int) -> int:
        return size * self._times(axis)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The repeated inputs."""
        for axis in range(self._spatial):
            inputs = _repeated(inputs, self._times(axis), self._first + axis)
        return inputs  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "size": self.size}


def _repeated(x: Any, times: int, axis: int) -> Any:
    """Each slice along an axis several times."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        slices = array_ops.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return array_ops.concat([one for one in slices for _ in range(times)], axis)
    rank = len(sizes)
    multiples = np.ones(rank + 1, np.int32)
    multiples[axis + 1] = times
    shape = array_ops.shape(x)
    tiled = array_ops.tile(array_ops.expand_dims(x, axis=axis + 1), multiples)
    factors = np.ones(rank, np.int32)
    factors[axis] = times
    repeated = array_ops.reshape(tiled, shape * constant(factors, dtype="int32"))
    repeated.set_shape(sizes)
    return repeated


@export("keras.layers.UpSampling1D")
class UpSampling1D(UpSampling):
    """Each step of sequences `size` times."""

    _spatial = 1

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)


@export("keras.layers.UpSampling2D")
class UpSampling2D(UpSampling):
    """Images larger by factors.

    Args:
      size: the factors, one an axis or one for both.
      data_format: "channels_last" or "channels_first".
      interpolation: "nearest" or "bilinear".

    Raises:
      ValueError: another interpolation.
    """

    _spatial = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = normalize_tuple(size, 2, "size")
        if interpolation not in _RESIZE_OPS:
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or '
                f'`"bilinear"`, not {interpolation!r}.'
            )
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The larger images."""
        first = self.data_format == "channels_first"
        start = self._first
        size = array_ops.shape(inputs)[start : start + 2]
        size *= constant(np.array(self.size, np.int32))
        images = array_ops.transpose(inputs, [0, 2, 3, 1]) if first else inputs
        with name_scope("resize"):
            images = apply_op(
                _RESIZE_OPS[self.interpolation],
                images=images,
                size=size,
                align_corners=False,
                half_pixel_centers=True,
            )
        if first:
            images = array_ops.transpose(images, [0, 3, 1, 2])
        images.set_shape(self.compute_output_shape(inputs.shape))
        return images

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "interpolation": self.interpolation}


@export("keras.layers.UpSampling3D")
class UpSampling3D(UpSampling):
    """Volumes larger by factors, one an axis or one for all."""

    _spatial = 3

    def __init__(
        self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = normalize_tuple(size, 3, "size")
