"""`tf.Variable`: what reference and resource variables have in common.

`tf.Variable(...)` asks the creators of the default graph (`variable_creator_scope`)
and ends in the default maker of `variable_makers`, which chooses the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.client.variables.variable_def import SaveSliceInfo
from tensorloom.client.variables.variable_makers import make_variable
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variable_updates import VariableUpdates
from tensorloom.framework.export import export
from tensorloom.framework.graph.classic_node_counts import is_classic
from tensorloom.framework.graph.graph import (
    Tensor,
    get_default_graph,
    get_default_session,
    init_scope,
)
from tensorloom.framework.runtime.reference import Reference
from tensorloom.framework.types.trackable import VARIABLE_VALUE_KEY, Trackable
from tensorloom.ops.indexing import tensor_index
from tensorloom.ops.state import reference_variable as state_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


def _bound(creator: Callable[..., Any], previous: Callable[..., Any]) -> Any:
    return lambda **kwargs: creator(previous, **kwargs)


class VariableMetaclass(type):
    """Makes `tf.Variable(...)` a call of the variable creators."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        return _create(*args, **kwargs)


def _create(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    def getter(**kwargs: Any) -> Any:
        return make_variable("default", **kwargs)

    for _, creator in get_default_graph()._variable_creator_stack:
        getter = _bound(creator, getter)
    return getter(
        initial_value=initial_value,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        expected_shape=expected_shape,
        import_scope=import_scope,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=VariableAggregation.NONE if aggregation is None else aggregation,
        shape=shape,
    )


@export("Variable")
class Variable(VariableUpdates, Trackable, metaclass=VariableMetaclass):
    """State that outlives a step: a tensor that ops assign to.

    Used like a tensor in expressions. It must be initialized in a session before it
    is read: run `initializer`, or `global_variables_initializer()`.

    Args:
      initial_value: what converts to a tensor, or a function that makes it. Its dtype
        and shape become the variable's.
      trainable: whether optimizers change it by default; it is then in the collection
        `GraphKeys.TRAINABLE_VARIABLES`.
      collections: keys to add it to; `[GraphKeys.GLOBAL_VARIABLES]` when None.
      validate_shape: False allows an initial value of unknown shape.
      caching_device: where reads are cached.
      name: "Variable" when None; made unique.
      variable_def: a `VariableDef` proto; the variable's nodes exist already.
      dtype: the initial value is converted to it.
      expected_shape: not used.
      import_scope: the scope that names in `variable_def` are under.
      constraint: applied by optimizers after an update: tensor -> tensor.
      use_resource: a resource variable if true; None leaves it to the scope.
      synchronization, aggregation: for distributed variables.
      shape: the static shape; that of the initial value when None.

    Raises:
      ValueError: there is no initial value, or its shape is not known.
    """

    SaveSliceInfo = SaveSliceInfo
    # NumPy must leave `array + variable` to the variable's reverse operator.
    __array_priority__ = 100
    _in_graph_mode = True
    # Whether it is read by a handle, as resource variables are.
    _is_resource = False
    # The strategy in whose scope it was made.
    _distribute_strategy: Any = None
    # Whether it stands for other variables, such as those of several replicas.
    _has_parts = False

    # Set by the subclasses.
    _constraint: Callable[[Any], Any] | None
    _save_slice_info: Any
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _trainable: bool
    _initial_value: Any
    _initializer_op: Any

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        raise AssertionError("tf.Variable makes an object of a subclass")

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.get_shape()} "
            f"dtype={self.dtype.name}>"
        )

    # --- facts -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """`op_name:0`."""
        raise AssertionError("abstract")

    @property
    def dtype(self) -> DType:
        """The dtype of the elements; a `_ref` dtype for a reference variable."""
        raise AssertionError("abstract")

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        raise AssertionError("abstract")

    @property
    def op(self) -> Operation:
        """The operation that makes the variable."""
        raise AssertionError("abstract")

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device asked for."""
        return self.op.device

    def get_shape(self) -> TensorShape:
        """Alias of `shape`."""
        return self.shape

    @property
    def initializer(self) -> Any:
        """The operation that assigns the initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Any:
        """The tensor that the initializer assigns."""
        return self._initial_value

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """What optimizers apply after an update."""
        return self._constraint

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it by default."""
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        """When copies are brought together."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How updates of several replicas become one."""
        return self._aggregation

    @property
    def _shared_name(self) -> str:
        return self.name[: self.name.index(":")]

    # --- values ------------------------------------------------------------------

    def value(self) -> Tensor:
        """The tensor that stands for the variable's value; the same on each call."""
        raise AssertionError("abstract")

    def read_value(self) -> Tensor:
        """A new tensor: the value at the point where control dependencies put it."""
        raise AssertionError("abstract")

    def initialized_value(self) -> Tensor:
        """The value if there is one when it runs, else the initial value."""
        from tensorloom.client.control_flow import cond

        with init_scope():
            result: Tensor = cond.cond(
                is_variable_initialized(self),
                self.read_value,
                lambda: self.initial_value,
            )
            chosen = result.op.inputs[0].op
            if is_classic(chosen):
                chosen.__dict__["_is_initialized_value"] = True
            return result

    def load(self, value: Any, session: Any = None) -> None:
        """Assigns a NumPy value in a session without adding to the graph.

        Raises:
          ValueError: there is no session.
        """
        session = session or get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should "
                "be established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable; resource variables have it."""
        raise AttributeError("sparse_read")

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Slices at index vectors; resource variables have it."""
        raise AttributeError("gather_nd")

    # --- protos ------------------------------------------------------------------

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The reference variable that a `VariableDef` describes."""
        variable: Variable = make_variable(
            "reference", variable_def=variable_def, import_scope=import_scope
        )
        return variable

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._save_slice_info = save_slice_info

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self}

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def experimental_ref(self) -> Reference:
        """A hashable reference, whose `deref()` is the variable."""
        return Reference(self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __getitem__(self, slice_spec: Any) -> Any:
        return tensor_index.getitem(self.value(), slice_spec, self)


def _tensor_operator(operator: str) -> Callable[..., Any]:
    def run(self: Variable, *args: Any) -> Any:
        return getattr(Tensor, operator)(self.value(), *args)

    run.__name__ = operator
    run.__doc__ = f"`Tensor.{operator}` of the variable's value."
    return run


for _operator in Tensor.OVERLOADABLE_OPERATORS:
    if _operator not in ("__eq__", "__ne__", "__getitem__"):
        setattr(Variable, _operator, _tensor_operator(_operator))


@export("is_variable_initialized")
def is_variable_initialized(variable: Any) -> Tensor:
    """A scalar bool tensor: whether the variable has a value."""
    result: Tensor = state_ops.is_variable_initialized(variable)
    return result


def no_in_place_operator(symbol: str, hint: str) -> Callable[..., NoReturn]:
    """A method for `variable += x` and its like, which resource variables refuse."""

    def refuse(self: Variable, unused_other: Any) -> NoReturn:
        raise RuntimeError(f"Variable {symbol} value not supported. {hint}")

    return refuse
