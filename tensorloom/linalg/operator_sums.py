"""Sums of linear operators, of as simple classes as they can be."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework.graph.graph import name_scope
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_full_matrix import LinearOperatorFullMatrix
from tensorloom.linalg.linear_operator_identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from tensorloom.linalg.linear_operator_lower_triangular import (
    LinearOperatorLowerTriangular,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check_type

_IDENTITIES: Final = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONALS: Final = (LinearOperatorDiag, *_IDENTITIES)


@dataclass
class Hints:
    """What is known of a sum; None where nothing is."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


class Adder(abc.ABC):
    """Adds operators of some classes."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @abc.abstractmethod
    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """Whether it adds these two."""

    @abc.abstractmethod
    def _add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: Any
    ) -> LinearOperator: ...

    def add(
        self,
        op1: LinearOperator,
        op2: LinearOperator,
        operator_name: str | None,
        hints: Hints | None = None,
    ) -> LinearOperator:
        """op1 + op2 as an operator.

        Args:
          operator_name: of the sum; says what was added by default.
          hints: what is known of the sum, beside what both operators say.
        """
        name = operator_name or f"Add/{op1.name}__{op2.name}/"
        with name_scope(self.name.lstrip("_")):
            return self._add(op1, op2, name, vars(_hints(op1, op2, hints)))


def _hints(op1: LinearOperator, op2: LinearOperator, given: Hints | None) -> Hints:
    """The given hints, with what both operators say in place of None."""
    found = Hints(**vars(given)) if given else Hints()
    if found.is_self_adjoint is None:
        found.is_self_adjoint = op1.is_self_adjoint and op2.is_self_adjoint
    if found.is_positive_definite is None:
        both = op1.is_positive_definite and op2.is_positive_definite
        found.is_positive_definite = both
        if both:
            found.is_non_singular = True
    return found


class AddAndReturnScaledIdentity(Adder):
    """Multiples of the identity."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return _are(_IDENTITIES, op1, op2)

    def _add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: Any
    ) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            num_rows=op1.range_dimension_tensor(),
            multiplier=_multiplier(op1) + _multiplier(op2),
            name=operator_name,
            **hints,
        )


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return array_ops.ones(operator.batch_shape_tensor(), dtype=operator.dtype)


class AddAndReturnDiag(Adder):
    """Diagonal matrices."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return _are(_DIAGONALS, op1, op2)

    def _add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: Any
    ) -> LinearOperator:
        diagonal = op1.diag_part() + op2.diag_part()
        return LinearOperatorDiag(diag=diagonal, name=operator_name, **hints)


class AddAndReturnTriL(Adder):
    """Lower triangular matrices, with diagonal ones."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return _are((*_DIAGONALS, LinearOperatorLowerTriangular), op1, op2)

    def _add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: Any
    ) -> LinearOperator:
        return LinearOperatorLowerTriangular(
            tril=_dense_sum(op1, op2), name=operator_name, **hints
        )


class AddAndReturnMatrix(Adder):
    """Any matrices, written out."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return _are((LinearOperator,), op1, op2)

    def _add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: Any
    ) -> LinearOperator:
        return LinearOperatorFullMatrix(
            matrix=_dense_sum(op1, op2), name=operator_name, **hints
        )


def _are(kinds: tuple[type, ...], *operators: LinearOperator) -> bool:
    return all(isinstance(operator, kinds) for operator in operators)


def _dense_sum(op1: LinearOperator, op2: LinearOperator) -> Any:
    """The sum, written out; a diagonal one is added to the other's matrix."""
    if isinstance(op1, _DIAGONALS):
        op1, op2 = op2, op1
    return op2.add_to_tensor(op1.to_dense())


_SIMPLEST_FIRST: Final[Sequence[Sequence[Adder]]] = (
    (AddAndReturnScaledIdentity(),),
    (AddAndReturnDiag(),),
    (AddAndReturnTriL(),),
    (AddAndReturnMatrix(),),
)


def add_operators(
    operators: Iterable[Any],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[Any]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """A list of fewer operators with the same sum.

    Args:
      operators: of one dtype and shape; their batches are broadcast.
      operator_name: of each sum; says what was added by default.
      addition_tiers: lists of `Adder`s. What those of one list can add is added before
        the next is tried; simpler classes first by default.

    Raises:
      TypeError: one is no LinearOperator.
      ValueError: there is none, or their shapes do not fit.
    """
    check_type.assert_proper_iterable(operators)
    waiting = list(operators)
    if not waiting:
        raise ValueError(
            "Argument 'operators' must contain at least one operator.  Found: "
            f"{waiting}"
        )
    if not _are((LinearOperator,), *waiting):
        raise TypeError(
            "Argument 'operators' must contain only LinearOperator instances.  "
            f"Found: {waiting}"
        )
    _check_shapes(waiting)
    with name_scope(name or "add_operators"):
        for adders in addition_tiers or _SIMPLEST_FIRST:
            waiting = _added(waiting, adders, operator_name)
        return waiting


def _added(
    operators: list[LinearOperator], adders: Sequence[Adder], name: str | None
) -> list[LinearOperator]:
    """Each operator with those behind it that the adders can add."""
    waiting, left = list(operators), []
    while waiting:
        first = waiting.pop(0)
        match = next(
            (
                (position, adder)
                for position, other in enumerate(waiting)
                for adder in adders
                if adder.can_add(first, other)
            ),
            None,
        )
        if match is None:
            left.append(first)
        else:
            position, adder = match
            waiting.insert(0, adder.add(first, waiting.pop(position), name))
    # Those that nobody added come last first, as each pass turns the list around.
    return left[::-1]


def _check_shapes(operators: list[LinearOperator]) -> None:
    for side in ("domain", "range"):
        found = [
            (operator.name, size)
            for operator in operators
            if (size := getattr(operator, f"{side}_dimension").value) is not None
        ]
        if len({size for _, size in found}) > 1:
            raise ValueError(
                f"Operators must have the same {side} dimension. Found: {found}"
            )
    batch = operators[0].batch_shape
    for operator in operators[1:]:
        batch = array_ops.broadcast_static_shape(batch, operator.batch_shape)
