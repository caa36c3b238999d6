"""Operations on each element, with one input or with two that are broadcast by axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.layout import align
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export, export_value
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.ops.math import binary, comparison, elementwise, special

Operation = Callable[..., LabeledTensor]


@export("contrib.labeled_tensor.define_unary_op")
@checked
def define_unary_op(
    op_name: str, elementwise_function: Callable[..., Any]
) -> Operation:
    """An operation on labeled tensors from one on tensors.

    Args:
      op_name: its name; operations are named `lt_` and this.
      elementwise_function: of a tensor and `name`; it keeps the shape.
    """

    @checked
    def op(labeled_tensor: LabeledTensorLike, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            tensor = elementwise_function(labeled_tensor.tensor, name=scope)
            return LabeledTensor(tensor, labeled_tensor.axes)

    return _named(op, op_name, "each element of a labeled tensor")


@export("contrib.labeled_tensor.define_binary_op")
@checked
def define_binary_op(
    op_name: str, elementwise_function: Callable[..., Any]
) -> Operation:
    """An operation on two labeled tensors, aligned by their axes, from one on tensors.

    Args:
      op_name: its name; operations are named `lt_` and this.
      elementwise_function: of two tensors and `name`; it broadcasts.
    """

    @checked
    def op(
        labeled_tensor_0: LabeledTensorLike,
        labeled_tensor_1: LabeledTensorLike,
        name: str | None = None,
    ) -> LabeledTensor:
        inputs = [labeled_tensor_0, labeled_tensor_1]
        with name_scope(name, f"lt_{op_name}", inputs) as scope:
            first, second, axes = align(labeled_tensor_0, labeled_tensor_1)
            tensor = elementwise_function(first.tensor, second.tensor, name=scope)
            return LabeledTensor(tensor, axes)

    return _named(op, op_name, "two labeled tensors, which are broadcast by their axes")


def _named(op: Operation, name: str, inputs: str) -> Operation:
    op.__name__ = name
    op.__doc__ = f"`tf.{name}` of {inputs}."
    return op


_UNARY: Final[dict[str, Callable[..., Any]]] = {
    "abs": elementwise.abs,
    "neg": elementwise.negative,
    "sign": elementwise.sign,
    "reciprocal": elementwise.reciprocal,
    "square": elementwise.square,
    "round": elementwise.round,
    "sqrt": elementwise.sqrt,
    "rsqrt": elementwise.rsqrt,
    "exp": elementwise.exp,
    "log": elementwise.log,
    "ceil": elementwise.ceil,
    "floor": elementwise.floor,
    "cos": elementwise.cos,
    "sin": elementwise.sin,
    "tan": elementwise.tan,
    "acos": elementwise.acos,
    "asin": elementwise.asin,
    "atan": elementwise.atan,
    "lgamma": elementwise.lgamma,
    "digamma": elementwise.digamma,
    "erf": elementwise.erf,
    "erfc": elementwise.erfc,
    "logical_not": comparison.logical_not,
    "tanh": elementwise.tanh,
    "sigmoid": elementwise.sigmoid,
}
_BINARY: Final[dict[str, Callable[..., Any]]] = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "div": binary.div,
    "mod": binary.floormod,
    "pow": binary.pow,
    "equal": comparison.equal,
    "greater": comparison.greater,
    "greater_equal": comparison.greater_equal,
    "not_equal": comparison.not_equal,
    "less": comparison.less,
    "less_equal": comparison.less_equal,
    "logical_and": comparison.logical_and,
    "logical_or": comparison.logical_or,
    "logical_xor": comparison.logical_xor,
    "maximum": binary.maximum,
    "minimum": binary.minimum,
    "squared_difference": binary.squared_difference,
    "igamma": special.igamma,
    "igammac": special.igammac,
    "zeta": special.zeta,
    "polygamma": special.polygamma,
}
for _name, _function in _UNARY.items():
    export_value(define_unary_op(_name, _function), f"contrib.labeled_tensor.{_name}")
for _name, _broadcasting in _BINARY.items():
    export_value(
        define_binary_op(_name, _broadcasting), f"contrib.labeled_tensor.{_name}"
    )
