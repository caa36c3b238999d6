"""Ops that return their input: Identity and its relatives.

They differ in what they promise: that no gradient passes, that the values are finite,
that the shape is known, that the value never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    unchanged_shape,
)
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor

# --- shape functions and gradients ------------------------------------------------


def _identity_shape(c: InferenceContext) -> TensorShape:
    handle = c.handle_data(0)
    if handle is not None:
        c.set_output_handle_data(0, handle)
    return c.input_shape(0)


def _identity_n_shape(c: InferenceContext) -> list[TensorShape]:
    for i in range(c.num_inputs):
        handle = c.handle_data(i)
        if handle is not None:
            c.set_output_handle_data(i, handle)
    return list(c.input_shapes)


def _ensure_shape_shape(c: InferenceContext) -> TensorShape:
    return c.merge(c.attrs["shape"], c.input_shape(0))


def _pass_gradient(op: Operation, grad: Tensor) -> Tensor:
    return grad


def _identity_n_grad(op: Operation, *grads: Tensor) -> list[Tensor]:
    return list(grads)


def _prevent_gradient_grad(op: Operation, grad: Tensor) -> Tensor:
    message = op.get_attr("message").decode()
    raise LookupError(f"Gradient explicitly disabled. Reason: {message}")


_IN_GRADIENT = "Not a number (NaN) or infinity (Inf) values detected in gradient. "


def _check_numerics_grad(op: Operation, grad: Tensor) -> Tensor:
    message = op.get_attr("message").decode()
    return check_numerics(grad, _IN_GRADIENT + message)


def _check_numerics_v2_grad(op: Operation, grad: Tensor) -> Tensor:
    message = _IN_GRADIENT + op.get_attr("message").decode()
    return apply_op("CheckNumericsV2", tensor=grad, message=message)  # type: ignore[no-any-return]


# --- definitions --------------------------------------------------------------------

register_op(
    "Identity",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=_identity_shape,
    gradient=_pass_gradient,
    doc="The input, unchanged.",
)

register_op(
    "IdentityN",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: list(type) >= 1"],
    shape_fn=_identity_n_shape,
    gradient=_identity_n_grad,
    doc="All inputs, unchanged, in one node.",
)

register_op(
    "RefIdentity",
    inputs=["input: Ref(T)"],
    outputs=["output: Ref(T)"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    gradient=_pass_gradient,
    allows_uninitialized_input=True,
    doc="The input reference, unchanged.",
)

register_op(
    "StopGradient",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The input, unchanged; no gradient flows back through it.",
)

register_op(
    "PreventGradient",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type", "message: string = ''"],
    shape_fn=unchanged_shape,
    gradient=_prevent_gradient_grad,
    doc="The input, unchanged; asking for a gradient through it is an error.",
)

register_op(
    "GuaranteeConst",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    stateful=True,
    doc="The input, which the caller promises never to change.",
)

register_op(
    "Snapshot",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    doc="A copy of the input.",
)

register_op(
    "XlaClusterOutput",
    inputs=["input: T"],
    outputs=["outputs: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    doc="The input, which a computation that is marked for XLA gives out.",
)

register_op(
    "DeepCopy",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    stateful=True,
    doc="A copy of the input that shares no memory with it.",
)

register_op(
    "CheckNumerics",
    inputs=["tensor: T"],
    outputs=["output: T"],
    attrs=["T: {bfloat16, half, float, double}", "message: string"],
    shape_fn=unchanged_shape,
    gradient=_check_numerics_grad,
    stateful=True,
    doc="The input, unchanged; an error if it holds a NaN or an infinity.",
)

register_op(
    "CheckNumericsV2",
    inputs=["tensor: T"],
    outputs=["output: T"],
    attrs=["T: {bfloat16, half, float, double}", "message: string"],
    shape_fn=unchanged_shape,
    gradient=_check_numerics_v2_grad,
    stateful=True,
    doc="The input; an error that tells signs apart if it has a NaN or an infinity.",
)

register_op(
    "EnsureShape",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["shape: shape", "T: type"],
    shape_fn=_ensure_shape_shape,
    gradient=_pass_gradient,
    doc="The input, unchanged; an error if its shape does not fit `shape`.",
)

# --- builders -----------------------------------------------------------------------


@export("identity")
def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the shape and contents of `input`."""
    result: Tensor = apply_op("Identity", input=input, name=name)
    handle = getattr(input, "_handle_data", None)
    if handle is not None:
        result._handle_data = handle
    return result


@export("identity_n")
def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """A list of tensors with the shapes and contents of those in `input`."""
    result = apply_op("IdentityN", input=input, name=name)
    return list(result) if isinstance(result, (list, tuple)) else [result]


@export("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input`; gradients take it for a constant."""
    return apply_op("StopGradient", input=input, name=name)  # type: ignore[no-any-return]


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """`input`; `tf.gradients` raises LookupError with `message` when it gets here."""
    return apply_op("PreventGradient", input=input, message=message, name=name)  # type: ignore[no-any-return]


@export("guarantee_const")
def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, with the caller's promise that its value never changes."""
    return apply_op("GuaranteeConst", input=input, name=name)  # type: ignore[no-any-return]


@export("check_numerics", "debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; the step fails with `message` if it holds a NaN or an infinity.

    Raises (at run time):
      errors.InvalidArgumentError: a value is not finite.
    """
    return apply_op("CheckNumerics", tensor=tensor, message=message, name=name)  # type: ignore[no-any-return]


@export("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x` with `shape` added to what is known of its static shape.

    Raises:
      ValueError: the static shape contradicts `shape`. At run time
        errors.InvalidArgumentError: the value's shape does.
    """
    return apply_op("EnsureShape", input=x, shape=as_shape(shape), name=name)  # type: ignore[no-any-return]
