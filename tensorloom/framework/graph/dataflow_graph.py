"""`Graph`: the client's dataflow graph, built by adding operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph import operation_shapes
from tensorloom.framework.graph.construction import Construction
from tensorloom.framework.graph.graph_collections import GraphCollections
from tensorloom.framework.graph.graph_ir import (
    MIN_CONSUMER_VERSION,
    PRODUCER_VERSION,
    FunctionIR,
    GraphIR,
    Node,
)
from tensorloom.framework.graph.graph_private_names import GraphPrivateNames
from tensorloom.framework.graph.graph_scopes import VALID_OP_NAME, GraphScopes
from tensorloom.framework.graph.lifted_tensors import enclosing_graph, lift_tensors
from tensorloom.framework.graph.node_count import NodeCount
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime import concurrency, default_stack
from tensorloom.framework.types import attr_value

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.functions.function_shapes import Known
    from tensorloom.framework.graph.classic_node_counts import Frame
    from tensorloom.framework.graph.source import Stack
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.types.dtypes import DType


@export("Graph")
class Graph(GraphPrivateNames, GraphScopes, GraphCollections):
    """A dataflow graph: operations and the tensors that flow between them."""

    #: Of a branch or a loop whose operations count as those of the graph around it;
    #: see framework/graph/classic_node_counts.py. None: the graph counts its own.
    frame: Frame | None = None
    #: How many nodes it takes to bring a tensor from outside into the frame.
    entry_nodes = 1
    #: Whether TensorFlow makes classic nodes for control flow in this graph.
    builds_classic = True
    #: Whether the gradients of its operations are those of their types: neither
    #: overrides nor Python gradient functions count, as for `SymbolicGradient`.
    has_plain_gradients = False

    def __init__(self) -> None:
        GraphScopes.__init__(self)
        GraphCollections.__init__(self)
        self._lock = concurrency.RLock()
        self._construction = Construction()
        self._operations: list[Operation] = []  # in the order of their making
        self._by_name: dict[str, Operation] = {}
        self._functions: dict[str, FunctionIR] = {}
        self._call_shapes: dict[Any, Sequence[Known] | None] = {}
        self._call_depth = 0  # of the call whose body this graph is, for its shapes
        self._finalized = False
        self._seed: int | None = None
        self._producer = PRODUCER_VERSION
        # While a newer TensorFlow's nodes are added: see
        # framework/types/constant_value.py.
        self._sees_single_sizes = False
        self._min_consumer = MIN_CONSUMER_VERSION
        self._bad_consumers: tuple[int, ...] = ()
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._next_id_value = 0
        self._node_count = NodeCount()  # from which seeds are derived
        # What gradients find out from static shapes with nodes of their own, which
        # they make once: by two shapes the axes of their broadcast; by a shape and the
        # axes of a sum the shape that is left and the repeats.
        self._broadcast_axes: dict[Any, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._sum_repeats: dict[Any, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        # Operations that were changed after they were made: sessions that hold them
        # already must hear of it.
        self._mutations: list[Operation] = []
        self._sent_count = 0  # operations that some session has sent to its master
        # Whether there are any of `client.control_flow_context`.
        self._has_control_flow_contexts = False
        # Who makes the operation that is joining one of them at present.
        self._joining_stack: Stack | None = None

    # --- identity ----------------------------------------------------

    @property
    def version(self) -> int:
        """Grows with every operation that is added."""
        return self._next_id_value

    @property
    def graph_def_versions(self) -> Any:
        """The `VersionDef` of the graph."""
        from tensorloom.framework.graph import graph_def

        return graph_def.to_proto(
            GraphIR({}, {}, self._producer, self._min_consumer, self._bad_consumers)
        ).versions

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def building_function(self) -> bool:
        """True in the graph of a function body."""
        return False

    @property
    def finalized(self) -> bool:
        """True once `finalize` was called."""
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def _last_id(self) -> int:
        return self._node_count.value

    def as_default(self) -> AbstractContextManager[Graph]:
        """Makes this graph the default graph of the thread, in a `with` block."""
        return default_stack.graph_as_default(self)

    # --- adding operations -------------------------------------------

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Sequence[DType] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an operation; the low-level entry that op builders end in.

        Args:
          op_type: a registered op, or a function of the graph.
          inputs: the flattened data inputs.
          dtypes, input_types, op_def, compute_shapes, compute_device: not used; the
            op's registration says what they would.
          name: a new name is made unique under the current scope; one that ends in
            `/` is taken as it is.
          attrs: by name, decoded values or AttrValue protos.

        Raises:
          TypeError: an input is not a Tensor.
          ValueError: the shapes do not fit, an attr is missing, or the inputs are not
            those that the attrs say.
          RuntimeError: the graph is finalized.
        """
        del dtypes, input_types, op_def, compute_shapes, compute_device
        for index, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{index} is not a tensor: {tensor}")
        definition = self._get_op_def(op_type)
        decoded = {k: _decoded(v) for k, v in (attrs or {}).items()}
        given = [t._dtype for t in inputs]
        complete = definition.complete_attrs(decoded, given)
        _check_input_types(definition, definition.input_types(complete), given)
        return self.add_operation(
            definition, inputs, complete, op_type if name is None else name
        )

    def add_operation(
        self,
        op_def: OpDef,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        name: str,
        output_types: Sequence[DType] | None = None,
        stack: Stack | None = None,
        any_name: bool = False,
    ) -> Operation:
        """Adds an operation whose attrs are decoded and complete.

        Args:
          stack: who makes it, for callers that make many; else it is found out.
          any_name: the caller sees to it that a bad name is found out later.

        Raises:
          TypeError: the name is not a string.
          ValueError: a bad name, an input of another graph, or shapes that do not fit.
          RuntimeError: the graph is finalized.
        """
        if self._finalized:
            self._check_not_finalized()
        if any(tensor._op._graph is not self for tensor in inputs):
            inputs = self._own_inputs(inputs, name)
        name = _name_of(name)
        with self._lock:
            if name.endswith("/"):
                full_name = name[:-1]
                if full_name in self._by_name:
                    raise ValueError(f"Duplicate node name in graph: '{full_name}'")
            else:
                full_name = self.unique_name(name)
            if not any_name and not self._takes_name(full_name):
                raise ValueError(f"'{full_name}' is not a valid node name")
            control = (
                self._control_inputs_for(inputs) if self._scopes.controllers else []
            )
            if output_types is None:
                output_types = op_def.output_types(attrs)
            op = Operation(
                self,
                op_def,
                full_name,
                inputs,
                control,
                attrs,
                output_types,
                self._joining_stack if stack is None else stack,
            )
            self._apply_scopes(op)
            try:
                operation_shapes.infer(op)
            except ValueError:
                detach(op)
                raise
            self._next_id_value += 1
            op._id_value = self._next_id_value
            self._node_count.value += 1
            self._operations.append(op)
            self._by_name[full_name] = op
            if self._has_control_flow_contexts:
                self._join(op)
        return op

    def _takes_name(self, name: str) -> bool:
        """Whether an operation of a graph that is run may have this name."""
        if VALID_OP_NAME.match(name):
            return True
        outside = self.outer_scope
        return bool(outside and VALID_OP_NAME.match(outside + name))

    def _join(self, op: Operation) -> None:
        """Makes a new operation part of the branch or loop that it is made in.

        What leads its inputs in is named after it, and made where it is made. Constants
        have no scope of their own in TensorFlow.
        """
        state = self._scopes
        saved = state.name_stack, self._joining_stack
        scope = op._name.rpartition("/")[0] if op._type == "Const" else op._name
        state.name_stack, self._joining_stack = scope, op._stack
        try:
            join_context(op)
        finally:
            state.name_stack, self._joining_stack = saved

    def _own_inputs(self, tensors: Sequence[Tensor], name: str) -> list[Tensor]:
        """Inputs of an operation, those of finished branches brought into this graph.

        Raises:
          ValueError: one is of another graph.
        """
        found = lift_tensors(tensors, [self])
        for tensor in found:
            if tensor._op._graph is not self:
                raise ValueError(self._why_not_an_input(tensor, name.rstrip("/")))
        return found

    def _why_not_an_input(self, tensor: Tensor, name: str) -> str:
        graph: Any = tensor._op._graph
        if enclosing_graph(graph) is not self:
            return f"{tensor!r} is not from the same graph as '{name}'."
        inside = graph.outer_scope + tensor._op._name
        return (
            f"Cannot use '{inside}' as input to '{name}' because '{inside}' is in a "
            "while loop. Return it from the body, and use what the loop returns."
        )

    @property
    def enclosing(self) -> Graph | None:
        """Where tensors of this graph can be used, too: of a finished branch alone."""
        return None

    def lifted(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """What stands for tensors of a finished branch in the graph around it."""
        raise NotImplementedError

    def operation_outside(self, op: Operation) -> Operation:
        """What runs around a finished branch after one of its operations."""
        raise NotImplementedError

    def _get_op_def(self, op_type: str) -> OpDef:
        """The definition of a registered op or of a function of this graph.

        Raises:
          errors.NotFoundError: there is none.
        """
        op_def = op_registry.find(op_type)
        if op_def is None:
            op_def = self._function_op_def(op_type)
        return op_def

    def _function_op_def(self, name: str) -> OpDef:
        from tensorloom.framework import errors
        from tensorloom.framework.functions import function_op_def, function_problem

        function = self._functions.get(name)
        if function is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Op type not registered '{name}' in binary running on this machine.",
            )
        signature = function_op_def.signature_of(function)
        if isinstance(signature, function_problem.FunctionProblem):
            raise signature.error()
        return signature

    def _changed(self, op: Operation) -> None:
        """Notes that a finished operation is changed in place."""
        self._check_not_finalized()
        if op._id_value:
            self._mutations.append(op)

    # --- functions ---------------------------------------------------

    @property
    def functions(self) -> dict[str, FunctionIR]:
        """The function library by name."""
        return self._functions

    def add_function(self, function: FunctionIR) -> None:
        """Adds a function to the library; the same name twice keeps the first."""
        self._check_not_finalized()
        self._functions.setdefault(function.name, function)

    def _new_body(self) -> Graph:
        """An empty graph for the body of a function of the library, for its shapes."""
        body = Graph()
        body._functions = self._functions
        body._call_depth = self._call_depth + 1
        body._sees_single_sizes = self._sees_single_sizes
        return body

    def _is_function(self, name: str) -> bool:
        return name in self._functions

    def _get_function(self, name: str) -> FunctionIR | None:
        return self._functions.get(name)

    # --- looking up --------------------------------------------------

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that `obj` is, names, or stands for.

        Raises:
          TypeError: `obj` cannot stand for one of the allowed kinds.
          ValueError: it is of another graph, or its name is malformed.
          KeyError: there is no such name.
        """
        from tensorloom.framework.graph import graph_element

        return graph_element.find(self, obj, allow_tensor, allow_operation)

    def get_operations(self) -> list[Operation]:
        """All operations in the order of their making (a copy)."""
        return list(self._operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name.

        Raises:
          TypeError: `name` is not a string.
          KeyError: there is none.
        """
        if not isinstance(name, str):
            raise TypeError(
                f"Operation names are strings (or similar), not {type(name).__name__}."
            )
        op: Operation = self.as_graph_element(name, allow_tensor=False)
        return op

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor `op_name:index`.

        Raises:
          TypeError: `name` is not a string.
          ValueError: it is an operation's name.
          KeyError: there is none.
        """
        if not isinstance(name, str):
            raise TypeError(
                f"Tensor names are strings (or similar), not {type(name).__name__}."
            )
        tensor: Tensor = self.as_graph_element(name, allow_operation=False)
        return tensor

    # --- feeding and fetching ----------------------------------------

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Makes feeding `tensor` an error."""
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """False when `prevent_feeding` was called on it."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Makes fetching `op` an error."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """False when `prevent_fetching` was called on it or its operation."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable

    # --- out of the client -------------------------------------------

    def to_node(self, op: Operation) -> Node:
        """The light node that master and worker see of an operation."""
        outputs = op._outputs
        return Node(
            op._name,
            op._type,
            tuple((t._op._name, t._value_index) for t in op._inputs),
            tuple([c._name for c in op._control_inputs]),
            op._device,
            op._attrs,
            tuple([t._dtype for t in outputs]),
            tuple([t._shape for t in outputs]),
            op,
        )

    def nodes_since(self, count: int) -> list[Node]:
        """Nodes of the operations made after the first `count`."""
        with self._lock:
            return [self.to_node(op) for op in self._operations[count:]]

    def to_ir(self) -> GraphIR:
        """The whole graph as the light graph of master and worker."""
        with self._construction.taking():
            nodes = self.nodes_since(0)
        return GraphIR(
            {n.name: n for n in nodes},
            dict(self._functions),
            self._producer,
            self._min_consumer,
            self._bad_consumers,
        )

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False
    ) -> Any:
        """The graph as a `GraphDef` proto.

        Args:
          from_version: accepted and not looked at, as by TensorFlow 1.15.
          add_shapes: puts static shapes into the `_output_shapes` attr.

        Raises:
          ValueError: it is too large for a protobuf message (2 GB).
        """
        from tensorloom.framework.graph import graph_def

        graph = self.to_ir()
        if add_shapes:
            graph = graph.with_nodes(_with_shapes(n) for n in graph.nodes.values())
        return graph_def.to_proto(graph)

    # --- variables ---------------------------------------------------

    @property
    def _variable_creators(self) -> list[Any]:
        return self._scopes.variable_creators

    @_variable_creators.setter
    def _variable_creators(self, creators: list[Any]) -> None:
        self._scopes.variable_creators = creators

    @property
    def _variable_creator_stack(self) -> list[Any]:
        return self._scopes.variable_creators


