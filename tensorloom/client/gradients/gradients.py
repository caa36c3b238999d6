"""`tf.gradients` and `tf.hessians`."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients import gradient_aggregation
from tensorloom.client.gradients.gradient_walk import GradientWalk, WalkOptions
from tensorloom.client.gradients.outer_gradient import enclosing_graph
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.garbage import collection_paused
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import (
    IndexedSlices,
    convert_n_to_tensor_or_indexed_slices,
    to_tensor_or_composite,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.lists import gradient_source
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.state import resource_variable as resource_variable_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph


@export("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What `tf.gradients` gives for an x that the ys do not depend on."""

    NONE = "none"  # None
    ZERO = "zero"  # zeros of the shape of x


@export("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Adds operations that compute d(sum of ys)/dx for each x of xs.

    Args:
      ys, xs: a tensor or a list of tensors (variables for xs too).
      grad_ys: the gradients of the ys, of their shapes; ones where None.
      name: of the scope that the operations are made in.
      colocate_gradients_with_ops: the gradient of an op goes to the op's device.
      gate_gradients: all gradients of an op are made before one of them is used.
      aggregation_method: one of `tf.AggregationMethod`.
      stop_gradients: tensors that count as constants.
      unconnected_gradients: what to give for an x that no y depends on.

    Returns:
      For each x a Tensor, an IndexedSlices, or None.

    Raises:
      LookupError: an op on the way has no gradient function.
      ValueError: the arguments do not fit together, or a gradient function gives
        gradients of the wrong number or shape.
      TypeError: a y has no default gradient, or a grad_y is of the wrong kind.
    """
    others = [v for v in (xs, grad_ys, stop_gradients) if v is not None]
    enclosing = enclosing_graph(
        _as_list(ys), [v for part in others for v in _as_list(part)]
    )
    with (
        nullcontext() if enclosing is None else enclosing.as_default(),
        # Forward loops and branches come to give what the gradient reads.
        get_default_graph()._construction.building(),
    ):
        return build_gradients(
            ys,
            xs,
            grad_ys,
            name,
            colocate_gradients_with_ops,
            gate_gradients,
            aggregation_method,
            stop_gradients,
            unconnected_gradients,
        )


def build_gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    colocate: bool = False,
    gate: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
    source_graph: Graph | None = None,
    is_part: bool = False,
    counts_gates: bool = False,
) -> list[Any]:
    """`gradients` of tensors of `source_graph`, built in the default graph.

    Args:
      counts_gates: count the operations of `gate`, without making them.
      source_graph: a function body whose gradient is built in another one.
      is_part: this is a part of a gradient computation that goes on.
    """
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    given = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    with name_scope(name, "gradients", [*ys, *xs, *stops, *given]) as scope:
        graph = get_default_graph()
        graph.unique_name("uid")
        tensors = _to_tensors(ys, "y", False, source_graph)
        wanted = _to_tensors([_handle_of(x) for x in xs], "x", True, source_graph)
        started = _start_gradients(given, tensors, colocate)
        options = WalkOptions(
            colocate,
            gate,
            gradient_aggregation.check_method(aggregation_method),
            [t.op for t in stops],
            counts_gates,
        )
        # A walk makes much that lives on, and no garbage: collecting finds nothing.
        part = gradient_source.current() if is_part or source_graph else None
        with (
            collection_paused(),
            gradient_source.computing(part or _computation(graph, scope)),
        ):
            source = source_graph or graph
            walk = _walk_class(source)(tensors, wanted, started, source, options)
            walk.run()
    walk.finish()
    return [_result(walk, x, unconnected) for x in wanted]


def _walk_class(graph: Graph) -> type[GradientWalk]:
    if not graph._has_control_flow_contexts:
        return GradientWalk
    from tensorloom.client.gradients.loop_walk import LoopWalk

    return LoopWalk


def _computation(graph: Graph, scope: str) -> str:
    """A name that no other call of `tf.gradients` has, in whatever function."""
    name = scope.rstrip("/")
    return f"{graph.name}/{name}" if isinstance(graph, FuncGraph) else name


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _handle_of(x: Any) -> Any:
    """A resource variable's handle: the gradient flows to what reads it."""
    handle = getattr(x, "handle", None)
    if handle is not None and getattr(handle, "dtype", None) == dtypes.resource:
        return handle
    return x


def _to_tensors(
    values: Sequence[Any], name: str, as_ref: bool, source_graph: Graph | None
) -> list[Any]:
    if source_graph is not None:  # a function body's own tensors, not to be captured
        return list(values)
    return [
        value
        if isinstance(value, Tensor)
        else to_tensor_or_composite(value, None, f"{name}_{i}", as_ref)
        for i, value in enumerate(values)
    ]


def _start_gradients(
    grad_ys: Sequence[Any], ys: Sequence[Tensor], colocate: bool
) -> list[Any]:
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    converted = convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
    started = []
    for i, (y, grad_y) in enumerate(zip(ys, converted, strict=True)):
        if colocate:
            with get_default_graph().colocate_with(y.op):
                started.append(_start_gradient(y, grad_y, i))
        else:
            started.append(_start_gradient(y, grad_y, i))
    return started


def _start_gradient(y: Tensor, grad_y: Any, index: int) -> Any:
    if grad_y is None:
        if y.dtype.is_complex:
            raise TypeError(
                f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})"
            )
        shape = shape_ops.shape(y)
        one = convert_to_tensor(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{index}")
        return fill_ops.fill(shape, one)
    _check_kinds(y, grad_y)
    name = f"grad_ys_{index}"
    if not isinstance(grad_y, IndexedSlices):
        return identity_ops.identity(grad_y, name=name)
    indices = identity_ops.identity(grad_y.indices, name=f"{name}_indices")
    values = identity_ops.identity(grad_y.values, name=f"{name}_values")
    dense_shape = grad_y.dense_shape
    if isinstance(dense_shape, Tensor):
        dense_shape = identity_ops.identity(dense_shape, name=f"{name}_shape")
    return IndexedSlices(values, indices, dense_shape)


def _check_kinds(y: Tensor, grad_y: Any) -> None:
    """Raises TypeError unless both are real, or complex, or variants."""
    kind, grad_kind = y.dtype.base_dtype, grad_y.dtype.base_dtype
    prefix = f"Gradient type {grad_kind.name} generated for"
    if kind.is_floating or kind.is_integer:
        if not grad_kind.is_floating and not grad_kind.is_integer:
            raise TypeError(
                f"{prefix} real or integer-valued tensor {y} with type {kind.name} "
                "must be real or integer"
            )
    elif kind.is_complex:
        if not grad_kind.is_complex:
            raise TypeError(
                f"{prefix} complex-valued tensor {y} with type {kind.name} must be real"
            )
    elif kind == dtypes.variant:
        if grad_kind != dtypes.variant:
            raise TypeError(
                f"{prefix} variant tensor {y} with type {kind.name} must be variant"
            )
    elif kind == dtypes.resource:
        if grad_kind == dtypes.resource:
            raise TypeError(
                f"Input gradient {grad_y} for resource tensor {y} should not be a "
                "resource"
            )
    else:
        raise TypeError(
            f"Tensor {y} with type {kind.name} must be numeric to obtain a default "
            "gradient"
        )


def _result(walk: GradientWalk, x: Any, unconnected: UnconnectedGradients) -> Any:
    reached, gradient = walk.gradient_of(x)
    if reached or unconnected is UnconnectedGradients.NONE:
        return gradient
    if x.dtype == dtypes.resource:
        data = x._handle_data
        return fill_ops.zeros(
            resource_variable_ops.variable_shape(x),
            dtype=data.dtype if data is not None else dtypes.float32,
        )
    return fill_ops.zeros_like(x, dtype=x.dtype.base_dtype)


def _loop_builder(graph: Graph) -> Any:
    if graph._has_control_flow_contexts:
        from tensorloom.client.control_flow.classic_loop import build_loop

        return build_loop
    from tensorloom.client.control_flow.while_loop import while_loop

    return while_loop


@export("hessians")
def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """Adds operations for the second derivatives of the sum of ys by each x.

    Returns:
      For each x of shape s a tensor of shape s + s.

    Raises:
      LookupError: an op on the way has no gradient function.
    """
    del name
    xs = _as_list(xs)
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    loop = _loop_builder(get_default_graph())
    results = []
    for gradient, x in zip(gradients(ys, xs, **options), xs, strict=True):
        flat = reshape_ops.reshape(gradient, [-1])
        count = shape_ops.size(x)

        def row(
            j: Tensor, rows: Any, flat: Any = flat, x: Any = x
        ) -> tuple[Tensor, Any]:
            return j + 1, rows.write(j, gradients(flat[j], x)[0])

        start = [
            convert_to_tensor(0, dtypes.int32),
            TensorArray(x.dtype, count),
        ]
        _, rows = loop(lambda j, _, count=count: j < count, row, start)
        shape = shape_ops.shape(x)
        results.append(
            reshape_ops.reshape(rows.stack(), concat_ops.concat((shape, shape), 0))
        )
    return results
