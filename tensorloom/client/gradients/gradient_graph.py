"""The graph of a gradient function, which reads values of the forward function.

The gradient of `If` or `While` is built by walking back through the body of the
forward node, which is finished. What the gradient functions read of it is brought into
the gradient's own graph here: constants are copied, arguments and results are taken
from around the forward node, and everything else is an intermediate, which each kind
of node hands out in its own way.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph, names_variable
from tensorloom.client.gradients.gradient_reads import Reads
from tensorloom.client.variables.resource_handles import origin_in_graph
from tensorloom.framework.graph.classic_node_counts import is_classic
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.source import Stack
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.types.dtypes import DType


class GradientGraph(FuncGraph):
    """The gradient of `forward`, the body (or a branch) of `op`."""

    #: Of a loop, not of a branch.
    is_loop = False

    def __init__(self, name: str, forward: FuncGraph, op: Operation) -> None:
        super().__init__(name, frame=set() if is_classic(op) else None)
        self.forward = forward
        self.op = op
        self._from_forward: dict[Tensor, Tensor] = {}
        self.reads = Reads(self, self.outer_reads(), self.is_loop)

    @property
    def reads_forward(self) -> bool:
        """Whether the gradient reads anything of the forward graph."""
        return bool(self._from_forward)

    def outer_reads(self) -> Reads | None:
        """What the gradient that this one is built in reads."""
        outer = self.outer_graph
        return outer.reads if isinstance(outer, GradientGraph) else None

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
        """`FuncGraph.add_operation`; what it reads of the forward graph is counted."""
        if self.frame is None:
            return super().add_operation(
                op_def, inputs, attrs, name, output_types, stack, any_name
            )
        is_shape = self.reads.is_forward_shape(op_def.name, inputs)
        if not is_shape:
            self._node_count.value += self.reads.count(inputs)
        op = super().add_operation(
            op_def, inputs, attrs, name, output_types, stack, any_name
        )
        if is_shape:
            self.reads.add_shapes(op._outputs)
        return op

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph for one of the forward body or of a graph around."""
        if tensor._op._graph is not self.forward:
            return super().capture(tensor, name)
        while tensor._op._type == "Identity" and not tensor._dtype._is_ref_dtype:
            source = tensor._op._inputs[0]
            if source._dtype._is_ref_dtype:
                break
            tensor = source
        found = self._from_forward.get(tensor)
        if found is None:
            if self.frame is None:
                found = self._bring(tensor)
            else:
                with self._node_count.made_as(0):
                    found = self._bring(tensor)
            self._from_forward[tensor] = found
        return found

    def _bring(self, tensor: Tensor) -> Tensor:
        if tensor._dtype._is_ref_dtype:
            if names_variable(tensor._op):
                return self._same_variable(tensor._op)
            with self.forward.as_default():
                tensor = identity_ops.identity(tensor)
        if tensor._op._type == "Const":
            return self._copy_constant(tensor._op)
        if tensor._dtype == dtypes.resource:
            tensor = origin_in_graph(tensor)
        outside = self.outside_value(tensor)
        if outside is not None:
            return super().capture(outside)
        return self.intermediate(tensor)

    def keeps(self, tensor: Tensor) -> bool:
        """Whether a loop keeps the tensor's value of each iteration to be read here."""
        return (
            tensor._op._graph is self.forward
            and self.reads.loop is not None
            and tensor._dtype != dtypes.variant
        )

    def _copy_constant(self, op: Operation) -> Tensor:
        with self.control_dependencies(None):
            copy = self.add_operation(op._op_def, (), dict(op._attrs), "Const")
        return copy._outputs[0]

    def outside_value(self, tensor: Tensor) -> Tensor | None:
        """The tensor around the forward node that has the same value, if any.

        Arguments and results are there.
        """
        outside = self.forward.original_of(tensor)
        if outside is not None:
            return outside
        for i, output in enumerate(self.forward.outputs):
            if output is tensor:
                return self.op.outputs[i]
        return None

    @abstractmethod
    def intermediate(self, tensor: Tensor) -> Tensor:
        """Makes the forward node hand out the tensor; returns it inside this graph."""

    def _brought_in(self, tensor: Tensor) -> Tensor:
        if self._is_of_forward(tensor):
            return tensor  # a forward node hands it out
        return super()._brought_in(tensor)

    def _is_of_forward(self, tensor: Tensor) -> bool:
        """Whether the tensor is where this is the gradient of, or one around it is."""
        graph: Any = self
        while isinstance(graph, FuncGraph):
            if isinstance(graph, GradientGraph) and _is_around(
                tensor._op._graph, graph.forward
            ):
                return True
            graph = graph.outer_graph
        return False

    def _check_is_outside(self, tensor: Tensor) -> None:
        # A gradient may be nested in the gradient of what the forward node is in.
        graph: Any = self
        while isinstance(graph, FuncGraph):
            if graph is tensor._op._graph:
                return
            if isinstance(graph, GradientGraph) and _is_around(
                tensor._op._graph, graph.forward
            ):
                return
            graph = graph.outer_graph
        if graph is not tensor._op._graph:
            super()._check_is_outside(tensor)


def _is_around(graph: Any, inner: Any) -> bool:
    while True:
        if inner is graph:
            return True
        if not isinstance(inner, FuncGraph):
            return False
        inner = inner.outer_graph


def gradient_scope() -> str:
    """The name scope that gradients in a body of a function are made in.

    TensorArrays find their gradient array by this scope, so it must be the one of the
    `tf.gradients` call, inside as outside.
    """
    parts = (get_default_graph().get_name_scope() or "").split("/")
    for i in reversed(range(len(parts))):
        if parts[i].startswith("gradients"):
            return "/".join(parts[: i + 1]) + "/"
    return "gradients"
