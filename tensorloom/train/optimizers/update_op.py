"""Optimizers whose whole step on a variable is one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tensorloom.train.optimizers.optimizer import Optimizer

_Class = TypeVar("_Class", bound=type[Optimizer])


def updates_by_op(cls: _Class) -> _Class:
    """Makes steps of `cls._build`, which says which op updates a variable of any kind.

        _build(self, var, grad, dtype, **indices)
          var: the variable.
          grad: its gradient, or the values of a sparse one.
          dtype: that of the op's scalars.
          **indices: `indices` of a sparse gradient.

    A decorator, not a base class: programs look for classes whose base is `Optimizer`.
    """
    methods = (_apply_dense, _resource_apply_dense, _apply_sparse)
    return add_methods(cls, *methods, _resource_apply_sparse)


def add_methods(cls: _Class, *functions: Callable[..., Any]) -> _Class:
    """Gives a class the functions whose names it does not have of its own."""
    for function in functions:
        if function.__name__ not in vars(cls):
            setattr(cls, function.__name__, function)
    return cls


def _apply_dense(self: Any, grad: Any, var: Any) -> Any:
    return self._build(var, grad, var.dtype.base_dtype)


def _resource_apply_dense(self: Any, grad: Any, handle: Any) -> Any:
    return self._build(handle, grad, grad.dtype.base_dtype)


def _apply_sparse(self: Any, grad: Any, var: Any) -> Any:
    dtype = var.dtype.base_dtype
    return self._build(var, grad.values, dtype, indices=grad.indices)


def _resource_apply_sparse(self: Any, grad: Any, handle: Any, indices: Any) -> Any:
    return self._build(handle, grad, grad.dtype, indices=indices)
