"""`ConstrainedMinimizationProblem`: what is to be minimized, and under what."""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


@export("contrib.constrained_optimization.ConstrainedMinimizationProblem")
class ConstrainedMinimizationProblem(abc.ABC):
    """An objective, and constraints that are to be zero or less."""

    @property
    @abc.abstractmethod
    def objective(self) -> Tensor:
        """What is minimized, a scalar."""

    @property
    def num_constraints(self) -> int:
        """The number of constraints.

        Raises:
          ValueError: the shape of the constraints, or of their proxies, is not known,
            or they differ.
        """
        shape = self.constraints.get_shape()
        proxies = self.proxy_constraints
        proxy_shape = shape if proxies is None else proxies.get_shape()
        if not (shape.is_fully_defined() and proxy_shape.is_fully_defined()):
            raise ValueError(
                "constraints and proxy_constraints must have fully-known shapes"
            )
        if shape != proxy_shape:
            raise ValueError(
                "constraints and proxy_constraints must have the same shape"
            )
        return math.prod(int(size) for size in shape)

    @property
    @abc.abstractmethod
    def constraints(self) -> Tensor:
        """What is to be zero or less."""

    @property
    def proxy_constraints(self) -> Tensor | None:
        """What stands for the constraints in gradients, or None if they do themselves.

        Constraints that are steps have no useful gradient: proxies do.
        """
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Operations that run before each training step, or None."""
        return None
