"""Readers of one tensor are made to read another one."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.graph_editor.element_lists import (
    check_graphs,
    get_consuming_ops,
    make_list_of_op,
    make_list_of_t,
)
from tensorloom.contrib.graph_editor.views import SubGraphView, make_view
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor


def _check_pairs(first: list[Tensor], second: list[Tensor]) -> None:
    if len(first) != len(second):
        raise ValueError(
            f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}"
        )
    for a, b in zip(first, second, strict=True):
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible.")
        if not a.get_shape().is_compatible_with(b.get_shape()):
            raise ValueError(
                f"Shapes {a.get_shape()} and {b.get_shape()} are not compatible."
            )


def _give(readers: list[Operation], old: Tensor, new: Tensor, may: Any) -> int:
    """Makes readers of `old` that `may` be changed read `new`; counts the edges."""
    edges = [
        (op, index)
        for op in readers
        if may(op)
        for index, tensor in enumerate(op.inputs)
        if tensor is old
    ]
    for op, index in edges:
        op._update_input(index, new)
    return len(edges)


def _reroute(
    ts0: Any, ts1: Any, swap: bool, can_modify: Any = None, cannot_modify: Any = None
) -> int:
    """Readers of `ts1` come to read `ts0`, and with `swap` the other way, too."""
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    _check_pairs(first, second)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))

    def may(op: Operation) -> bool:
        return (allowed is None or op in allowed) and op not in refused

    # Who reads what now, before anything changes: tensors may be there twice.
    pairs = [
        (a, b, list(dict.fromkeys(a.consumers())), list(dict.fromkeys(b.consumers())))
        for a, b in zip(first, second, strict=True)
        if a is not b
    ]
    count = 0
    for a, b, readers_a, readers_b in pairs:
        count += _give(readers_b, b, a, may)
        if swap:
            # Readers of both have what they read of `b` swapped already: all edges
            # to `a` are moved, as in TensorFlow.
            count += _give(readers_a, a, b, may)
    return count


@export("contrib.graph_editor.swap_ts")
def swap_ts(
    ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None
) -> int:
    """Swaps, pair by pair, who reads the tensors.

    Args:
      ts0, ts1: what `make_list_of_t` takes, of equal lengths.
      can_modify: the operations whose inputs may change; all when None.
      cannot_modify: operations whose inputs may not.

    Returns:
      How many inputs were changed.

    Raises:
      TypeError: an argument is of the wrong type.
      ValueError: the lengths differ, or the dtypes or shapes of a pair.
    """
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


@export("contrib.graph_editor.reroute_ts")
def reroute_ts(
    ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None
) -> int:
    """Makes what reads a tensor of `ts1` read the one of `ts0` instead.

    Args:
      ts0, ts1: what `make_list_of_t` takes, of equal lengths.
      can_modify: the operations whose inputs may change; all when None.
      cannot_modify: operations whose inputs may not.

    Returns:
      How many inputs were changed.

    Raises:
      TypeError: an argument is of the wrong type.
      ValueError: the lengths differ, or the dtypes or shapes of a pair.
    """
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def _remap_inputs(view0: SubGraphView, view1: SubGraphView, swap: bool) -> None:
    """Makes the views see the inputs that they have after the change."""
    old0, old1 = view0.copy(), view1.copy()

    def take(view: SubGraphView, own: SubGraphView, other: SubGraphView) -> None:
        view._input_ts = list(other._input_ts)
        view._passthrough_ts = list(other._passthrough_ts)

    take(view1, old1, old0)
    if swap:
        take(view0, old0, old1)

    def renew_outputs(a: SubGraphView, b: SubGraphView) -> None:
        # What passed through passes through from another input now.
        for index, tensor in enumerate(b._output_ts):
            if tensor in a._passthrough_ts:
                b._output_ts[index] = b._input_ts[a._input_ts.index(tensor)]

    renew_outputs(view0, view1)
    if swap:
        renew_outputs(view1, view0)


Views = tuple[SubGraphView, SubGraphView]


def _views(sgv0: Any, sgv1: Any) -> Views:
    views = make_view(sgv0), make_view(sgv1)
    check_graphs(*views)
    return views


def _reroute_inputs(sgv0: Any, sgv1: Any, swap: bool) -> Views:
    view0, view1 = _views(sgv0, sgv1)
    may = [*view0.ops, *view1.ops]
    may += get_consuming_ops(view0.passthroughs)
    may += get_consuming_ops(view1.passthroughs)
    _reroute(view0.inputs, view1.inputs, swap, can_modify=may)
    _remap_inputs(view0, view1, swap)
    return view0, view1


def _reroute_outputs(sgv0: Any, sgv1: Any, swap: bool) -> Views:
    view0, view1 = _views(sgv0, sgv1)
    own = [*view0.ops, *view1.ops]
    _reroute(view0.outputs, view1.outputs, swap, cannot_modify=own)
    return view0, view1


def _reroute_both(sgv0: Any, sgv1: Any, swap: bool) -> Views:
    view0, view1 = _views(sgv0, sgv1)
    _reroute_outputs(view0, view1, swap)
    return _reroute_inputs(view0, view1, swap)


@export("contrib.graph_editor.swap_inputs")
def swap_inputs(sgv0: Any, sgv1: Any) -> Views:
    """Swaps the inputs of two parts of a graph, what `make_view` takes.

    Returns:
      The two views, which are changed in place.

    Raises:
      TypeError: an argument is nothing that `make_view` takes.
      ValueError: the inputs do not fit, or the graphs differ.
    """
    return _reroute_inputs(sgv0, sgv1, True)


@export("contrib.graph_editor.reroute_inputs")
def reroute_inputs(sgv0: Any, sgv1: Any) -> Views:
    """Gives the inputs of `sgv0` to `sgv1`, too; see `swap_inputs`."""
    return _reroute_inputs(sgv0, sgv1, False)


@export("contrib.graph_editor.swap_outputs")
def swap_outputs(sgv0: Any, sgv1: Any) -> Views:
    """Swaps who reads the outputs of two parts of a graph; see `swap_inputs`."""
    return _reroute_outputs(sgv0, sgv1, True)


@export("contrib.graph_editor.reroute_outputs")
def reroute_outputs(sgv0: Any, sgv1: Any) -> Views:
    """Makes what reads outputs of `sgv1` read those of `sgv0`; see `swap_inputs`."""
    return _reroute_outputs(sgv0, sgv1, False)


@export("contrib.graph_editor.swap_ios")
def swap_ios(sgv0: Any, sgv1: Any) -> Views:
    """`swap_outputs` and `swap_inputs`."""
    return _reroute_both(sgv0, sgv1, True)


@export("contrib.graph_editor.reroute_ios")
def reroute_ios(sgv0: Any, sgv1: Any) -> Views:
    """`reroute_outputs` and `reroute_inputs`."""
    return _reroute_both(sgv0, sgv1, False)


def _operation(op: Any) -> None:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


@export("contrib.graph_editor.remove_control_inputs")
def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Takes control inputs from an operation.

    Args:
      op: the operation.
      cops: what `make_list_of_op` takes.

    Raises:
      TypeError: `op` is no operation, or one of `cops` is none.
      ValueError: one of `cops` is no control input of `op`.
    """
    _operation(op)
    gone = make_list_of_op(cops, allow_graph=False)
    for source in gone:
        if source not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {source.name}")
    left = [source for source in op.control_inputs if source not in gone]
    op._remove_all_control_inputs()
    op._add_control_inputs(left)


@export("contrib.graph_editor.add_control_inputs")
def add_control_inputs(op: Operation, cops: Any) -> None:
    """Gives an operation more control inputs.

    Args:
      op: the operation.
      cops: what `make_list_of_op` takes.

    Raises:
      TypeError: `op` is no operation, or one of `cops` is none.
      ValueError: one of `cops` is a control input of `op` already.
    """
    _operation(op)
    sources = make_list_of_op(cops, allow_graph=False)
    for source in sources:
        if source in op.control_inputs:
            raise ValueError(f"{source.name} is already a control_input of {op.name}")
    op._add_control_inputs(sources)
