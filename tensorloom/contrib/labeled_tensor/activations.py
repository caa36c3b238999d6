"""`contrib.labeled_tensor.nn`: activations and losses of labeled tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.contrib.labeled_tensor.elementwise import (
    define_binary_op,
    define_unary_op,
)
from tensorloom.contrib.nn import cross_entropies
from tensorloom.framework.export import export_value
from tensorloom.ops.nn import activation, loss, softmax

_UNARY: Final[dict[str, Callable[..., Any]]] = {
    "relu": activation.relu,
    "relu6": activation.relu6,
    "crelu": activation.crelu,
    "elu": activation.elu,
    "softplus": activation.softplus,
    "l2_loss": loss.l2_loss,
    "softmax": softmax.softmax,
    "log_softmax": softmax.log_softmax,
}
_LOSSES: Final = (
    "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)
for _name, _function in _UNARY.items():
    export_value(
        define_unary_op(_name, _function), f"contrib.labeled_tensor.nn.{_name}"
    )
for _name in _LOSSES:
    _function = getattr(cross_entropies, f"deprecated_flipped_{_name}")
    export_value(
        define_binary_op(_name, _function), f"contrib.labeled_tensor.nn.{_name}"
    )
