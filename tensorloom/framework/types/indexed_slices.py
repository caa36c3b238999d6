"""IndexedSlices: some slices of a larger tensor, as gradients of `tf.gather` are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry import op_def_library
from tensorloom.framework.types import constant_value, dtypes
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import (
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation, Tensor
    from tensorloom.framework.types.dtypes import DType

# From this many elements on, making a dense tensor is worth a warning.
_LARGE_NUM_ELEMENTS: Final = 100_000_000


@export("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Slices `values[i]` of a tensor at `indices[i]` of its first dimension.

    `values` is [n, d1, ..., dk], `indices` is [n] (int32 or int64), and `dense_shape`
    the shape [d0, d1, ..., dk] of the tensor that they are slices of, or None where it
    is not known. An index may occur more than once: such slices add up.
    """

    def __init__(
        self, values: Any, indices: Any, dense_shape: Any | None = None
    ) -> None:
        _check_same_graph(values, indices, dense_shape)
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The slices, [n, d1, ..., dk]."""
        return self._values

    @property
    def indices(self) -> Any:
        """Where each slice belongs, [n]."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def name(self) -> str:
        """The name of `values`."""
        return self._values.name  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """The device of `values`."""
        return self._values.device  # type: ignore[no-any-return]

    @property
    def op(self) -> Operation:
        """The operation that makes `values`."""
        return self._values.op  # type: ignore[no-any-return]

    #: What `control_dependencies` waits for.
    _control_op = op

    @property
    def dtype(self) -> DType:
        """The dtype of `values`."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        """The graph of the parts."""
        return self._values.graph  # type: ignore[no-any-return]

    def consumers(self) -> list[Operation]:
        """The operations that read one of the parts."""
        found = {op: None for part in self.composite_parts() for op in part.consumers()}
        return list(found)

    def composite_parts(self) -> tuple[Any, ...]:
        """(values, indices), and dense_shape where it is known."""
        if self._dense_shape is None:
            return (self._values, self._indices)
        return (self._values, self._indices, self._dense_shape)

    def with_composite_parts(self, parts: Sequence[Any]) -> IndexedSlices:
        """IndexedSlices of other parts."""
        return IndexedSlices(*parts)

    def __str__(self) -> str:
        shape = (
            f", dense_shape={self._dense_shape}"
            if len(self.composite_parts()) > 2
            else ""
        )
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)


class IndexedSlicesValue(NamedTuple):
    """What `Session.run` gives for an IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


def _check_same_graph(*parts: Any) -> None:
    if get_default_graph().building_function:
        return  # what is from around the body is captured when it is used
    known = [p for p in parts if getattr(p, "graph", None) is not None]
    for part in known[1:]:
        if part.graph is not known[0].graph:
            raise ValueError(f"{part} must be from the same graph as {known[0]}.")


def as_dense(
    value: IndexedSlices,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    """The dense tensor of the slices; slices of the same index are added.

    Raises:
      ValueError: `dtype` is another dtype, or the dense shape is not known.
    """
    del as_ref
    if dtype and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices "
            f"with dtype {value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices without dense_shape: "
            f"{value}"
        )
    _warn_if_large(value.dense_shape)
    dense: Tensor = op_def_library.apply_op(
        "UnsortedSegmentSum",
        data=value.values,
        segment_ids=value.indices,
        num_segments=value.dense_shape[0],
        name=name,
    )
    return dense


def _warn_if_large(dense_shape: Tensor) -> None:
    known = constant_value.constant_value(dense_shape)
    if known is None:
        warnings.warn(
            "Converting sparse IndexedSlices to a dense Tensor of unknown shape. "
            "This may consume a large amount of memory.",
            stacklevel=4,
        )
        return
    num_elements = math.prod(int(size) for size in known)
    if num_elements >= _LARGE_NUM_ELEMENTS:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {num_elements} "
            "elements. This may consume a large amount of memory.",
            stacklevel=4,
        )


register_tensor_conversion_function(IndexedSlices, as_dense)


@export("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """`value` itself when it is a Tensor, IndexedSlices or SparseTensor; else a Tensor.

    Raises:
      ValueError: `dtype` does not match the dtype of `value`.
    """
    return to_tensor_or_composite(value, dtype, name, as_ref=False)


def to_tensor_or_composite(
    value: Any, dtype: Any, name: str | None, as_ref: bool
) -> Any:
    """`convert_to_tensor_or_indexed_slices`; a variable gives its reference if asked.

    Raises:
      ValueError: `dtype` does not match the dtype of `value`.
    """
    if isinstance(value, CompositeTensor):
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        own: DType = value.dtype  # type: ignore[attr-defined]
        if wanted is not None and not wanted.is_compatible_with(own):
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with "
                f"dtype {own.name}: {str(value)!r}"
            )
        return value
    return internal_convert_to_tensor(value, dtype=dtype, name=name, as_ref=as_ref)


def convert_n_to_tensor_or_indexed_slices(
    values: Sequence[Any],
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
) -> list[Any]:
    """Converts each value, naming the new tensors `name_i`; None stays None.

    With `as_ref`, variables give their reference.

    Raises:
      TypeError: `values` is not a sequence, or a value has no conversion.
    """
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        None
        if value is None
        else to_tensor_or_composite(
            value, dtype, None if name is None else f"{name}_{i}", as_ref
        )
        for i, value in enumerate(values)
    ]
