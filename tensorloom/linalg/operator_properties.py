"""What is known of a linear operator without multiplying: hints, parts and shapes.

Hints (`is_self_adjoint` and so on) are taken on trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tensorloom.framework.types.tensor_shape import TensorShape


class OperatorProperties:
    """The base of `LinearOperator`, which says what the arguments mean."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular operator is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint operator is always square.")
            is_square = True
        self._graph_parents = list(graph_parents or ())
        self._dtype: Any = None if dtype is None else dtypes.as_dtype(dtype)
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = is_square
        self._name = name or type(self).__name__

    # --- what it is ------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self._name

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that the operator is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the matrices are invertible, if known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the matrices are their own adjoints, if known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether x^H A x > 0 for all x but 0, if known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrices are square, if known.

        Raises:
          ValueError: the hint given for it is wrong.
        """
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        if rows is not None and columns is not None:
            square: bool = rows == columns
            if self._is_square_hint is not None and self._is_square_hint != square:
                what = "square" if square else "not square"
                raise ValueError(
                    f"User set is_square hint to {self._is_square_hint}, but the "
                    f"operator was {what}."
                )
            return square
        return self._is_square_hint

    @property
    def name_scope(self) -> AbstractContextManager[Any]:
        """A scope of the operator's name."""
        return name_scope(self._name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that are attributes of the operator or its parts."""
        from tensorloom.client.variables.variables import Variable

        found = [v for v in vars(self).values() if isinstance(v, Variable)]
        for part in self.submodules:
            found += [v for v in vars(part).values() if isinstance(v, Variable)]
        return tuple(dict.fromkeys(found))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[OperatorProperties, ...]:
        """The operators that this one is made of."""
        parts: list[OperatorProperties] = []
        for value in vars(self).values():
            for item in value if isinstance(value, list | tuple) else [value]:
                if isinstance(item, OperatorProperties):
                    parts += [item, *item.submodules]
        return tuple(dict.fromkeys(parts))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that enters the operator's name scope."""

        def scoped(self: OperatorProperties, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _scope(self, name: str) -> AbstractContextManager[Any]:
        return name_scope(f"{self._name}/{name}")

    # --- shapes ----------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape [B1, ..., Bb, M, N]."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank b + 2, if known."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> Any:
        """N, the dimension of what it acts on."""
        return self.shape[-1] if self.shape.rank is not None else _unknown_dimension()

    @property
    def range_dimension(self) -> Any:
        """M, the dimension of what it gives."""
        return self.shape[-2] if self.shape.rank is not None else _unknown_dimension()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as an int32 vector, determined at run time where it must be."""
        with self._scope(name):
            if self.shape.is_fully_defined():
                shape: Tensor = convert_to_tensor(
                    self.shape.as_list(), dtypes.int32, name="shape"
                )
                return shape
            return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as an int32 vector."""
        with self._scope(name):
            return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank as an int32 scalar."""
        with self._scope(name):
            return array_ops.size(self.shape_tensor())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """N as an int32 scalar."""
        with self._scope(name):
            return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """M as an int32 scalar."""
        with self._scope(name):
            return self.shape_tensor()[-2]

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self._name!r} shape={self.shape} "
            f"dtype={self._dtype.name if self._dtype else None}>"
        )


def _unknown_dimension() -> Any:
    from tensorloom.framework.types.dimension import Dimension

    return Dimension(None)
