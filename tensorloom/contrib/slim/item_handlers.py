"""`slim.tfexample_decoder`: what makes items of the features of an example."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.client.control_flow.case import case
from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types import sparse_tensor as sparse_types
from tensorloom.image.decoding import decode_image, is_jpeg
from tensorloom.ops.array import array_ops
from tensorloom.ops.image.codec import decode_jpeg
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_builders import sparse_reshape
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_to_dense
from tensorloom.ops.strings.codec import decode_raw

Tensors = Mapping[str, Any]


def _dense(tensor: Any, default_value: Any = None) -> Any:
    if not isinstance(tensor, sparse_types.SparseTensor):
        return tensor
    return sparse_tensor_to_dense(tensor, default_value)


@export("contrib.slim.tfexample_decoder.ItemHandler")
class ItemHandler(abc.ABC):
    """Makes an item of some features.

    Args:
      keys: the names of the features: one, or a list.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        """The names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The item.

        Args:
          keys_to_tensors: from names of features to their tensors, dense or sparse.
        """


@export("contrib.slim.tfexample_decoder.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """What a function makes of features.

    Args:
      keys: the names of the features.
      func: of a dict from names to tensors.
    """

    def __init__(self, keys: Any, func: Callable[[Tensors], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """What the function returns."""
        return self._func(keys_to_tensors)


@export("contrib.slim.tfexample_decoder.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes, [boxes, 4], of the features of their four sides.

    Args:
      keys: of the sides; `ymin`, `xmin`, `ymax`, `xmax` when None.
      prefix: of each key.

    Raises:
      ValueError: there are not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The boxes."""
        sides: list[Any] = []
        for key in self._keys:
            side = keys_to_tensors[key]
            if isinstance(side, sparse_types.SparseTensor):
                side = side.values
            sides.append(array_ops.expand_dims(side, 0))
        return array_ops.transpose(array_ops.concat(sides, 0))


@export("contrib.slim.tfexample_decoder.Tensor")
class Tensor(ItemHandler):
    """A feature as a dense tensor, in a shape of its own where one is given.

    Args:
      tensor_key: the name of the feature.
      shape_keys: names of features that are its sizes, or its whole shape.
      shape: the shape, where it is known.
      default_value: what a sparse feature has where it has nothing.

    Raises:
      ValueError: both `shape_keys` and `shape` are given.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The tensor."""
        tensor = keys_to_tensors[self._tensor_key]
        shape = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array_ops.reshape(array_ops.stack(sizes), [-1])
        if isinstance(tensor, sparse_types.SparseTensor):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return _dense(tensor, self._default_value)
        return tensor if shape is None else array_ops.reshape(tensor, shape)


@export("contrib.slim.tfexample_decoder.LookupTensor")
class LookupTensor(Tensor):
    """What a table has for the values of a feature; see `Tensor`.

    Args:
      tensor_key: the name of the feature.
      table: a lookup table.
      shape_keys, shape, default_value: as in `Tensor`.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """What the table has."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


@export("contrib.slim.tfexample_decoder.BackupHandler")
class BackupHandler(ItemHandler):
    """The item of a handler, or that of another where it is empty.

    Args:
      handler: the first.
      backup: the other, whose item has the same dtype.

    Raises:
      ValueError: one of them is no `ItemHandler`.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError(
                    f"{role} handler is of type {type(each)} instead of ItemHandler"
                )
        self._handler = handler
        self._backup = backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        size = math_ops.reduce_prod(array_ops.shape(item))
        return cond(
            pred=math_ops.equal(size, 0),
            true_fn=lambda: self._backup.tensors_to_item(keys_to_tensors),
            false_fn=lambda: item,
        )


@export("contrib.slim.tfexample_decoder.SparseTensor")
class SparseTensor(ItemHandler):
    """A sparse tensor of two features: places along the last axis, and values.

    Args:
      indices_key: of the places; `indices` when None.
      values_key: of the values; `values` when None.
      shape_key: of the dense shape.
      shape: the dense shape; that of the places when neither is given.
      densify: whether the item is dense.
      default_value: what a dense item has where there is nothing.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        more = [shape_key] if shape_key else []
        super().__init__([self._indices_key, self._values_key, *more])

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The tensor."""
        places = keys_to_tensors[self._indices_key]
        values = keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or places.dense_shape
        rank = array_ops.shape(places.indices)[1]
        last = math_ops.cast(places.values, dtypes.int64)
        first = array_ops.slice(places.indices, [0, 0], array_ops.stack([-1, rank - 1]))
        indices = array_ops.concat([first, array_ops.reshape(last, [-1, 1])], 1)
        tensor = sparse_types.SparseTensor(indices, values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


@export("contrib.slim.tfexample_decoder.Image")
class Image(ItemHandler):
    """An image: JPEG, PNG, GIF, BMP or raw numbers.

    Args:
      image_key: the name of its bytes; `image/encoded` when None.
      format_key: the name of its format; `image/format` when None. Only `raw` and `RAW`
        matter: the others are known by their bytes.
      shape: that of the item; raw numbers need one.
      channels: how many.
      dtype: of the item.
      repeated: whether there are several images, of one size.
      dct_method: how JPEGs are decoded.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Tensors) -> Any:
        """The image, [height, width, channels]; a batch of them where repeated."""
        contents = keys_to_tensors[self._image_key]
        kind = keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(contents, kind)
        return map_fn(
            lambda each: self._decode(each, kind), contents, dtype=self._dtype
        )

    def _decode(self, contents: Any, kind: Any) -> Any:
        def any_image() -> Any:
            image = decode_image(contents, channels=self._channels)
            return math_ops.cast(image, self._dtype)

        def jpeg() -> Any:
            image = decode_jpeg(
                contents, channels=self._channels, dct_method=self._dct_method
            )
            return math_ops.cast(image, self._dtype)

        is_raw = math_ops.logical_or(
            math_ops.equal(kind, "raw"), math_ops.equal(kind, "RAW")
        )
        image = case(
            [(is_raw, lambda: decode_raw(contents, out_type=self._dtype))],
            default=lambda: cond(is_jpeg(contents), jpeg, any_image, name="cond_jpeg"),
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else array_ops.reshape(image, self._shape)
