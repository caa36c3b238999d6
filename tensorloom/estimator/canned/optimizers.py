"""Optimizers that ready-made models are given by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.train.optimizers.adagrad import AdagradOptimizer
from tensorloom.train.optimizers.adam import AdamOptimizer
from tensorloom.train.optimizers.ftrl import FtrlOptimizer
from tensorloom.train.optimizers.gradient_descent import GradientDescentOptimizer
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.rmsprop import RMSPropOptimizer

_BY_NAME: Final[dict[str, Callable[..., Optimizer]]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Optimizer:
    """An optimizer.

    Args:
      opt: an optimizer, its name, or a function that makes one.
      learning_rate: of an optimizer that is given by its name.

    Raises:
      ValueError: no such optimizer, or no learning rate for a name.
    """
    if isinstance(opt, str):
        if opt not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {opt}. Supported names are: "
                f"{tuple(sorted(_BY_NAME))}"
            )
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _BY_NAME[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt
