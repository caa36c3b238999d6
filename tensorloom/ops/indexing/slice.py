"""Ops that take a part of a tensor by position: Slice, StridedSlice and their inverses.

What a strided slice means is `framework/types/strided_slice.py`; the index syntax of
`Tensor.__getitem__` is `tensor_index.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.strided_slice import SliceError, SliceMasks, resolve
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import fill as fill_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import (
        HandleData,
        InferenceContext,
    )

MASKS = (
    "begin_mask",
    "end_mask",
    "ellipsis_mask",
    "new_axis_mask",
    "shrink_axis_mask",
)
_MASK_ATTRS = [f"{mask}: int = 0" for mask in MASKS]

# --- shape functions ----------------------------------------------------------------


def _slice_shape(c: InferenceContext) -> TensorShape:
    length = c.merge(c.with_rank(1, 1), c.with_rank(2, 1)).dims_tuple
    assert length is not None
    if length[0] is not None:
        c.with_rank(0, length[0])
    begin = c.input_value_as_shape(1).dims_tuple
    sizes = c.input_value(2)
    dims = c.input_shape(0).dims_tuple
    if sizes is None:
        known = c.input_value_as_shape(2)
        if known.rank is not None:
            return known
        return UNKNOWN if dims is None else TensorShape.of((None,) * len(dims))
    if sizes.size and sizes.min() < -1:
        c.fail(f"Invalid value in tensor used for shape: {sizes.min()}")
    if begin is None:
        begin = (None,) * len(sizes)
    if dims is None:
        dims = (None,) * len(sizes)
    rows = zip(dims, begin, sizes.tolist(), strict=True)
    return TensorShape.of(tuple(_sliced_size(c, *row) for row in rows))


def _sliced_size(
    c: InferenceContext, dim: int | None, begin: int | None, size: int
) -> int | None:
    if size != -1:
        return size
    if dim is None or begin is None:
        return None
    if begin > dim:
        c.fail(f"Negative dimension size caused by subtracting {begin} from {dim}")
    return dim - begin


def _strided_slice_shape(c: InferenceContext) -> TensorShape:
    length = c.merge(c.with_rank(1, 1), c.with_rank(2, 1))
    length = c.merge(length, c.with_rank(3, 1))
    strides = c.input_value(3)
    dims = c.input_shape(0).dims_tuple
    if dims is None or length.dims_tuple == (None,) or strides is None:
        return UNKNOWN
    begin, end = c.input_value(1), c.input_value(2)
    try:
        resolved = resolve(
            dims,
            None if begin is None else begin.tolist(),
            None if end is None else end.tolist(),
            strides.tolist(),
            SliceMasks.of(c.attrs),
        )
    except SliceError as error:
        c.fail(str(error))
    handle = c.handle_data(0)
    if handle is not None:
        c.set_output_handle_data(0, handle)
    return TensorShape.of(resolved.final_dims)


def _strided_slice_grad_shape(c: InferenceContext) -> TensorShape:
    return c.input_value_as_shape(0)


def _assign_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(0)


def _resource_assign_shape(c: InferenceContext) -> tuple[()]:
    handle: HandleData | None = c.handle_data(0)
    if handle is not None:
        for i in (1, 2, 3):
            c.with_rank(i, 1)
    return ()


# --- definitions --------------------------------------------------------------------

register_op(
    "Slice",
    inputs=["input: T", "begin: Index", "size: Index"],
    outputs=["output: T"],
    attrs=["T: type", "Index: {int32, int64}"],
    shape_fn=_slice_shape,
    doc="`size` elements along each axis from `begin`; -1: all that are left.",
)

register_op(
    "StridedSlice",
    inputs=["input: T", "begin: Index", "end: Index", "strides: Index"],
    outputs=["output: T"],
    attrs=["T: type", "Index: {int32, int64, int16}", *_MASK_ATTRS],
    shape_fn=_strided_slice_shape,
    doc="A part of the input as Python's extended slicing takes it.",
)

register_op(
    "StridedSliceGrad",
    inputs=["shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"],
    outputs=["output: T"],
    attrs=["T: type", "Index: {int32, int64}", *_MASK_ATTRS],
    shape_fn=_strided_slice_grad_shape,
    doc="Zeros of a shape with `dy` at the positions that StridedSlice takes.",
)

register_op(
    "StridedSliceAssign",
    inputs=["ref: Ref(T)", "begin: Index", "end: Index", "strides: Index", "value: T"],
    outputs=["output_ref: Ref(T)"],
    attrs=["T: type", "Index: {int32, int64}", *_MASK_ATTRS],
    shape_fn=_assign_shape,
    doc="Writes `value` to the part of a variable that StridedSlice takes.",
)

register_op(
    "ResourceStridedSliceAssign",
    inputs=[
        "ref: resource",
        "begin: Index",
        "end: Index",
        "strides: Index",
        "value: T",
    ],
    attrs=["T: type", "Index: {int32, int64}", *_MASK_ATTRS],
    shape_fn=_resource_assign_shape,
    stateful=True,
    doc="Writes `value` to the part of a resource variable that StridedSlice takes.",
)

register_op(
    "TensorStridedSliceUpdate",
    inputs=["input: T", "begin: Index", "end: Index", "strides: Index", "value: T"],
    outputs=["output: T"],
    attrs=["T: type", "Index: {int32, int64}", *_MASK_ATTRS],
    shape_fn=_assign_shape,
    doc="The input with `value` at the positions that StridedSlice takes.",
)

# --- builders -----------------------------------------------------------------------


@export("slice")
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size` elements of `input_` along each axis from `begin`.

    Args:
      begin, size: vectors with an entry for each axis; a size of -1 takes the rest.
    """
    return apply_op("Slice", input=input_, begin=begin, size=size, name=name)  # type: ignore[no-any-return]


@export("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """A part of `input_` as Python's extended slicing takes it.

    Args:
      begin, end, strides: vectors with one entry for each index.
      begin_mask, end_mask: bit i: entry i has no begin (end).
      ellipsis_mask, new_axis_mask, shrink_axis_mask: bit i: entry i is `...`, a new
        axis, or a single index.
      var: the variable that the `assign` method of the result writes to.
    """
    if strides is None:
        strides = fill_ops.ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    spec = {"begin": begin, "end": end, "strides": strides}
    result: Tensor = apply_op("StridedSlice", input=input_, name=name, **spec, **masks)
    result.assign = _SliceAssign(var, name, {**spec, **masks})  # type: ignore[attr-defined]
    return result


class _SliceAssign:
    """The `assign` method of a slice: `variable[1:3].assign(value)`."""

    __slots__ = ("_name", "_spec", "_variable")

    def __init__(self, variable: Any, name: str | None, spec: dict[str, Any]) -> None:
        self._variable = variable
        self._name = name
        self._spec = spec

    def __call__(self, val: Any, name: str | None = None) -> Any:
        if self._variable is None:
            raise ValueError("Sliced assignment is only supported for variables")
        if name is None:
            name = f"{self._name}_assign"
        return self._variable._strided_slice_assign(value=val, name=name, **self._spec)
