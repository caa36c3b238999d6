"""`Operation`: a node of a client's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph import source
from tensorloom.framework.graph.operation_private_names import OperationPrivateNames
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime import default_stack
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.types.dtypes import DType


class InputList(tuple[Tensor, ...]):
    """The inputs of an operation."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:  # `op.inputs + [x]` works on lists
        return list(self) + list(other)

    def __radd__(self, other: Any) -> Any:
        return list(other) + list(self)


@export("Operation")
class Operation(OperationPrivateNames):
    """A node: an op type with attrs, inputs, control inputs and outputs.

    Made by `Graph.create_op` and the op builders, never directly by users.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_attrs",
        "_control_flow_context",
        "_control_inputs",
        "_control_outputs",
        "_device",
        "_graph",
        "_id_value",
        "_inputs",
        "_name",
        "_op_def",
        "_original_op",
        "_outputs",
        "_stack",
        "_type",
    )

    # The gradient of this call of a function, where it is written in Python.
    _python_gradient: Callable[..., Any] | None = None

    def __init__(
        self,
        graph: Graph,
        op_def: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: list[Operation],
        attrs: dict[str, Any],
        output_types: Sequence[DType],
        stack: source.Stack | None = None,
    ) -> None:
        self._graph = graph
        self._op_def = op_def
        self._type = op_def.name
        self._name = name
        self._inputs = InputList(inputs)
        self._control_inputs = control_inputs
        self._control_outputs: list[Operation] = []
        self._attrs = attrs
        self._device = ""
        self._id_value = 0
        self._original_op: Operation | None = graph._default_original_op
        self._control_flow_context: Any = None
        self._stack = source.capture(2) if stack is None else stack
        self._outputs = [Tensor(self, i, t) for i, t in enumerate(output_types)]
        for tensor in inputs:
            tensor._consumers.append(self)
        for op in control_inputs:
            op._control_outputs.append(self)

    @property
    def name(self) -> str:
        """The full name, unique in the graph."""
        return self._name

    @property
    def type(self) -> str:
        """The op type, e.g. `MatMul`."""
        return self._type

    @property
    def graph(self) -> Graph:
        """The graph that holds it."""
        return self._graph

    @property
    def device(self) -> str:
        """The device requested for it, or an empty string."""
        return self._device

    @property
    def inputs(self) -> InputList:
        """The data inputs, flattened."""
        return self._inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs, flattened."""
        return self._outputs

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must run before it."""
        return list(self._control_inputs)

    @property
    def attrs(self) -> dict[str, Any]:
        """The decoded attrs, defaults filled in; not to be changed."""
        return self._attrs

    @property
    def op_def(self) -> Any:
        """The op's definition as an `OpDef` proto."""
        from tensorloom.framework.registry import op_def_proto

        return op_def_proto.to_proto(self._op_def)

    @property
    def node_def(self) -> Any:
        """The node as a `NodeDef` proto."""
        from tensorloom.framework.graph import graph_def

        return graph_def.node_to_proto(self._graph.to_node(self))

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """(file, line, function, text) of the stack that made it, outermost first."""
        return source.summary(self._stack)

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str | None, int]]:
        """`traceback` with the first line of each function added."""
        starts = [code.co_firstlineno for code, _ in reversed(self._stack)]
        return [
            (*frame, start) for frame, start in zip(self.traceback, starts, strict=True)
        ]

    @property
    def _id(self) -> int:
        return self._id_value

    @property
    def _is_stateful(self) -> bool:
        return self._op_def.is_stateful

    @property
    def _output_types(self) -> list[int]:
        return [t.dtype.as_datatype_enum for t in self._outputs]

    def source_line(self) -> str | None:
        """`file.py:12` of the user's line that made it."""
        return source.describe(self._stack)

    def values(self) -> tuple[Tensor, ...]:
        """The outputs as a tuple."""
        return tuple(self._outputs)

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@NAME` groups that it belongs to; its own when it names none."""
        groups = [g for g in self._attrs.get("_class", ()) if g.startswith(b"loc:@")]
        return groups or [b"loc:@" + self._name.encode()]

    def get_attr(self, name: str) -> Any:
        """The decoded value of an attr.

        Strings are bytes, dtypes DTypes; shapes are TensorShapeProtos, tensors
        TensorProtos and functions NameAttrList protos, as TensorFlow returns them.

        Raises:
          ValueError: there is no attr of that name.
        """
        if name not in self._attrs:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        return _public_attr(self._attrs[name])

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Runs the operation in `session`, or in the default session.

        Raises:
          ValueError: there is no session, or it has another graph.
        """
        default_stack.run_in_session(
            self, feed_dict, self._graph, session, "execute operation", "run"
        )

    def __str__(self) -> str:
        from google.protobuf import text_format

        # Sorts the attrs, which `str` leaves in the order of a hash table.
        return text_format.MessageToString(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self._type}>"

    # --- changes to a finished node ------------------------------------------

    def _set_device(self, device: Any) -> None:
        text = device if isinstance(device, str) else device.to_string()
        with self._graph._lock:
            self._graph._changed(self)
            self._device = text

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attr, given as a decoded value or as an AttrValue proto."""
        with self._graph._lock:
            self._graph._changed(self)
            self._attrs[name] = attr_value.decoded(value)

    def _clear_attr(self, name: str) -> None:
        with self._graph._lock:
            self._graph._changed(self)
            self._attrs.pop(name, None)

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replaces a data input.

        Raises:
          TypeError: `tensor` is not a Tensor.
          ValueError: it is of another graph.
          OutOfRangeError: there is no such input.
          InvalidArgumentError: its shape does not fit the one that was there.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor} must be from the same graph as {self!r}.")
        inputs = list(self._inputs)
        self._check_update(inputs, index, tensor)
        with self._graph._lock:
            self._graph._changed(self)
            inputs[index]._consumers.remove(self)
            inputs[index] = tensor
            tensor._consumers.append(self)
            self._inputs = InputList(inputs)

    def _check_update(self, inputs: list[Tensor], index: int, tensor: Tensor) -> None:
        if not 0 <= index < len(inputs):
            raise errors.OutOfRangeError(
                None,
                None,
                f"Cannot update edge. Input index [{index}] is greater than the "
                f"number of total inputs [{len(inputs)}].",
            )
        # The back edge of a loop is checked against the loop's shape invariants.
        if self.type != "Merge" and not tensor._shape.is_compatible_with(
            inputs[index]._shape
        ):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot update edge, incompatible shapes: {tensor._shape} and "
                f"{inputs[index]._shape}.",
            )

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        """Adds control inputs.

        Raises:
          TypeError: one is not an Operation.
        """
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op not in self._control_inputs:
                with self._graph._lock:
                    self._graph._changed(self)
                    self._control_inputs.append(op)
                    op._control_outputs.append(self)

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        with self._graph._lock:
            self._graph._changed(self)
            for op in self._control_inputs:
                op._control_outputs.remove(self)
            self._control_inputs = []

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context


def _public_attr(value: Any) -> Any:
    """A decoded attr as `Operation.get_attr` shows it."""
    if isinstance(value, list):
        return [_public_attr(v) for v in value]
    if isinstance(value, TensorShape):
        return value.as_proto()
    if isinstance(value, NameAttrList):
        return attr_value.to_proto(value).func
    if hasattr(value, "ndim"):
        from tensorloom.framework.types import tensor_proto

        return tensor_proto.make_tensor_proto(value)
    return value
