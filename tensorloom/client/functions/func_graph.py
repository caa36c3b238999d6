"""`FuncGraph`: the graph of a function body, which captures tensors from outside.

Branches of `tf.cond`, bodies of `tf.while_loop`, their gradients and functions are
built in one. A tensor of a graph around it that the body uses becomes an argument
(a capture); what runs is the `FunctionIR` that `to_function` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.branch_output_makers import branch_output_makers
from tensorloom.framework.graph.classic_node_counts import count_entry
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_ir import FunctionIR, sort_topologically
from tensorloom.framework.graph.lifted_tensors import is_within, lift_operation
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime.scopes import uid

if TYPE_CHECKING:
    from tensorloom.framework.graph.classic_node_counts import Frame
    from tensorloom.framework.graph.source import Stack
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.registry.shape_inference import HandleData
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

_NOT_IN_ARG_NAMES = re.compile(r"[^a-z0-9_]")


class FuncGraph(Graph):
    """The body of a function, under construction or finished.

    `inputs` are placeholders: first the function's own arguments, then one for each
    capture. `outputs` are tensors of this graph.
    """

    def __init__(
        self,
        name: str,
        outer_graph: Graph | None = None,
        frame: Frame | None = None,
        scope: str = "",
    ) -> None:
        super().__init__()
        outer = get_default_graph() if outer_graph is None else outer_graph
        self.name = name
        self.outer_graph = outer
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.structured_outputs: Any = None
        # Why no SavedModel can have the function; empty where one can.
        self.saving_errors: set[str] = set()
        # Operations that a call runs, whether or not a result needs them.
        self.control_outputs: list[Operation] = []
        # Operations outside that must run before the call does.
        self.control_captures: dict[Operation, None] = {}
        self._captures: dict[Tensor, Tensor] = {}  # outside -> inside
        self._originals: dict[Tensor, Tensor] = {}  # inside -> outside
        # True when a finished operation has changed since the last `to_function`.
        self.is_changed = False
        # True while each operation was made after its inputs.
        self._is_sorted = True
        self._seed = outer._seed
        self.frame = frame
        self.is_branch = False  # of a `cond` of classic nodes
        self.is_control_flow = False  # a branch, a loop's test or a loop's body
        # The node that a finished one of these is a branch of.
        self.branching_op: Operation | None = None
        self.builds_classic = frame is not None
        # The scope that TensorFlow builds the body in: what a program says of its own
        # operations by their names (tags of summaries) begins with it.
        self.outer_scope = ""
        if frame is not None:
            enclosing = outer.outer_scope if isinstance(outer, FuncGraph) else ""
            self.outer_scope = enclosing + scope
            # TensorFlow builds the body into the graph around it.
            self._node_count = outer._node_count
            self._broadcast_axes = outer._broadcast_axes
            self._sum_repeats = outer._sum_repeats
        # One library and one set of collections for a graph and all its bodies: a
        # variable made in a branch is a variable of the program.
        self._functions = outer._functions
        self._construction = outer._construction
        self._collections = outer._collections
        self.has_plain_gradients = outer.has_plain_gradients
        self._add_control_dependencies = outer._add_control_dependencies
        self._inherit_scopes(outer)

    def _inherit_scopes(self, outer: Graph) -> None:
        """What the open scopes outside say holds inside, but for names and control."""
        mine, theirs = self._scopes, outer._scopes
        mine.devices, mine.static_device = theirs.devices, theirs.static_device
        mine.attrs = theirs.attrs
        if self.frame is not None:  # TensorFlow builds it into the graph around it
            mine.gradient_overrides = theirs.gradient_overrides
        mine.kernel_labels = theirs.kernel_labels
        mine.container = theirs.container
        mine.variable_creators = theirs.variable_creators
        mine.strategies = theirs.strategies

    @property
    def building_function(self) -> bool:
        """True: this is the graph of a function body."""
        return True

    def name_around(self, name: str) -> str:
        """The name that TensorFlow gives what asks for `name` in this body.

        It builds the bodies of branches and loops into the graph around them.
        """
        graph: Graph = self
        while isinstance(graph, FuncGraph) and graph.frame is not None:
            graph = graph.outer_graph
        with graph.name_scope(None):
            return graph.unique_name(self.outer_scope + name)

    def mark_as_unsaveable(self, error_message: str | Iterable[str]) -> None:
        """Makes SavedModels refuse the function, and functions that call it."""
        messages = [error_message] if isinstance(error_message, str) else error_message
        self.saving_errors.update(messages)

    @property
    def saveable(self) -> bool:
        """Whether SavedModels may have the function."""
        return not self.saving_errors

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    # --- arguments and captures -----------------------------------------------------

    def add_argument(
        self,
        dtype: DType,
        shape: TensorShape,
        name: str = "arg",
        handle_data: HandleData | None = None,
    ) -> Tensor:
        """Adds an argument; returns its placeholder."""
        op_def = op_registry.find("Placeholder")
        assert op_def is not None
        attrs = {"dtype": dtype.base_dtype, "shape": shape}
        scopes = self._scopes
        saved = scopes.name_stack, scopes.controllers, scopes.colocation
        scopes.name_stack, scopes.controllers, scopes.colocation = "", [], []
        try:
            op = self._add_uncounted(op_def, attrs, _argument_name(name))
        finally:
            scopes.name_stack, scopes.controllers, scopes.colocation = saved
        tensor = op._outputs[0]
        tensor._shape = shape
        tensor._handle_data = handle_data
        self.inputs.append(tensor)
        return tensor

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph that stands for a tensor of a graph around it.

        Raises:
          ValueError: the tensor is of no graph around this one.
        """
        if tensor._op._graph is self:
            return tensor
        inside = self._captures.get(tensor)
        if inside is not None:
            return inside
        if tensor._op._graph.enclosing is not None:
            brought = self._brought_in(tensor)
            if brought is not tensor:
                self._captures[tensor] = brought
                return brought
        self._check_is_outside(tensor)
        if self.frame is not None:
            count_entry(self, tensor)
        if tensor._dtype._is_ref_dtype:
            # Known for the next look-up, but no argument.
            inside = self._captures[tensor] = self._same_reference(tensor)
            return inside
        inside = self.add_argument(
            tensor._dtype, tensor._shape, name or tensor._op._name, tensor._handle_data
        )
        self._captures[tensor] = inside
        self._originals[inside] = tensor
        return inside

    def _brought_in(self, tensor: Tensor) -> Tensor:
        """The tensor; for one of a finished branch around what stands for it here."""
        enclosing: list[Graph] = [self]
        while isinstance(enclosing[-1], FuncGraph):
            enclosing.append(enclosing[-1].outer_graph)
        if not is_within(tensor._op._graph, enclosing):
            return tensor
        while tensor._op._graph.enclosing not in enclosing:
            (tensor,) = tensor._op._graph.lifted([tensor])
        result: Tensor = branch_output_makers().inside(tensor._op._graph, tensor, self)
        return result

    @property
    def enclosing(self) -> Graph | None:
        """Where tensors of this graph can be used, too: of a finished branch alone."""
        return None if self.branching_op is None else self.outer_graph

    def lifted(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """What stands for tensors of a finished branch in the graph around it."""
        made: Sequence[Tensor] = branch_output_makers().outside(self, tensors)
        return made

    def operation_outside(self, op: Operation) -> Operation:
        """What runs around a finished branch after one of its operations."""
        made: Operation = branch_output_makers().operation_outside(self, op)
        return made

    def _check_is_outside(self, tensor: Tensor) -> None:
        graph: Any = self.outer_graph
        while graph is not tensor._op._graph:
            if not isinstance(graph, FuncGraph):
                raise ValueError(
                    f"{tensor!r} is not accessible from the body of '{self.name}': it "
                    "belongs to another function body or to another graph."
                )
            graph = graph.outer_graph

    def _same_reference(self, tensor: Tensor) -> Tensor:
        """The variable; of an op that has written to one, the value that it left."""
        if names_variable(tensor._op):
            return self._same_variable(tensor._op)
        from tensorloom.ops.array import identity as identity_ops

        outer = tensor._op._graph
        with outer.as_default(), outer._node_count.made_as(0):
            return self.capture(identity_ops.identity(tensor))

    def _written_through(self, tensor: Tensor) -> Tensor:
        """The variable behind a reference, for an op of the body that writes to it."""
        if not tensor._dtype._is_ref_dtype:
            return self.capture(tensor)
        while tensor._op._graph is not self and not names_variable(tensor._op):
            # It has been written to before.
            self.control_captures[tensor._op] = None
            tensor = tensor._op._inputs[0]
        return self.capture(tensor)

    def _same_variable(self, op: Operation) -> Tensor:
        """A node for the same reference variable.

        References cannot be arguments. Two variable ops of one shared name and
        container are the same variable, so that assignments in the body are seen
        outside and the other way round.
        """
        attrs = {
            key: value for key, value in op._attrs.items() if not key.startswith("_")
        }
        attrs["shared_name"] = attrs["shared_name"] or op._name.encode()
        # A device function may count the variables that it places.
        with (
            self.control_dependencies(None),
            self.name_scope(None),
            self.device(None),
        ):
            copy = self._add_uncounted(op._op_def, attrs, op._name)
        copy._device = op._device
        copy._outputs[0]._shape = op._outputs[0]._shape
        return copy._outputs[0]

    def _add_uncounted(
        self, op_def: OpDef, attrs: dict[str, Any], name: str
    ) -> Operation:
        """Adds what stands in a frame for something outside: not counted as a node."""
        op = super().add_operation(op_def, (), attrs, name)
        if self.frame is not None:
            self._node_count.value -= 1
        return op

    def captured(self, tensor: Tensor) -> Tensor | None:
        """The placeholder of a captured tensor, if it is captured."""
        return self._captures.get(tensor)

    def original_of(self, tensor: Tensor) -> Tensor | None:
        """The tensor outside that a placeholder stands for, if it is a capture."""
        return self._originals.get(tensor)

    @property
    def external_captures(self) -> list[Tensor]:
        """The captured tensors, in the order of their placeholders."""
        return list(self._originals.values())

    @property
    def internal_captures(self) -> list[Tensor]:
        """The placeholders of the captured tensors."""
        return list(self._originals)

    def reset_captures(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Replaces the captures by (tensor outside, placeholder inside) pairs."""
        references = {k: v for k, v in self._captures.items() if k._dtype._is_ref_dtype}
        self._originals = {inside: outside for outside, inside in pairs}
        self._captures = references
        for inside, outside in self._originals.items():
            self._captures.setdefault(outside, inside)

    # --- what building in a body changes --------------------------------------------

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
        """`Graph.add_operation`, with inputs from outside captured."""
        if any(t._op._graph is not self for t in inputs):
            writes = [arg.is_ref for arg in op_def.inputs]
            inputs = [
                self._written_through(t)
                if i < len(writes) and writes[i]
                else self.capture(t)
                for i, t in enumerate(inputs)
            ]
        return super().add_operation(
            op_def, inputs, attrs, name, output_types, stack, any_name
        )

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Dependencies on operations outside become those of the whole call."""
        if control_inputs is None:
            return super().control_dependencies(None)
        inside = []
        for value in control_inputs:
            element = _operation_of(value)
            if element is not None:
                element = lift_operation(element, self)
            if element is not None and element._graph is not self:
                self.control_captures[element] = None
            else:
                inside.append(value)
        return super().control_dependencies(inside)

    def _changed(self, op: Operation) -> None:
        self.is_changed = True
        self._is_sorted = False

    # --- the function ---------------------------------------------------------------

    def to_function(
        self, name: str | None = None, keep_stateful: bool = False
    ) -> FunctionIR:
        """The function as it is now; later changes of this graph do not show in it.

        It holds what the outputs need and no more: an operation in a branch or a loop
        that no result depends on does not run. A function that is called keeps its
        stateful operations too (`keep_stateful`).
        """
        self.is_changed = False
        arguments = {t._op: None for t in self.inputs}
        roots = [*[t._op for t in self.outputs], *self.control_outputs]
        if keep_stateful:
            roots += [op for op in self._operations if op._op_def.is_stateful]
        needed = _needed(roots)
        nodes = {
            op._name: self.to_node(op)
            for op in self._operations
            if op in needed and op not in arguments
        }
        if not self._is_sorted:
            names = [op._name for op in arguments]
            nodes = {n.name: n for n in sort_topologically(nodes, names)}
        return FunctionIR(
            name=name or self.name,
            arg_names=tuple(op._name for op in arguments),
            arg_types=tuple(t._dtype for t in self.inputs),
            output_names=_output_names(self.outputs),
            output_types=tuple(t._dtype.base_dtype for t in self.outputs),
            nodes=nodes,
            returns=tuple((t._op._name, t._value_index) for t in self.outputs),
            control_returns=tuple(op._name for op in self.control_outputs),
            is_stateful=self.is_stateful,
            arg_shapes=tuple(t._shape for t in self.inputs),
            python_gradients={
                op._name: op._python_gradient
                for op in self._operations
                if op._python_gradient is not None
            },
        )

    @property
    def is_stateful(self) -> bool:
        """True when an operation of the body is stateful."""
        return any(op._op_def.is_stateful for op in self._operations)


def _needed(roots: Iterable[Operation]) -> set[Operation]:
    """The operations, and all that they depend on."""
    needed: set[Operation] = set()
    stack = list(roots)
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack.extend([t._op for t in op._inputs])
            stack.extend(op._control_inputs)
    return needed


def names_variable(op: Operation) -> bool:
    """Whether an op makes its reference itself, instead of passing an input on."""
    return "shared_name" in op._attrs


def _argument_name(name: str) -> str:
    """A name as arguments of functions have it: lower case, digits, underscores."""
    name = _NOT_IN_ARG_NAMES.sub("_", name.lower()).lstrip("_")
    return name if name and name[0].isalpha() else f"arg_{name}"


def _output_names(outputs: Sequence[Tensor]) -> tuple[str, ...]:
    """Distinct names for the outputs, after the operations that make them."""
    used: dict[str, int] = {}
    names = []
    for tensor in outputs:
        base = _argument_name(tensor._op._name)
        name = base
        while name in used:
            used[base] += 1
            name = f"{base}_{used[base]}"
        used[name] = 0
        names.append(name)
    return tuple(names)


def _operation_of(value: Any) -> Operation | None:
    """The operation that something in `control_dependencies` stands for."""
    if isinstance(value, Operation):
        return value
    if isinstance(value, Tensor):
        return value._op
    converter = getattr(value, "_as_graph_element", None)
    element = converter() if converter is not None else None
    if element is None:
        element = getattr(value, "op", None)
    if isinstance(element, Tensor):
        return element._op
    return element if isinstance(element, Operation) else None


def unique_function_name(scope: str, kind: str) -> str:
    """`scope_kind_N`, where N makes it unique in the process."""
    return f"{scope}{kind}_{uid()}".replace("/", "_")


def unique_gradient_name(forward_name: str) -> str:
    """The name of the function that is the gradient of the named one."""
    return f"{forward_name}_grad_{uid()}"
