"""Walks along the edges of a graph, and what surrounds a set of operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.contrib.graph_editor.control_outputs import ControlOutputs, check_cios
from tensorloom.contrib.graph_editor.element_lists import (
    add_missing,
    get_consuming_ops,
    get_generating_ops,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
)
from tensorloom.contrib.graph_editor.name_filters import input_tensors, output_tensors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.gradient_registry import get_gradient_function

Neighbours = Callable[[Operation], Iterable[Operation]]


@export("contrib.graph_editor.get_ops_ios")
def get_ops_ios(
    ops: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that are directly before or after some of `ops`.

    Args:
      ops: what `make_list_of_op` takes.
      control_inputs, control_outputs, control_ios: see `check_cios`.

    Raises:
      TypeError: `ops` are no operations.
    """
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios
    )
    found: list[Operation] = []
    for op in make_list_of_op(ops):
        add_missing(found, (t.op for t in op.inputs))
        for tensor in op.outputs:
            add_missing(found, tensor.consumers())
        if control_outputs is not None:
            add_missing(found, control_outputs.get(op))
        if control_inputs:
            add_missing(found, op.control_inputs)
    return found


@export("contrib.graph_editor.compute_boundary_ts")
def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The tensors of operations by where they come from and go to.

    Args:
      ops: what `make_list_of_op` takes.

    Returns:
      (inputs made by other operations, outputs but those that only `ops` read, tensors
      that `ops` make and read); the last two may have some in common.

    Raises:
      TypeError: `ops` are no operations.
    """
    members = set(make_list_of_op(ops))
    read, made = input_tensors(ops), output_tensors(ops)
    inside = [t for t in read if t.op in members]
    only_inside = {t for t in inside if members.issuperset(t.consumers())}
    return (
        [t for t in read if t.op not in members],
        [t for t in made if t not in only_inside],
        inside,
    )


@export("contrib.graph_editor.get_within_boundary_ops")
def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations among `ops` that edges reach from the seeds.

    Args:
      ops: what `make_list_of_op` takes.
      seed_ops: where to start.
      boundary_ops: operations that are not passed.
      inclusive: whether the result has the boundary's operations that are reached.
      control_inputs, control_outputs, control_ios: see `check_cios`.

    Raises:
      TypeError: some are no operations.
      ValueError: a seed is on the boundary.
    """
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios
    )
    wave = make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(make_list_of_op(boundary_ops))
    reached = set(wave)
    if boundary & reached:
        raise ValueError("Boundary is intersecting with the seeds.")
    while wave:
        around = get_ops_ios(wave, control_inputs, control_outputs)
        new = [op for op in around if op not in reached]
        wave = [op for op in new if op not in boundary]
        reached.update(new if inclusive else wave)
    return [op for op in make_list_of_op(ops) if op in reached]


def _seeds(seed_ops: Any, of_tensors: Callable[[Any], list[Operation]]) -> Any:
    if not is_iterable(seed_ops):
        seed_ops = [seed_ops]
    if not seed_ops:
        return []
    if isinstance(seed_ops[0], Tensor):
        return of_tensors(seed_ops)
    return make_list_of_op(seed_ops, allow_graph=False)


def _walk(
    seeds: list[Operation],
    neighbours: Neighbours,
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[Operation], bool] | None,
) -> list[Operation]:
    """All that `neighbours` lead to from the seeds, nearest first."""
    members = None
    if within_ops:
        members = set(make_list_of_op(within_ops, allow_graph=False))
        seeds = [op for op in seeds if op in members]
    start = set(seeds)
    found = dict.fromkeys(seeds)
    wave = list(found)
    while wave:
        new: dict[Operation, None] = {}
        for op in wave:
            for other in neighbours(op):
                if (
                    other not in found
                    and (members is None or other in members)
                    and (within_ops_fn is None or within_ops_fn(other))
                ):
                    new[other] = None
        found.update(new)
        wave = list(new)
    return [op for op in found if inclusive or op not in start]


