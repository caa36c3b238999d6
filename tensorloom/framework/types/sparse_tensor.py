"""SparseTensor: a tensor of which only some elements are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.framework.export import export
from tensorloom.framework.graph import late_operators
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.runtime import default_stack
from tensorloom.framework.types import constant_value, dtypes
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


# What `object` has under a name such as `__eq__`: set by nobody.
_SLOT_WRAPPER = type(object.__init__)


@export("SparseTensorValue")
class SparseTensorValue(NamedTuple):
    """What `Session.run` gives for a SparseTensor, and what feeds one."""

    indices: Any
    values: Any
    dense_shape: Any


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor(CompositeTensor):
    """Elements `values[i]` of a tensor at the places `indices[i]`; the rest is zero.

    `indices` is int64 [n, rank], `values` is [n] of any dtype, and `dense_shape` is
    int64 [rank]. Most ops expect the indices in row-major order.

    Raises:
      ValueError: the shapes of the three do not fit together.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = convert_to_tensor(values, name="values")
            dense_shape = convert_to_tensor(
                dense_shape, name="dense_shape", dtype=dtypes.int64
            )
        self._indices: Tensor = indices
        self._values: Tensor = values
        self._dense_shape: Tensor = dense_shape
        places = indices.shape.with_rank(2)
        places[0].merge_with(values.shape.with_rank(1)[0])
        places[1].merge_with(dense_shape.shape.with_rank(1)[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue's (or a SparseTensor's) parts.

        Raises:
          TypeError: the value is neither.
        """
        if not is_sparse(sparse_tensor_value):
            raise TypeError(
                f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}."
            )
        return SparseTensor(
            indices=sparse_tensor_value.indices,
            values=sparse_tensor_value.values,
            dense_shape=sparse_tensor_value.dense_shape,
        )

    @property
    def indices(self) -> Tensor:
        """The places of the stored elements, int64 [n, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The stored elements, [n]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole tensor, int64 [rank]."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return constant_value.constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return self.shape

    @property
    def op(self) -> Operation:
        """The operation that makes `values`."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The dtype of `values`."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of the parts."""
        return self._indices.graph

    def consumers(self) -> list[Operation]:
        """The operations that read one of the parts."""
        found = {op: None for part in self.composite_parts() for op in part.consumers()}
        return list(found)

    def eval(
        self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None
    ) -> SparseTensorValue:
        """Evaluates the parts in `session`, or in the default session."""
        parts = default_stack.run_in_session(
            list(self.composite_parts()),
            feed_dict,
            self.graph,
            session,
            "evaluate tensor",
            "eval",
        )
        return SparseTensorValue(*parts)

    def composite_parts(self) -> tuple[Tensor, ...]:
        """(indices, values, dense_shape)."""
        return (self._indices, self._values, self._dense_shape)

    def with_composite_parts(self, parts: Sequence[Any]) -> SparseTensor:
        """A SparseTensor of other parts."""
        return SparseTensor(*parts)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, "
            f"dense_shape={self._dense_shape})"
        )

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        """Sets an operator such as `__truediv__`.

        Raises:
          ValueError: tensors do not overload it, or it is set already.
        """
        existing = getattr(SparseTensor, operator, None)
        if not (
            existing is None
            or isinstance(existing, _SLOT_WRAPPER)
            or late_operators.is_late(existing)
        ):
            raise ValueError(
                f"operator {operator} cannot be overwritten again on class "
                f"{SparseTensor}."
            )
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"Overriding {operator} is disallowed")
        setattr(SparseTensor, operator, func)


late_operators.install(SparseTensor, ["__div__", "__truediv__", "__mul__"])


def is_sparse(x: Any) -> bool:
    """True for a SparseTensor and a SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


@export(
    "convert_to_tensor_or_sparse_tensor",
    "contrib.framework.convert_to_tensor_or_sparse_tensor",
)
def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Tensor | SparseTensor:
    """A SparseTensor (also of a SparseTensorValue) as it is; anything else a Tensor.

    Raises:
      RuntimeError: a SparseTensor has another dtype than `dtype`.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise RuntimeError(
                f"Sparse dtype: requested = {wanted.name}, actual = {value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype=wanted, name=name)
