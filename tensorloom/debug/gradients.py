"""`GradientsDebugger`: finds the gradient tensors that `tf.gradients` makes.

debugger = tf_debug.GradientsDebugger()
watched = debugger.identify_gradient(y)
z = tf.square(watched)
with debugger:
    train = optimizer.minimize(z)
debugger.gradient_tensor(y)
"""

from __future__ import annotations

import re
import uuid
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variables import Variable
from tensorloom.debug.dumps.debug_graph import parse_node_or_tensor_name
from tensorloom.debug.dumps.dump_dir import WatchKeyDoesNotExistInDebugDumpDirError
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.debugging.debug import GRADIENT_LISTENERS

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

_TAG: Final = "gradient_debug_"
_debuggers: Final[dict[str, GradientsDebugger]] = {}


class GradientsDebugger:
    """Knows the gradients with respect to tensors that it identifies."""

    def __init__(self, y_tensor: Any = None) -> None:
        """Makes a debugger.

        Args:
          y_tensor: whose gradients they will be, if it is known.
        """
        self._uuid = uuid.uuid4().hex
        _debuggers[self._uuid] = self
        self._gradient_tensors: dict[str, Any] = {}
        self._y_tensor = y_tensor
        self._graph = None if y_tensor is None else y_tensor.graph
        self._is_active = False

    @property
    def y_tensor(self) -> Any:
        """What is differentiated, or None."""
        return self._y_tensor

    @property
    def graph(self) -> Any:
        """The graph of the gradients; None until there is one."""
        return self._graph

    def __enter__(self) -> GradientsDebugger:
        self._is_active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_active = False

    def identify_gradient(self, input_tensor: Any) -> Any:
        """An identity of a tensor; gradients that come through it become known.

        Raises:
          ValueError: the graph has it already.
        """
        node, slot = parse_node_or_tensor_name(input_tensor.name)
        name = f"{node}_{slot}/{_TAG}{self._uuid}"
        is_ref = input_tensor.dtype._is_ref_dtype
        op = "DebugGradientRefIdentity" if is_ref else "DebugGradientIdentity"
        identity = apply_op(op, input=input_tensor, name=name)
        if identity.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return identity

    def watch_gradients_by_tensors(self, graph: Any, tensors: Any) -> GradientsDebugger:
        """Identifies tensors, or variables, whose consumers there are already.

        Args:
          graph: the `tf.Graph`.
          tensors: one or a list.
        """
        listed = tensors if isinstance(tensors, list) else [tensors]
        names = "|".join(re.escape(tensor.name) + "$" for tensor in listed)
        return self.watch_gradients_by_tensor_names(graph, f"({names})")

    def watch_gradients_by_tensor_names(
        self, graph: Any, tensor_name_regex: str
    ) -> GradientsDebugger:
        """Identifies all tensors whose names begin with what a pattern says."""
        pattern = re.compile(tensor_name_regex)
        with graph.as_default():
            for operation in graph.get_operations():
                for output in operation.outputs:
                    if pattern.match(output.name):
                        self._put_behind(output)
        return self

    def _put_behind(self, output: Any) -> None:
        consumers = list(output.consumers())
        identity = self.identify_gradient(output)
        for consumer in consumers:
            for slot, given in enumerate(consumer.inputs):
                if given is output:
                    consumer._update_input(slot, identity)

    def register_gradient_tensor(
        self, x_tensor_name: str, gradient_tensor: Any
    ) -> None:
        """Notes a gradient, within `with debugger:` or where this is the only one.

        Raises:
          ValueError: it is of another graph than earlier ones.
        """
        if len(_debuggers) != 1 and not self._is_active:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as "
                f"the graph {self._graph}"
            )
        self._gradient_tensors[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Any:
        """The gradient with respect to a tensor, a variable, or what has this name.

        Raises:
          TypeError: it is none of these.
          LookupError: there is no such gradient yet.
        """
        if isinstance(x_tensor, Tensor | Variable):
            name = x_tensor.name
        elif isinstance(x_tensor, str):
            name = x_tensor
        else:
            raise TypeError(
                "x_tensor must be a str or tf.Tensor or tf.Variable, but instead has "
                f"type {type(x_tensor)}"
            )
        if name not in self._gradient_tensors:
            raise LookupError(
                "This GradientsDebugger has not received any gradient tensor for "
                f"x-tensor {name}"
            )
        return self._gradient_tensors[name]

    def gradient_tensors(self) -> dict[str, Any]:
        """All gradients, by the names of what they are with respect to."""
        return self._gradient_tensors


def clear_gradient_debuggers() -> None:
    """Forgets all debuggers."""
    _debuggers.clear()


def _note(operation: Operation, gradient: Tensor) -> None:
    """Tells the debugger whose identity this is."""
    scope, _, tag = operation.name.rpartition("/")
    debugger = _debuggers.get(tag.removeprefix(_TAG).partition("_")[0])
    if debugger is not None:
        node, _, slot = scope.rpartition("_")
        debugger.register_gradient_tensor(f"{node}:{slot}", gradient)


GRADIENT_LISTENERS.append(_note)


def gradient_values_from_dump(
    grad_debugger: GradientsDebugger, x_tensor: Any, dump: Any
) -> list[Any]:
    """The values of a gradient in a dump, none if it did not run.

    Args:
      grad_debugger: knows the gradient.
      x_tensor: as for `gradient_tensor`.
      dump: a `DebugDumpDir`.

    Raises:
      LookupError, TypeError: as `gradient_tensor`.
      ValueError: the dump is of another graph.
    """
    graph = dump.python_graph
    if graph is not None and grad_debugger.graph not in (None, graph):
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({grad_debugger.graph}) that "
            f"differs from the graph of the DebugDumpDir object ({graph})."
        )
    name = grad_debugger.gradient_tensor(x_tensor).name
    node, slot = parse_node_or_tensor_name(name)
    try:
        values: list[Any] = dump.get_tensors(node, slot or 0, "DebugIdentity")
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []
    return values