def join_context(op: Operation) -> None:
    """Makes a new operation part of the branch or loop that it is made in.

    Raises:
      ValueError: an input is inside a loop that the operation is not in.
    """
    for tensor in op._inputs:
        context = tensor._op._control_flow_context
        if context is not None:
            context.check_use(op, tensor._op)
    if op._control_flow_context is not None:
        op._control_flow_context.AddOp(op)


def _check_input_types(
    op_def: OpDef, wanted: Sequence[DType], given: Sequence[DType]
) -> None:
    if len(wanted) != len(given):
        raise ValueError(
            f"Op {op_def.name} takes {len(wanted)} inputs with these attrs, and got "
            f"{len(given)}"
        )
    for index, (want, have) in enumerate(zip(wanted, given, strict=True)):
        if not want.is_compatible_with(have):
            raise ValueError(
                f"Input {index} of op {op_def.name} is {have.name}, and its attrs ask "
                f"for {want.name}"
            )


def _with_shapes(node: Node) -> Node:
    if not node.output_types:
        return node
    attrs = {**node.attrs, "_output_shapes": list(node.output_shapes or ())}
    return node.replace(attrs=attrs)


def detach(op: Operation) -> None:
    """Takes back what the making of an operation left in those that it reads."""
    for tensor in op._inputs:
        tensor._consumers.remove(op)
    for control in op._control_inputs:
        control._control_outputs.remove(op)


def _decoded(value: Any) -> Any:
    value = attr_value.decoded(value)
    return value.encode() if isinstance(value, str) else value


def _name_of(name: Any) -> str:
    """The name of an operation as text; programs give bytes, too."""
    if isinstance(name, str):
        return name
    if isinstance(name, bytes):
        return name.decode()
    raise TypeError(f"Expected string for op name, got {name!r}")
