"""`Tensor`: one output of an operation, as the user holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tensorloom.framework.errors import OperatorNotAllowedInGraphError
from tensorloom.framework.export import export
from tensorloom.framework.graph import late_operators
from tensorloom.framework.graph.tensor_private_names import TensorPrivateNames
from tensorloom.framework.runtime import default_stack
from tensorloom.framework.runtime.conversion_status import Status, control_status_ctx
from tensorloom.framework.runtime.reference import Reference
from tensorloom.framework.types import array_conversion
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.registry.shape_inference import HandleData
    from tensorloom.framework.types.dtypes import DType


# What was said of AutoGraph -> where a Python operator is not allowed, and what to do.
_DECORATE = "Try decorating it directly with @tf.function"
_WHY_NOT_ALLOWED = {
    Status.UNSPECIFIED: (
        " in Graph execution",
        "Decorate this function with @tf.function",
    ),
    Status.ENABLED: ("", f"AutoGraph did not convert this function. {_DECORATE}"),
    Status.DISABLED: ("", f"AutoGraph is disabled in this function. {_DECORATE}"),
}


@export("Tensor")
class Tensor(TensorPrivateNames):
    """A symbolic handle of one output of an `Operation`."""

    # Operators are installed by ops/math/operators.py and ops/indexing/tensor_index.py.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = {
        *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"),
        *("__div__", "__rdiv__", "__truediv__", "__rtruediv__"),
        *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__"),
        *("__lt__", "__le__", "__gt__", "__ge__", "__ne__", "__eq__"),
        *("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__"),
        *("__getitem__", "__pow__", "__rpow__", "__invert__", "__neg__"),
        *("__abs__", "__matmul__", "__rmatmul__"),
    }

    # NumPy must leave `array + tensor` to the tensor's reverse operator.
    __array_priority__ = 100

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_constant_value",
        "_consumers",
        "_dtype",
        "_handle_data",
        "_op",
        "_shape",
        "_value_index",
    )

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape: TensorShape = UNKNOWN
        self._consumers: list[Operation] = []
        self._handle_data: HandleData | None = None
        # The result of constant_value.py, unset until it is asked for.
        self._constant_value: Any = UNSET

    @property
    def op(self) -> Operation:
        """The operation that produces this tensor."""
        return self._op

    @property
    def dtype(self) -> DType:
        """The dtype of the elements (a `_ref` dtype for a reference edge)."""
        return self._dtype

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        return self._op._graph

    @property
    def name(self) -> str:
        """`op_name:index`."""
        return f"{self._op._name}:{self._value_index}"

    @property
    def device(self) -> str:
        """The device that its operation was assigned to, or an empty string."""
        return self._op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return self._shape

    @property
    def value_index(self) -> int:
        """Index among the outputs of its operation."""
        return self._value_index

    @property
    def ndim(self) -> NoReturn:
        """Not defined for a symbolic tensor; use `shape.ndims`."""
        raise AttributeError("'Tensor' object has no attribute 'ndim'")

    def get_shape(self) -> TensorShape:
        """Alias of `shape`."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Refines the static shape with what the caller knows.

        Raises:
          ValueError: it contradicts what is known already.
        """
        if not isinstance(shape, TensorShape):
            shape = TensorShape(shape)
        self._shape = self._shape.merge_with(shape)

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, each once."""
        return list(dict.fromkeys(self._consumers))

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Evaluates the tensor in `session`, or in the default session.

        Raises:
          ValueError: there is no session, or it has another graph.
        """
        return default_stack.run_in_session(
            self, feed_dict, self.graph, session, "evaluate tensor", "eval"
        )

    def experimental_ref(self) -> Reference:
        """A hashable reference, whose `deref()` is the tensor."""
        return Reference(self)

    def __str__(self) -> str:
        shape = f", shape={self._shape}" if self._shape.rank is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self._dtype.name}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Tensor:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __bool__(self) -> bool:
        self._disallow_in_graph_mode("using a `tf.Tensor` as a Python `bool`")

    def _as_tf_output(self) -> Tensor:
        return self  # of no C library: see `Graph._c_graph`

    __nonzero__ = __bool__  # Python 2's; classes that act as tensors copy both

    def __iter__(self) -> Iterator[Tensor]:
        self._disallow_in_graph_mode("iterating over `tf.Tensor`")

    def _disallow_in_graph_mode(self, task: str) -> NoReturn:
        status = control_status_ctx().status
        where, reason = _WHY_NOT_ALLOWED[status]
        raise OperatorNotAllowedInGraphError(
            f"{task} is not allowed{where}: the value of '{self.name}' is known only "
            f"when a session runs it. {reason}, or use tf.cond, tf.while_loop or "
            "tf.map_fn on the tensor."
        )

    @staticmethod
    def _override_operator(operator: str, function: Callable[..., Any]) -> None:
        """Installs the meaning of a Python operator on tensors."""
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"Overriding {operator} is disallowed")
        setattr(Tensor, operator, function)

    if TYPE_CHECKING:
        # Installed by _override_operator; declared here for type checkers only.
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...


late_operators.install(
    Tensor, sorted(Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"})
)


class _Unset:
    """The mark of a constant value that nobody has asked for."""


UNSET = _Unset()

array_conversion.register_tensor_class(Tensor)

# Types that convert to tensors in graph construction beside Tensor (variables).
_dense_tensor_like: tuple[type, ...] = (Tensor,)


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Declares a type whose objects stand for a dense tensor, such as variables.

    Raises:
      TypeError: it lacks the properties `name` and `dtype`.
    """
    global _dense_tensor_like
    for attribute in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, attribute, None), property):
            raise TypeError(
                f"Type {tensor_type.__name__} does not define a `{attribute}` property"
            )
    _dense_tensor_like = (*_dense_tensor_like, tensor_type)


def is_dense_tensor_like(value: Any) -> bool:
    """True for tensors and what is registered to stand for one."""
    return isinstance(value, _dense_tensor_like)


@export("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x: Any) -> bool:
    """True for tensors, sparse tensors, indexed slices and variables."""
    return (
        isinstance(x, _dense_tensor_like)
        or getattr(x, "_is_composite", False)
        or bool(getattr(x, "is_tensor_like", False))
    )
