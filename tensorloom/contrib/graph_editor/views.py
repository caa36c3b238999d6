"""`SubGraphView`: a part of a graph with inputs and outputs in a chosen order."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from tensorloom.contrib.graph_editor.element_lists import (
    ListView,
    add_missing,
    get_unique_graph,
    make_list_of_op,
    make_list_of_t,
)
from tensorloom.contrib.graph_editor.name_filters import (
    get_name_scope_ops,
    select_ops_and_ts,
)
from tensorloom.contrib.graph_editor.walks import (
    compute_boundary_ts,
    get_walks_union_ops,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Operation, Tensor


def _chosen(tensors: list[Tensor], which: Iterable[Any], repeats: bool) -> list[Tensor]:
    """The tensors that indices, or tensors among them, say."""
    indices = [i if isinstance(i, int) else tensors.index(i) for i in which]
    for index in indices:
        if not 0 <= index < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {index}")
    if not repeats and len(set(indices)) != len(indices):
        raise ValueError(f"Found repetition in mapping: {indices}")
    return [tensors[index] for index in indices]


@export("contrib.graph_editor.SubGraphView")
class SubGraphView:
    """Operations of a graph, seen as a function from input to output tensors.

    It only looks: nothing that it does changes the graph, and it does not follow when
    the graph is changed. Its methods return new views. Tensors that no operation of
    the view makes or reads can be in it, too, as inputs that are outputs: those pass
    through.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        """A view with all inputs and outputs of the operations.

        Args:
          inside_ops: what `make_list_of_op` takes.
          passthrough_ts: what `make_list_of_t` takes; of these, tensors that the
            operations make or read are left out.

        Raises:
          TypeError: they are no operations, or no tensors.
          ValueError: they are of several graphs.
        """
        self._ops = make_list_of_op(inside_ops)
        passing = make_list_of_t(passthrough_ts)
        self._graph: Graph | None = get_unique_graph(
            [*self._ops, *passing], none_if_empty=True
        )
        inputs, outputs, inside = compute_boundary_ts(self._ops)
        taken = {*inputs, *outputs, *inside}
        self._passthrough_ts = [t for t in passing if t not in taken]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self) -> SubGraphView:
        made = type(self).__new__(type(self))
        made._assign_from(self)
        return made

    def _assign_from(self, other: SubGraphView) -> None:
        """Makes this view what another one is."""
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph = other._graph
        self._ops = list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    def copy(self) -> SubGraphView:
        """The same view once more; the graph is not copied."""
        return copy.copy(self)

    # --- other inputs and outputs -------------------------------------

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """The view with all its inputs, and all its outputs, again.

        Args:
          remove_input_map: whether to do so with the inputs.
          remove_output_map: whether to do so with the outputs.
        """
        view = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            view._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            view._output_ts = outputs + self._passthrough_ts
        return view

    def remap_inputs(self, new_input_indices: Iterable[Any]) -> SubGraphView:
        """The view with some of its inputs, in a new order.

        Args:
          new_input_indices: indices of present inputs, or the tensors; none twice.

        Raises:
          ValueError: one is no present input, or is there twice.
        """
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Iterable[Any]) -> SubGraphView:
        """The view with some of its outputs, in a new order, repeats allowed.

        Args:
          new_output_indices: indices of present outputs, or the tensors.

        Raises:
          ValueError: one is no present output.
        """
        return self.remap(None, new_output_indices)

    def remap(
        self,
        new_input_indices: Iterable[Any] | None = None,
        new_output_indices: Iterable[Any] | None = None,
    ) -> SubGraphView:
        """`remap_inputs` and `remap_outputs` in one; None leaves them.

        Raises:
          ValueError: an index is none of a present tensor, or an input there twice.
        """
        view = self.copy()
        if new_input_indices is not None:
            view._input_ts = _chosen(self._input_ts, new_input_indices, False)
        if new_output_indices is not None:
            view._output_ts = _chosen(self._output_ts, new_output_indices, True)
        return view

    def remap_outputs_make_unique(self) -> SubGraphView:
        """The view with each output once."""
        view = self.copy()
        view._output_ts = add_missing([], self._output_ts)
        return view

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """The view with each output as often as there are operations that read it."""
        view = self.remap_outputs_make_unique()
        view._output_ts = [t for t in view._output_ts for _ in t.consumers()]
        return view

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """The view without operations that no input or output is connected to.

        Args:
          control_inputs: whether control inputs connect.
        """
        view = self.copy()
        used = set(
            get_walks_union_ops(
                self.connected_inputs,
                self.connected_outputs,
                within_ops=self._ops,
                control_inputs=control_inputs,
            )
        )
        view._ops = [op for op in self._ops if op in used]
        return view

    # --- what is in it ------------------------------------------------

    def find_op_by_name(self, op_name: str) -> Operation:
        """The operation of that name. Raises ValueError if it is not in the view."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"

        def tensors(listed: list[Tensor]) -> list[str]:
            passing = self._passthrough_ts
            return [f"{t.name} *" if t in passing else t.name for t in listed]

        parts = [f"SubGraphView (graphid={id(self.graph)}):"]
        for title, names in (
            ("ops", [op.name for op in self._ops]),
            ("inputs", tensors(self._input_ts)),
            ("outputs", tensors(self._output_ts)),
        ):
            if names:
                parts += [f"** {title}[{len(names)}]:", *(f"  {n}" for n in names)]
            else:
                parts.append(f"** {title}: empty")
        return "\n".join(parts) + "\n"

    @property
    def graph(self) -> Any:
        """The graph; None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> ListView:
        """The inputs."""
        return ListView(self._input_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs but those that pass through."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def outputs(self) -> ListView:
        """The outputs."""
        return ListView(self._output_ts)

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs but those that pass through."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    @property
    def passthroughs(self) -> ListView:
        """The tensors that pass through."""
        return ListView(self._passthrough_ts)

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Operation:
        """The operation at an index."""
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor passes through."""
        return t in self._passthrough_ts

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass

    def input_index(self, t: Tensor) -> int:
        """The index of an input. Raises ValueError if it is none."""
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """The index of an output. Raises ValueError if it is none."""
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The operations outside that read its outputs, each once."""
        found: list[Operation] = []
        for tensor in self._output_ts:
            add_missing(found, (op for op in tensor.consumers() if op not in self._ops))
        return found


def _checked(view: SubGraphView, graph: Any) -> SubGraphView:
    if graph is None or not view.graph:
        return view
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    if view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


@export("contrib.graph_editor.make_view", "contrib.graph_editor.sgv")
def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of the operations that `select_ops_and_ts` selects.

    Args:
      *args: see `select_ops_and_ts`; its tensors pass through. A single view is
        returned.
      **kwargs: see `select_ops_and_ts`.

    Raises:
      TypeError: `graph` is no graph, or an argument nothing that can be selected.
      ValueError: an unknown keyword, or the operations are of another graph.
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _checked(args[0], graph)
    ops, tensors = select_ops_and_ts(*args, **kwargs)
    return _checked(SubGraphView(ops, tensors), graph)


@export("contrib.graph_editor.make_view_from_scope", "contrib.graph_editor.sgv_scope")
def make_view_from_scope(scope: str, graph: Any) -> SubGraphView:
    """A view of the operations in a name scope of a graph.

    Raises:
      TypeError: `graph` is no graph and no list of operations.
    """
    return SubGraphView(get_name_scope_ops(graph, scope))
