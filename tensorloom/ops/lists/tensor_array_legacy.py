"""Tensor arrays of old (V1 and V2), whose handles are strings.

They do what the V3 ops do. Only graphs that old programs saved have them: the client
builds V3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import no_outputs, unknown_shapes
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape
from tensorloom.ops.lists import tensor_array_gradient

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import GradientFn, ShapeFn
    from tensorloom.framework.registry.shape_inference import InferenceContext

_HANDLE = TensorShape.of((2,))


def _handle_shape(c: InferenceContext) -> TensorShape:
    return _HANDLE


def _create_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return _HANDLE


def _flow_shape(c: InferenceContext) -> TensorShape:
    return SCALAR


def _indexed_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    return SCALAR


def _value_shape(c: InferenceContext) -> TensorShape:
    return UNKNOWN


def _concat_shape(c: InferenceContext) -> list[TensorShape]:
    return [UNKNOWN, TensorShape.of((None,))]


# (kind, inputs after the handle, outputs, attrs, shape, gradient)
_Row = tuple[
    str, Sequence[str], Sequence[str], Sequence[str], "ShapeFn", "GradientFn | None"
]
_FLOW = ["flow_out: float"]
_SHAPE = "element_shape: shape = unknown"
_ROWS: list[_Row] = [
    (
        "Write",
        ["index: int32", "value: T", "flow_in: float"],
        _FLOW,
        ["T: type"],
        _indexed_shape,
        tensor_array_gradient.write_grad,
    ),
    (
        "Read",
        ["index: int32", "flow_in: float"],
        ["value: dtype"],
        ["dtype: type"],
        _value_shape,
        tensor_array_gradient.read_grad,
    ),
    (
        "Gather",
        ["indices: int32", "flow_in: float"],
        ["value: dtype"],
        ["dtype: type", _SHAPE],
        _value_shape,
        tensor_array_gradient.gather_grad,
    ),
    (
        "Scatter",
        ["indices: int32", "value: T", "flow_in: float"],
        _FLOW,
        ["T: type"],
        _flow_shape,
        tensor_array_gradient.scatter_grad,
    ),
    (
        "Concat",
        ["flow_in: float"],
        ["value: dtype", "lengths: int64"],
        ["dtype: type", "element_shape_except0: shape = unknown"],
        _concat_shape,
        tensor_array_gradient.concat_grad,
    ),
    (
        "Split",
        ["value: T", "lengths: int64", "flow_in: float"],
        _FLOW,
        ["T: type"],
        _flow_shape,
        tensor_array_gradient.split_grad,
    ),
    ("Size", ["flow_in: float"], ["size: int32"], [], _flow_shape, None),
    ("Close", [], [], [], no_outputs, None),
]

# Versions of the graph since when there is a newer one, where it is not 16.
_SINCE = {"Scatter": 19}

for _suffix, _handle in (("", "handle: Ref(string)"), ("V2", "handle: string")):
    for _kind, _inputs, _outputs, _attrs, _shape_fn, _gradient in _ROWS:
        register_op(
            f"TensorArray{_kind}{_suffix}",
            inputs=[_handle, *_inputs],
            outputs=_outputs,
            attrs=_attrs,
            # The first version never had shape functions.
            shape_fn=_shape_fn if _suffix or not _outputs else unknown_shapes,
            gradient=_gradient or NOT_DIFFERENTIABLE,
            deprecated=(
                26 if _suffix else _SINCE.get(_kind, 16),
                f"Use TensorArray{_kind}V3",
            ),
            doc=f"TensorArray{_kind}V3 for a handle of old.",
        )
    register_op(
        f"TensorArrayGrad{_suffix}",
        inputs=["handle: string", "flow_in: float"],
        outputs=[f"grad_{_handle}"],
        attrs=["source: string"],
        shape_fn=_handle_shape if _suffix else unknown_shapes,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        deprecated=(26 if _suffix else 16, "Use TensorArrayGradV3"),
        doc="TensorArrayGradV3 for a handle of old.",
    )

register_op(
    "TensorArray",
    inputs=["size: int32"],
    outputs=["handle: Ref(string)"],
    attrs=[
        "dtype: type",
        "dynamic_size: bool = false",
        "clear_after_read: bool = true",
        "tensor_array_name: string = ''",
        _SHAPE,
    ],
    shape_fn=unknown_shapes,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    deprecated=(16, "Use TensorArrayV3"),
    doc="TensorArrayV3 with a handle of old.",
)
register_op(
    "TensorArrayV2",
    inputs=["size: int32"],
    outputs=["handle: string"],
    attrs=[
        "dtype: type",
        _SHAPE,
        "dynamic_size: bool = false",
        "clear_after_read: bool = true",
        "tensor_array_name: string = ''",
    ],
    shape_fn=_create_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    deprecated=(26, "Use TensorArrayV3"),
    doc="TensorArrayV3 with a handle of old.",
)
register_op(
    "TensorArrayPack",
    inputs=["handle: Ref(string)", "flow_in: float"],
    outputs=["value: dtype"],
    attrs=["dtype: type", _SHAPE],
    shape_fn=unknown_shapes,
    deprecated=(16, "Use TensorArrayGatherV3 with RangeOp"),
    doc="Stacks all elements along a new dimension 0.",
)
register_op(
    "TensorArrayUnpack",
    inputs=["handle: Ref(string)", "value: T", "flow_in: float"],
    outputs=_FLOW,
    attrs=["T: type"],
    shape_fn=unknown_shapes,
    deprecated=(20, "Use TensorArrayScatterV3 with RangeOp"),
    doc="Writes the slices of a tensor along dimension 0 to the indices from 0 on.",
)
