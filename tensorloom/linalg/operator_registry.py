"""Functions that programs register for classes of linear operators.

`LinearOperator` asks here before it does what it does for any operator.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Registry = dict[tuple[type, ...], Callable[..., Any]]

_ADJOINTS: _Registry = {}
_CHOLESKY_DECOMPS: _Registry = {}
_INVERSES: _Registry = {}
_MATMUL: _Registry = {}
_SOLVE: _Registry = {}


def registered(registry: _Registry, *classes: type) -> Callable[..., Any] | None:
    """The function for the nearest bases of some classes; None if there is none."""
    if not registry:
        return None
    bases = [list(enumerate(inspect.getmro(kind))) for kind in classes]
    found, nearest = None, None
    for chosen in itertools.product(*bases):
        function = registry.get(tuple(base for _, base in chosen))
        distance = sum(position for position, _ in chosen)
        if function is not None and (nearest is None or distance < nearest):
            found, nearest = function, distance
    return found


def registered_adjoint(kind: type) -> Callable[..., Any] | None:
    """What makes the adjoint of an operator of this class."""
    return registered(_ADJOINTS, kind)


def registered_cholesky(kind: type) -> Callable[..., Any] | None:
    """What makes the Cholesky factor of an operator of this class."""
    return registered(_CHOLESKY_DECOMPS, kind)


def registered_inverse(kind: type) -> Callable[..., Any] | None:
    """What makes the inverse of an operator of this class."""
    return registered(_INVERSES, kind)


def registered_matmul(left: type, right: type) -> Callable[..., Any] | None:
    """What makes the product of operators of these classes."""
    return registered(_MATMUL, left, right)


def registered_solve(left: type, right: type) -> Callable[..., Any] | None:
    """What solves with an operator of one class for one of another."""
    return registered(_SOLVE, left, right)


class _Register:
    """A decorator that registers a function for classes of operators."""

    _registry: ClassVar[_Registry]
    _what: ClassVar[str]

    def __init__(self, *classes: type) -> None:
        self._key = classes

    def __call__(self, function: _Function) -> _Function:
        """Registers the function.

        Raises:
          TypeError: it cannot be called.
          ValueError: there is one for these classes.
        """
        if not callable(function):
            raise TypeError(
                f"{self._what.lower()}_fn must be callable, received: {function}"
            )
        if self._key in self._registry:
            names = ", ".join(kind.__name__ for kind in self._key)
            raise ValueError(f"{self._what}({names}) has already been registered.")
        self._registry[self._key] = function
        return function


class RegisterAdjoint(_Register):
    """`@RegisterAdjoint(Class)` over a function of an operator."""

    _registry, _what = _ADJOINTS, "Adjoint"


class RegisterCholesky(_Register):
    """`@RegisterCholesky(Class)` over a function of an operator."""

    _registry, _what = _CHOLESKY_DECOMPS, "Cholesky"


class RegisterInverse(_Register):
    """`@RegisterInverse(Class)` over a function of an operator."""

    _registry, _what = _INVERSES, "Inverse"


class RegisterMatmul(_Register):
    """`@RegisterMatmul(Left, Right)` over a function of two operators."""

    _registry, _what = _MATMUL, "Matmul"


class RegisterSolve(_Register):
    """`@RegisterSolve(Left, Right)` over a function of two operators."""

    _registry, _what = _SOLVE, "Solve"
