"""`tf.TensorArray`: an array of tensors whose elements are written once each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from tensorloom.framework.types import constant_value, dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.lists.tensor_array_ops import tensor_array_op

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation
    from tensorloom.framework.types.dtypes import DType


@export("TensorArray")
class TensorArray:
    """A per-step array of tensors, for loops that read or write one element a turn.

    Each method that writes returns a new TensorArray whose `flow` carries the order;
    use that one from then on.

    Args:
      dtype: of the elements.
      size: a scalar int32; needed unless `handle` is given.
      dynamic_size: writes past the end make it grow.
      clear_after_read: an element can be read once (the default, None meaning True).
      tensor_array_name: part of the resource's name.
      handle, flow: of an array that exists already.
      infer_shape: all elements have one shape, which the writes tell.
      element_shape: the static shape of the elements.
      colocate_with_first_write_call: the array goes where the first written value is.
      name: of the operations.

    Raises:
      ValueError: arguments contradict each other.
      TypeError: `handle` is not a Tensor.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        _check_arguments(
            handle,
            flow,
            size,
            tensor_array_name,
            element_shape,
            dynamic_size,
            clear_after_read,
        )
        self._dynamic_size = dynamic_size or False
        self._dtype: DType = dtypes.as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._colocate_with_first_write_call = colocate_with_first_write_call
        # One list for all arrays of a handle: the first write decides for them all.
        self._colocate_with: list[Any] | None = (
            [] if colocate_with_first_write_call else None
        )
        self._element_shape = [as_shape(element_shape)]
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return
            options = {
                "dtype": self._dtype,
                "size": size,
                "element_shape": element_shape,
                "identical_element_shapes": infer_shape,
                "dynamic_size": self._dynamic_size,
                "clear_after_read": clear_after_read is not False,
                "tensor_array_name": tensor_array_name or "",
                "name": scope,
            }
            if colocate_with_first_write_call:
                with device(None), colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = tensor_array_op("", **options)
            else:
                self._handle, self._flow = tensor_array_op("", **options)

    @property
    def flow(self) -> Tensor:
        """The float scalar that orders reads and writes."""
        flow: Tensor = self._flow
        return flow

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The resource tensor."""
        handle: Tensor = self._handle
        return handle

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements, as far as it is known."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """Whether writes past the end make it grow."""
        return self._dynamic_size

    def _with_flow(self, flow: Tensor) -> TensorArray:
        return build_ta_with_new_flow(self, flow)

    def _check_element_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shape} but expected {self.element_shape} "
            )
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    @contextmanager
    def _maybe_colocate_with(self, value: Tensor) -> Iterator[None]:
        if self._colocate_with is None:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with colocate_with(self._colocate_with[0]):
            yield

    def identity(self) -> TensorArray:
        """The same array behind an Identity of the flow."""
        return self._with_flow(identity_ops.identity(self._flow))

    def grad(
        self, source: str, flow: Any = None, name: str | None = None
    ) -> TensorArray:
        """The array of gradients for the gradient computation `source`."""
        if flow is None:
            flow = self.flow
        with (
            name_scope(name, "TensorArrayGrad", [self._handle]),
            colocate_with(self._handle),
        ):
            g_handle, _ = tensor_array_op(
                "Grad", handle=self._handle, source=source, flow_in=flow, name=name
            )
            with control_dependencies([g_handle]):
                flow = identity_ops.identity(flow, name="gradient_flow")
            gradient = TensorArray(
                dtype=self._dtype,
                handle=g_handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            gradient._element_shape = self._element_shape
            return gradient

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        value: Tensor = tensor_array_op(
            "Read",
            handle=self._handle,
            index=index,
            flow_in=self._flow,
            dtype=self._dtype,
            name=name,
        )
        value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Writes an element; use the array that it returns.

        Raises:
          ValueError: the shape is not that of the other elements.
        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._check_dtype(value)
            self._check_element_shape(value.shape)
            with self._maybe_colocate_with(value):
                flow = tensor_array_op(
                    "Write",
                    handle=self._handle,
                    index=index,
                    value=value,
                    flow_in=self._flow,
                    name=name,
                )
            return self._with_flow(flow)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor [size, ...]."""
        from tensorloom.ops.math import math_ops

        scope = name_scope(name, "TensorArrayStack", [self._handle])
        with colocate_with(self._handle), scope:
            return self.gather(math_ops.range(0, self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` (a vector) as one tensor."""
        value: Tensor = tensor_array_op(
            "Gather",
            handle=self._handle,
            indices=indices,
            flow_in=self._flow,
            dtype=self._dtype,
            name=name,
            element_shape=self.element_shape,
        )
        if self.element_shape.rank is not None:
            value.set_shape(TensorShape.of((None,)).concatenate(self.element_shape))
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements concatenated along their dimension 0."""
        except0 = self.element_shape[1:]
        value: Tensor
        value, _ = tensor_array_op(
            "Concat",
            handle=self._handle,
            flow_in=self._flow,
            dtype=self._dtype,
            name=name,
            element_shape_except0=except0,
        )
        if self.element_shape.rank is not None:
            value.set_shape(TensorShape.of((None,)).concatenate(except0))
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Writes the slices of `value` along dimension 0 to 0, 1, ..."""
        from tensorloom.ops.math import math_ops

        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = shape_ops.shape(value)[0]
            return self.scatter(
                indices=math_ops.range(0, count), value=value, name=name
            )

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Writes the slices of `value` along dimension 0 to `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._check_dtype(value)
            self._check_element_shape(value.shape[1:])
            with self._maybe_colocate_with(value):
                flow = tensor_array_op(
                    "Scatter",
                    handle=self._handle,
                    indices=indices,
                    value=value,
                    flow_in=self._flow,
                    name=name,
                )
            return self._with_flow(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Writes pieces of `value` along dimension 0, of these lengths, to 0, 1, ..."""
        from tensorloom.ops.math import math_ops

        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._maybe_colocate_with(value):
                lengths = math_ops.cast(lengths, dtypes.int64)
                known = constant_value.constant_value(lengths)
                if value.shape.rank is not None and _is_uniform(known):
                    first = TensorShape.of((int(known[0]),))
                    self._check_element_shape(first.concatenate(value.shape[1:]))
                flow = tensor_array_op(
                    "Split",
                    handle=self._handle,
                    value=value,
                    lengths=lengths,
                    flow_in=self._flow,
                    name=name,
                )
            return self._with_flow(flow)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, a scalar int32."""
        size: Tensor = tensor_array_op(
            "Size", handle=self._handle, flow_in=self.flow, name=name
        )
        return size

    def close(self, name: str | None = None) -> Operation:
        """An operation that deletes the array."""
        op: Operation = tensor_array_op("Close", handle=self._handle, name=name)
        return op

    def _check_dtype(self, value: Tensor) -> None:
        if value.dtype != self._dtype:
            warnings.warn(
                f"TensorArray of {self._dtype.name} gets a value of "
                f"{value.dtype.name}; the write will fail.",
                stacklevel=3,
            )


def _is_uniform(lengths: Any) -> bool:
    return lengths is not None and bool(lengths.size) and lengths.max() == lengths.min()


def _check_arguments(
    handle: Any,
    flow: Any,
    size: Any,
    tensor_array_name: Any,
    element_shape: Any,
    dynamic_size: Any,
    clear_after_read: Any,
) -> None:
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if tensor_array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    for name, value in (
        ("size", size),
        ("element_shape", element_shape),
        ("dynamic_size", dynamic_size),
        ("clear_after_read", clear_after_read),
    ):
        if value is not None:
            raise ValueError(
                f"Cannot provide both a handle and {name} at the same time"
            )
    if flow is None:
        raise ValueError("flow must not be None if handle is not None.")


def one_of(arrays: Sequence[TensorArray], handle: Tensor, flow: Tensor) -> TensorArray:
    """The array of a handle, which is that of one of these arrays."""
    new = TensorArray(
        dtype=arrays[0].dtype,
        handle=handle,
        flow=flow,
        infer_shape=all(array._infer_shape for array in arrays),
        colocate_with_first_write_call=arrays[0]._colocate_with_first_write_call,
    )
    new._dynamic_size = arrays[0]._dynamic_size
    shapes = [array.element_shape for array in arrays]
    common = reduce(TensorShape.most_specific_compatible_shape, shapes)
    new._element_shape[0] = common
    return new


def build_ta_with_new_flow(old: TensorArray, flow: Tensor) -> TensorArray:
    """The same array with another flow."""
    new = TensorArray(
        dtype=old.dtype,
        handle=old.handle,
        flow=flow,
        infer_shape=old._infer_shape,
        colocate_with_first_write_call=old._colocate_with_first_write_call,
    )
    new._dynamic_size = old._dynamic_size
    new._colocate_with = old._colocate_with
    new._element_shape = old._element_shape
    return new
