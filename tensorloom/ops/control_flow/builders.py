"""Order without data: NoOp, `tf.group`, `tf.tuple`, and Assert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export, exports
from tensorloom.framework.graph.classic_node_counts import Tally, makes_classic
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    is_tensor,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, no_outputs
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import (
    convert_n_to_tensor,
    convert_to_tensor,
)
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    import builtins


def _assert_shape(c: InferenceContext) -> builtins.tuple[()]:
    return ()  # the kernel looks at the rank


register_op(
    "NoOp",
    shape_fn=no_outputs,
    doc="Does nothing; its control inputs run before what waits for it.",
)

register_op(
    "Assert",
    inputs=["condition: bool", "data: T"],
    attrs=["T: list(type) >= 1", "summarize: int = 3"],
    shape_fn=_assert_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Fails the step, showing `data`, unless `condition` is true.",
)


@export("no_op")
def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing, to hang control inputs on."""
    return apply_op("NoOp", name=name)  # type: ignore[no-any-return]


@export("Assert", "debugging.Assert")
def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that fails unless `condition` is true.

    Args:
      condition: bool scalar.
      data: tensors whose values the error shows.
      summarize: how many elements of each it shows; 3 when None, -1 for all.

    Raises (at run time):
      errors.InvalidArgumentError: the condition is false.
    """
    with name_scope(name, "Assert", [condition, data]):
        tensors = convert_n_to_tensor(data)
        if all(t.dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return _assert(condition, data, summarize)
        # The data are shown, and so brought to the host, by the failing check alone.
        condition = convert_to_tensor(condition, name="Condition")
        if makes_classic(get_default_graph()):
            return _guarded(condition, data, summarize)
        tally = Tally(get_default_graph())
        for tensor in (condition, *tensors):
            tally.bring(tensor)
        with name_scope("AssertGuard"), tally.made_as(_guarded_nodes(condition, data)):
            return _assert(condition, data, summarize)


def _guarded(condition: Tensor, data: Any, summarize: int | None) -> Operation:
    """The check in a branch of a `cond`, which is built above this layer."""
    checked: Tensor = exports()["cond"](
        condition,
        no_op,
        lambda: _assert(condition, data, summarize),
        name="AssertGuard",
    )
    return checked.op


def _guarded_nodes(condition: Tensor, data: Any) -> int:
    """How many operations TensorFlow makes for a check inside a `cond`.

    It has Switch, switch_t, switch_f, pred_id, and Merge; NoOp and Identity in one
    branch; in the other one Assert, Identity, constants for the data that are not
    tensors yet, and a Switch for each tensor.
    """
    outside = {v for v in (condition, *data) if isinstance(v, Tensor)}
    constants = sum(not isinstance(v, Tensor) for v in data)
    return 9 + constants + len(outside)


def _assert(condition: Any, data: Any, summarize: int | None) -> Operation:
    return apply_op(  # type: ignore[no-any-return]
        "Assert", condition=condition, data=data, summarize=summarize, name="Assert"
    )


def with_dependencies(
    dependencies: Sequence[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """`output_tensor`, which is there only after `dependencies` have run."""
    values = [*dependencies, output_tensor]
    with (
        name_scope(name, "control_dependency", values) as scope,
        colocate_with(_with_operation(output_tensor)),
        control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            return IndexedSlices(
                _identity(output_tensor.values, scope),
                output_tensor.indices,
                output_tensor.dense_shape,
            )
        return _identity(convert_to_tensor(output_tensor), scope)


def _with_operation(value: Any) -> Any:
    """The value, or for a plain one a constant: what others can be beside."""
    return value if hasattr(value, "op") else convert_to_tensor(value)


def _identity(tensor: Tensor, name: str) -> Tensor:
    if tensor.dtype._is_ref_dtype:
        return apply_op("RefIdentity", input=tensor, name=name)  # type: ignore[no-any-return]
    return identity_ops.identity(tensor, name=name)


@export("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that is done when all `inputs` are.

    Args:
      inputs: operations or tensors, or nested structures of them.
      name: of the operation.

    Raises:
      ValueError: another keyword.
      TypeError: an input is neither.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", inputs) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Any]] = {}
        for value in nest.flatten(inputs, expand_composites=True):
            if not hasattr(value, "device"):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{value}' "
                    f"with type '{type(value)}'"
                )
            by_device.setdefault(value.device, []).append(value)
        if len(by_device) == 1:
            ((place, values),) = by_device.items()
            return _gate(place, values, scope)
        # One node on each device, so that few control edges cross devices.
        gates = [_gate(place, by_device[place]) for place in sorted(by_device)]
        with control_dependencies(gates):
            return no_op(name=scope)


def _gate(place: str, values: list[Any], name: str | None = None) -> Operation:
    with control_dependencies(values), device(place):
        return no_op(name=name)


@export("tuple")
def tuple(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None
) -> list[Any]:
    """`tensors`, each available only when all of them are.

    Args:
      tensors: tensors, IndexedSlices, operations, or None.
      control_inputs: further operations to wait for.

    Raises:
      ValueError: there is nothing to wait for.
      TypeError: a control input is neither an Operation nor a Tensor.
    """
    with name_scope(name, "tuple", tensors):
        values = [
            t
            if isinstance(t, Operation) or is_tensor(t) or t is None
            else convert_to_tensor(t)
            for t in tensors
        ]
        gating = [
            t if isinstance(t, Operation) else t.op for t in values if t is not None
        ]
        for c in control_inputs or ():
            if not isinstance(c, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {c}")
            gating.append(c.op if isinstance(c, Tensor) else c)
        gating = sorted(set(gating), key=lambda op: op._id)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {values}")
        gate = group(*gating)
        return [_gated(value, gate) for value in values]


def _gated(value: Any, gate: Operation) -> Any:
    if value is None:
        return None
    if isinstance(value, Operation):
        with control_dependencies([gate]):
            return group(value)
    return with_dependencies([gate], value)
