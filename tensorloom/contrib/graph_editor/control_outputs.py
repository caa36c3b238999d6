"""Which operations have a given one as a control input."""

from __future__ import annotations

from collections.abc import Sequence

from tensorloom.contrib.graph_editor.element_lists import add_missing
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Operation


@export("contrib.graph_editor.ControlOutputs")
class ControlOutputs:
    """The control outputs of all operations of a graph, as of its last `update`."""

    def __init__(self, graph: Graph) -> None:
        """Reads them from the graph. Raises TypeError if it is none."""
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._control_outputs: dict[Operation, list[Operation]] = {}
        self._version: int | None = None
        self.update()

    def update(self) -> ControlOutputs:
        """Reads them again if the graph has new operations; returns itself."""
        if self._version != self._graph.version:
            self._control_outputs.clear()
            for op in self._graph.get_operations():
                for source in op.control_inputs:
                    add_missing(self._control_outputs.setdefault(source, []), [op])
            self._version = self._graph.version
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Of each operation that has any its control outputs."""
        return self._control_outputs

    def get(self, op: Operation) -> Sequence[Operation]:
        """The control outputs of an operation."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


@export("contrib.graph_editor.check_cios")
def check_cios(
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[bool, ControlOutputs | None]:
    """What three arguments say about following control edges.

    Args:
      control_inputs: whether to follow control inputs.
      control_outputs: follows these control outputs.
      control_ios: stands for both: `control_inputs=True` and these control outputs.

    Returns:
      (whether to follow control inputs, the control outputs, up to date, or None).

    Raises:
      TypeError: one is no ControlOutputs.
      ValueError: `control_ios` and `control_outputs` are both given.
    """
    given = control_outputs if control_ios is None else control_ios
    if given is not None and not isinstance(given, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs = True
    return control_inputs, None if given is None else given.update()
