"""Grayscale dilation and erosion of images: ops, gradients and builders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.window_shapes import window_output_size
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _dilation_shape(c: InferenceContext) -> TensorShape:
    dims, filters = c.with_rank(0, 4).dims_tuple, c.with_rank(1, 3).dims_tuple
    assert dims is not None
    assert filters is not None
    strides, rates = c.attrs["strides"], c.attrs["rates"]
    for values, word in ((strides, "stride"), (rates, "rates")):
        if len(values) != 4:
            c.fail(
                f"Dilation2D requires the {word} attribute to contain 4 values, but "
                f"got: {len(values)}"
            )
    if None in (*dims[1:3], *filters[:2]):
        return TensorShape.of((dims[0], None, None, filters[2]))
    c.merge_dim(dims[3], filters[2])
    sizes = [
        window_output_size(
            c,
            dims[axis],
            filters[axis - 1],
            strides[axis],
            c.attrs["padding"],
            dilation=rates[axis],
        )
        for axis in (1, 2)
    ]
    # As in TensorFlow the filter's depth, which the image's does not add to.
    return TensorShape.of((dims[0], *sizes, filters[2]))


def _input_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(0)


def _filter_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(1)


def _dilation_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    attrs = {name: op.get_attr(name) for name in ("strides", "rates", "padding")}
    return [
        apply_op(
            f"Dilation2DBackprop{side}",
            input=op.inputs[0],
            filter=op.inputs[1],
            out_backprop=grad,
            **attrs,
        )
        for side in ("Input", "Filter")
    ]


_ATTRS = [
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}",
    "strides: list(int) >= 4",
    "rates: list(int) >= 4",
    "padding: {'SAME', 'VALID'}",
]

register_op(
    "Dilation2D",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=_ATTRS,
    shape_fn=_dilation_shape,
    gradient=_dilation_grad,
    doc="The maximum of each window of an image plus the filter.",
)

for _side, _shape in (("Input", _input_shape), ("Filter", _filter_shape)):
    register_op(
        f"Dilation2DBackprop{_side}",
        inputs=["input: T", "filter: T", "out_backprop: T"],
        outputs=[f"{'in' if _side == 'Input' else 'filter'}_backprop: T"],
        attrs=_ATTRS,
        shape_fn=_shape,
        doc=f"The gradient of Dilation2D with respect to its {_side.lower()}.",
    )


@export("nn.dilation2d")
def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The maximum of input + filter over each window.

    Args:
      input: [batch, height, width, depth].
      filter: [height, width, depth].
      strides, rates: four numbers, 1 for batch and depth.
      padding: "SAME" or "VALID".
    """
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return apply_op(  # type: ignore[no-any-return]
        "Dilation2D",
        input=input,
        filter=filter,
        strides=strides,
        rates=rates,
        padding=padding,
        name=name,
    )


@export("nn.erosion2d")
def erosion2d(
    value: Any,
    kernel: Any,
    strides: Any,
    rates: Any,
    padding: Any,
    name: str | None = None,
) -> Tensor:
    """The minimum of value - kernel over each window: the dual of `dilation2d`."""
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        dilated = apply_op(
            "Dilation2D",
            input=math_ops.negative(value),
            filter=array_ops.reverse(kernel, [0, 1]),
            strides=strides,
            rates=rates,
            padding=padding,
            name=name,
        )
        return math_ops.negative(dilated)