@export("contrib.graph_editor.get_forward_walk_ops")
def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_outputs: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that depend on some, nearest first.

    Args:
      seed_ops: operations, or tensors: those that read them.
      inclusive: whether the result has the seeds.
      within_ops: operations that are not left; None: the whole graph.
      within_ops_fn: a function of an operation, true for those that may be walked to.
      stop_at_ts: tensors that are not passed.
      control_outputs: control edges that are followed, too.

    Raises:
      TypeError: `seed_ops` or `within_ops` are no operations.
    """
    _, control_outputs = check_cios(False, control_outputs)
    stops = set(make_list_of_t(stop_at_ts))

    def after(op: Operation) -> Iterable[Operation]:
        for tensor in op.outputs:
            if tensor not in stops:
                yield from tensor.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    seeds = _seeds(seed_ops, get_consuming_ops)
    return _walk(seeds, after, inclusive, within_ops, within_ops_fn)


def is_differentiable(op: Operation) -> bool:
    """Whether a gradient function is registered for it."""
    try:
        return get_gradient_function(op) is not None
    except LookupError:
        return False


def backward_walk(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
    only_differentiable: bool = False,
) -> list[Operation]:
    """The operations that some depend on, nearest first.

    Args:
      seed_ops: operations, or tensors: those that make them.
      inclusive: whether the result has the seeds.
      within_ops: operations that are not left; None: the whole graph.
      within_ops_fn: a function of an operation, true for those that may be walked to.
      stop_at_ts: tensors that are not passed.
      control_inputs: whether control inputs are followed, too.
      only_differentiable: goes only through operations that have a gradient, and
        through no control inputs.

    Raises:
      TypeError: `seed_ops` or `within_ops` are no operations.
    """
    stops = set(make_list_of_t(stop_at_ts))

    def before(op: Operation) -> Iterable[Operation]:
        if not only_differentiable or is_differentiable(op):
            yield from (t.op for t in op.inputs if t not in stops)
        if control_inputs and not only_differentiable:
            yield from op.control_inputs

    seeds = _seeds(seed_ops, get_generating_ops)
    return _walk(seeds, before, inclusive, within_ops, within_ops_fn)


@export("contrib.graph_editor.get_backward_walk_ops")
def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that some depend on, nearest first; see `backward_walk`.

    Raises:
      TypeError: `seed_ops` or `within_ops` are no operations.
    """
    return backward_walk(
        seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, control_inputs
    )


def _both_walks(
    forward: tuple[Any, bool],
    backward: tuple[Any, bool],
    within: tuple[Any, Any],
    controls: tuple[bool, Any, Any],
) -> tuple[list[Operation], list[Operation]]:
    control_inputs, control_outputs = check_cios(*controls)
    return (
        get_forward_walk_ops(*forward, *within, control_outputs=control_outputs),
        backward_walk(*backward, *within, control_inputs=control_inputs),
    )


@export("contrib.graph_editor.get_walks_intersection_ops")
def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations of a forward walk that a backward walk has, too.

    Args:
      forward_seed_ops, forward_inclusive: see `get_forward_walk_ops`.
      backward_seed_ops, backward_inclusive: see `get_backward_walk_ops`.
      within_ops, within_ops_fn: of both walks.
      control_inputs, control_outputs, control_ios: see `check_cios`.

    Raises:
      TypeError: the seeds or `within_ops` are no operations.
    """
    ahead, behind = _both_walks(
        (forward_seed_ops, forward_inclusive),
        (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn),
        (control_inputs, control_outputs, control_ios),
    )
    reached = set(behind)
    return [op for op in ahead if op in reached]


@export("contrib.graph_editor.get_walks_union_ops")
def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations of a forward walk, and of a backward walk.

    Args:
      forward_seed_ops, forward_inclusive: see `get_forward_walk_ops`.
      backward_seed_ops, backward_inclusive: see `get_backward_walk_ops`.
      within_ops, within_ops_fn: of both walks.
      control_inputs, control_outputs, control_ios: see `check_cios`.

    Raises:
      TypeError: the seeds or `within_ops` are no operations.
    """
    ahead, behind = _both_walks(
        (forward_seed_ops, forward_inclusive),
        (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn),
        (control_inputs, control_outputs, control_ios),
    )
    return add_missing(ahead, behind)
