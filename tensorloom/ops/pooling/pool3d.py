"""3-D pooling: ops, gradients and builders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.conv3d import in_volume_order, volume_axes
from tensorloom.ops.convolution.window_shapes import sequence_of, window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _pool3d_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 5).dims_tuple
    assert dims is not None
    ksize, strides = c.attrs["ksize"], c.attrs["strides"]
    for values, word in ((strides, "stride"), (ksize, "ksize")):
        if len(values) != 5:
            c.fail(
                f"Pool3D ops require the {word} attribute to contain 5 values, but "
                f"got: {len(values)}"
            )
    axes, channels = volume_axes(c.attrs["data_format"])
    spatial = [
        window_output_size(
            c, dims[axis], ksize[axis], strides[axis], c.attrs["padding"]
        )
        for axis in axes
    ]
    shape = in_volume_order(c.attrs["data_format"], dims[0], spatial, dims[channels])
    return TensorShape.of(shape)


def _shape_in_input(c: InferenceContext) -> TensorShape:
    return c.with_rank(c.input_value_as_shape(0), 5)


def _input_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 5)


def _grad_grad_shape(c: InferenceContext) -> TensorShape:
    output = _pool3d_shape(c)
    c.merge(c.input_shape(0), c.input_shape(2))
    c.merge(output, c.input_shape(1))
    return output


# --- gradients ---------------------------------------------------------------


def _attrs(op: Operation) -> dict[str, Any]:
    names = ("ksize", "strides", "padding", "data_format")
    return {name: op.get_attr(name) for name in names}


def _avg_pool3d_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "AvgPool3DGrad",
        orig_input_shape=array_ops.shape(op.inputs[0]),
        grad=grad,
        **_attrs(op),
    )


def _avg_pool3d_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [
        array_ops.stop_gradient(op.inputs[0]),
        apply_op("AvgPool3D", input=grad, **_attrs(op)),
    ]


def _max_pool3d_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "MaxPool3DGrad",
        orig_input=op.inputs[0],
        orig_output=op.outputs[0],
        grad=grad,
        **_attrs(op),
    )


def _second_grad(op_type: str) -> Any:
    """MaxPool3DGrad and MaxPool3DGradGrad are each other's gradient."""

    def gradient(op: Operation, grad: Tensor) -> list[Tensor]:
        volume, output = op.inputs[0], op.inputs[1]
        return [
            array_ops.zeros(shape=array_ops.shape(volume), dtype=volume.dtype),
            array_ops.zeros(shape=array_ops.shape(output), dtype=output.dtype),
            apply_op(
                op_type, orig_input=volume, orig_output=output, grad=grad, **_attrs(op)
            ),
        ]

    return gradient


# --- ops ---------------------------------------------------------------------

_WINDOW = [
    "ksize: list(int) >= 5",
    "strides: list(int) >= 5",
    "padding: {'SAME', 'VALID'}",
    "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'",
]
_FLOATS = "T: {half, bfloat16, float, double}"

register_op(
    "AvgPool3D",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, _FLOATS],
    shape_fn=_pool3d_shape,
    gradient=_avg_pool3d_grad,
    doc="The mean of each 3-D window; padding does not count.",
)

register_op(
    "AvgPool3DGrad",
    inputs=["orig_input_shape: int32", "grad: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, _FLOATS],
    shape_fn=_shape_in_input,
    gradient=_avg_pool3d_grad_grad,
    doc="The gradient of AvgPool3D.",
)

register_op(
    "MaxPool3D",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, "T: {half, bfloat16, float}"],
    shape_fn=_pool3d_shape,
    gradient=_max_pool3d_grad,
    doc="The maximum of each 3-D window.",
)

register_op(
    "MaxPool3DGrad",
    inputs=["orig_input: TInput", "orig_output: TInput", "grad: T"],
    outputs=["output: T"],
    attrs=[
        *_WINDOW,
        "T: {half, bfloat16, float} = DT_FLOAT",
        "TInput: {half, bfloat16, float} = DT_FLOAT",
    ],
    shape_fn=_input_shape,
    gradient=_second_grad("MaxPool3DGradGrad"),
    doc="The gradient of MaxPool3D: it goes to every maximum of each window.",
)

register_op(
    "MaxPool3DGradGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=[
        *_WINDOW,
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
        "uint32, uint64}",
    ],
    shape_fn=_grad_grad_shape,
    gradient=_second_grad("MaxPool3DGrad"),
    doc="What `grad` has at the first maximum of each 3-D window.",
)

# --- builders ----------------------------------------------------------------


def _pool3d(
    op: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    data_format = data_format or "NDHWC"
    channels = 1 if data_format.startswith("NC") else 4
    return apply_op(  # type: ignore[no-any-return]
        op,
        input=input,
        ksize=sequence_of(ksize, 3, channels, "ksize"),
        strides=sequence_of(strides, 3, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


@export("nn.avg_pool3d")
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes [batch, depth, height, width, channels]."""
    with name_scope(name, "AvgPool3D", [input]) as name:
        return _pool3d("AvgPool3D", input, ksize, strides, padding, data_format, name)


@export("nn.max_pool3d")
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of volumes [batch, depth, height, width, channels]."""
    with name_scope(name, "MaxPool3D", [input]) as name:
        return _pool3d("MaxPool3D", input, ksize, strides, padding, data_format, name)
