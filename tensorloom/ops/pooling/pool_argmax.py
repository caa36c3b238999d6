"""Max pooling that also says where the maxima are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.window_shapes import check_list, window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _with_argmax_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    ksize, strides, padding = c.attrs["ksize"], c.attrs["strides"], c.attrs["padding"]
    for values, word in ((strides, "stride"), (ksize, "ksize")):
        if len(values) != 4:
            c.fail(
                f"MaxPool requires the {word} attribute to contain 4 values, but got: "
                f"{len(values)}"
            )
    sizes = [
        window_output_size(c, dims[axis], ksize[axis], strides[axis], padding)
        for axis in (1, 2, 3)
    ]
    shape = TensorShape.of((dims[0], *sizes))
    return [shape, shape]


def _image_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 4)


def _with_argmax_grad(op: Operation, grad: Tensor, _: Tensor | None) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "MaxPoolGradWithArgmax",
        input=op.inputs[0],
        grad=grad,
        argmax=op.outputs[1],
        ksize=op.get_attr("ksize"),
        strides=op.get_attr("strides"),
        padding=op.get_attr("padding"),
        include_batch_in_index=op.get_attr("include_batch_in_index"),
    )


_WINDOW = ["ksize: list(int) >= 4", "strides: list(int) >= 4"]
_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)

register_op(
    "MaxPoolWithArgmax",
    inputs=["input: T"],
    outputs=["output: T", "argmax: Targmax"],
    attrs=[
        *_WINDOW,
        "Targmax: {int32, int64} = DT_INT64",
        "padding: {'SAME', 'VALID'}",
        "include_batch_in_index: bool = false",
        _NUMBERS,
    ],
    shape_fn=_with_argmax_shape,
    gradient=_with_argmax_grad,
    doc="The maximum of each window, and its index in the flattened image.",
)

register_op(
    "MaxPoolGradWithArgmax",
    inputs=["input: T", "grad: T", "argmax: Targmax"],
    outputs=["output: T"],
    attrs=[
        *_WINDOW,
        "padding: {'SAME', 'VALID'}",
        "include_batch_in_index: bool = false",
        "Targmax: {int32, int64}",
        _NUMBERS,
    ],
    shape_fn=_image_shape,
    doc="The gradient of MaxPoolWithArgmax.",
)


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """(maxima, indices): index (y * width + x) * channels + channel in the image.

    Raises:
      ValueError: the data format is not NHWC.
    """
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    check_list(ksize, "ksize", "max_pool_with_argmax")
    check_list(strides, "strides", "max_pool_with_argmax")
    argmax_type = either("output_dtype", output_dtype, "Targmax", Targmax)
    return apply_op(
        "MaxPoolWithArgmax",
        input=input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=dtypes.int64 if argmax_type is None else argmax_type,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )
