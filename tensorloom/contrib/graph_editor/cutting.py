"""Parts of a graph are cut out of it, and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.contrib.graph_editor.control_outputs import ControlOutputs, check_cios
from tensorloom.contrib.graph_editor.element_lists import check_graphs
from tensorloom.contrib.graph_editor.rerouting import (
    remove_control_inputs,
    reroute_inputs,
    reroute_ts,
    swap_inputs,
    swap_outputs,
)
from tensorloom.contrib.graph_editor.scopes_and_placeholders import (
    make_placeholder_from_tensor,
    placeholder_name,
)
from tensorloom.contrib.graph_editor.views import SubGraphView, make_view
from tensorloom.framework.export import export
from tensorloom.ops.array.placeholder import placeholder

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("contrib.graph_editor.detach_control_inputs")
def detach_control_inputs(sgv: Any) -> None:
    """Takes control inputs from outside from what `make_view` takes."""
    view = make_view(sgv)
    for op in view.ops:
        outside = [c for c in op.control_inputs if c not in view.ops]
        remove_control_inputs(op, outside)


@export("contrib.graph_editor.detach_control_outputs")
def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Takes the control inputs that it is from all operations outside.

    Args:
      sgv: what `make_view` takes.
      control_outputs: those of the graph.

    Raises:
      TypeError: `control_outputs` are none.
    """
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    for op in view.ops:
        for reader in control_outputs.get(op):
            if reader not in view.ops:
                remove_control_inputs(reader, op)


@export("contrib.graph_editor.detach_inputs")
def detach_inputs(
    sgv: Any, control_inputs: bool = False
) -> tuple[SubGraphView, list[Tensor]]:
    """Puts placeholders in place of the inputs.

    Args:
      sgv: what `make_view` takes; a view is changed in place.
      control_inputs: takes control inputs away, too.

    Returns:
      (the view, the placeholders).
    """
    view = make_view(sgv)
    with view.graph.as_default():
        stand_ins = [
            placeholder(dtype=t.dtype, name=placeholder_name(t)) for t in view.inputs
        ]
    swap_inputs(view, stand_ins)
    if control_inputs:
        detach_control_inputs(view)
    return view, stand_ins


@export("contrib.graph_editor.detach_outputs")
def detach_outputs(
    sgv: Any, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[Tensor]]:
    """Puts placeholders in place of the outputs, for those that read them.

    Args:
      sgv: what `make_view` takes.
      control_outputs: those of the graph, to take them away, too.

    Returns:
      (a view that has only outputs that were read, the placeholders).
    """
    view = make_view(sgv)
    view = view.remap_outputs([i for i, t in enumerate(view.outputs) if t.consumers()])
    readers = SubGraphView(view.consumers())
    outputs = list(view.outputs)
    readers = readers.remap_inputs(
        [i for i, t in enumerate(readers.inputs) if t in outputs]
    )
    with view.graph.as_default():
        stand_ins = [make_placeholder_from_tensor(t) for t in readers.inputs]
    swap_outputs(view, stand_ins)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, stand_ins


@export("contrib.graph_editor.detach")
def detach(
    sgv: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """`detach_inputs` and `detach_outputs`.

    Args:
      sgv: what `make_view` takes; a view is changed in place.
      control_inputs, control_outputs, control_ios: see `check_cios`.

    Returns:
      (`sgv`, the placeholders of the inputs, those of the outputs).
    """
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios
    )
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


@export("contrib.graph_editor.connect")
def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Makes the outputs of one part of a graph the inputs of another one.

    Args:
      sgv0, sgv1: what `make_view` takes; views are changed in place.
      disconnect_first: takes the outputs of `sgv0` from what reads them now.

    Returns:
      The two views.

    Raises:
      ValueError: the tensors do not fit, or the graphs differ.
    """
    view0, view1 = make_view(sgv0), make_view(sgv1)
    check_graphs(view0, view1)
    if disconnect_first:
        detach_outputs(view0)
    reroute_inputs(SubGraphView(passthrough_ts=view0.outputs), view1)
    return view0, view1


@export("contrib.graph_editor.bypass")
def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Makes what reads the outputs read the inputs instead.

    Args:
      sgv: what `make_view` takes; a view is changed in place.

    Returns:
      (the view, the placeholders that are its inputs now).

    Raises:
      ValueError: there are not as many inputs as outputs, or they do not fit.
    """
    view = make_view(sgv)
    inputs = list(view.inputs)
    view, stand_ins = detach_inputs(view)
    reroute_ts(inputs, view.outputs)
    return view, stand_ins
