"""Reference variables: the ops that hold, assign and update a mutable tensor.

A reference edge carries the variable itself; an op that takes `Ref(T)` writes
through it, any other consumer gets the value. Resource variables are in
`resource_variable_ops.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import format_shape, scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16}"
)
_ORDERED = "{half, bfloat16, float, double, int32, int64}"

# --- shape functions ---------------------------------------------------------


def _variable_shape(c: InferenceContext) -> TensorShape:
    return c.attrs["shape"]  # type: ignore[no-any-return]


def _legacy_variable_shape(c: InferenceContext) -> TensorShape:
    """GraphDefs of old wrote a scalar shape for "unknown"."""
    shape: TensorShape = c.attrs["shape"]
    return shape if shape.rank else TensorShape.of(None)


def _assign_shape(c: InferenceContext) -> TensorShape:
    if not c.attrs["validate_shape"]:
        return c.input_shape(1)
    return c.merge(c.input_shape(0), c.input_shape(1))


def _merged_inputs_shape(c: InferenceContext) -> TensorShape:
    return c.merge(c.input_shape(0), c.input_shape(1))


def check_scatter_updates(
    c: InferenceContext, params: TensorShape, indices: TensorShape, updates: TensorShape
) -> None:
    """Updates must be a scalar, or of shape `indices.shape + params.shape[1:]`."""
    if updates.rank == 0:
        return
    params = c.with_rank_at_least(params, 1)
    c.merge(updates, indices.concatenate(params[1:]))


def _scatter_shape(c: InferenceContext) -> TensorShape:
    params = c.input_shape(0)
    check_scatter_updates(c, params, c.input_shape(1), c.input_shape(2))
    return params


def check_scatter_nd_updates(
    c: InferenceContext, params: TensorShape, indices: TensorShape, updates: TensorShape
) -> None:
    """Checks `updates.shape == indices.shape[:-1] + params.shape[depth:]`."""
    index_dims, params_dims = indices.dims_tuple, params.dims_tuple
    if not index_dims or params_dims is None or updates.rank is None:
        return
    outer = len(index_dims) - 1
    depth = index_dims[-1]
    if depth is None:
        return
    expected = TensorShape.of(index_dims[:-1]).concatenate(
        TensorShape.of(params_dims[depth:])
    )
    if not updates.is_compatible_with(expected):
        c.fail(
            f"The inner {len(params_dims) - depth} dimensions of input.shape="
            f"{format_shape(params)} must match the inner {updates.rank - outer} "
            f"dimensions of updates.shape={format_shape(updates)}, and the outer "
            f"{outer} those of indices.shape={format_shape(indices)}"
        )


def _scatter_nd_shape(c: InferenceContext) -> TensorShape:
    params = c.input_shape(0)
    indices, updates = c.with_rank_at_least(1, 1), c.with_rank_at_least(2, 1)
    check_scatter_nd_updates(c, params, indices, updates)
    return params


def _count_up_to_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(c.input_shape(0), 0)


def _ref_unchanged_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(0)


# --- registrations -----------------------------------------------------------

for _name, _shape_fn in (
    ("VariableV2", _variable_shape),
    ("Variable", _legacy_variable_shape),
):
    register_op(
        _name,
        outputs=["ref: Ref(dtype)"],
        attrs=[
            "shape: shape",
            "dtype: type",
            "container: string = ''",
            "shared_name: string = ''",
        ],
        shape_fn=_shape_fn,
        stateful=True,
        doc="Holds a tensor of one shape and dtype from step to step.",
    )

register_op(
    "TemporaryVariable",
    outputs=["ref: Ref(dtype)"],
    attrs=["shape: shape", "dtype: type", "var_name: string = ''"],
    shape_fn=_variable_shape,
    stateful=True,
    doc="A variable that lives within one step, until DestroyTemporaryVariable.",
)
register_op(
    "DestroyTemporaryVariable",
    inputs=["ref: Ref(T)"],
    outputs=["value: T"],
    attrs=["T: type", "var_name: string"],
    shape_fn=_ref_unchanged_shape,
    doc="Ends a temporary variable and gives its final value.",
)
register_op(
    "Assign",
    inputs=["ref: Ref(T)", "value: T"],
    outputs=["output_ref: Ref(T)"],
    attrs=["T: type", "validate_shape: bool = true", "use_locking: bool = true"],
    shape_fn=_assign_shape,
    gradient=NOT_DIFFERENTIABLE,
    allows_uninitialized_input=True,
    doc="ref = value. Gives the reference back.",
)
for _name, _sign in (("AssignAdd", "+"), ("AssignSub", "-")):
    register_op(
        _name,
        inputs=["ref: Ref(T)", "value: T"],
        outputs=["output_ref: Ref(T)"],
        attrs=[f"T: {NUMBERS}", "use_locking: bool = false"],
        shape_fn=_merged_inputs_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=f"ref = ref {_sign} value. Gives the reference back.",
    )
register_op(
    "IsVariableInitialized",
    inputs=["ref: Ref(dtype)"],
    outputs=["is_initialized: bool"],
    attrs=["dtype: type"],
    shape_fn=scalar_shape,
    allows_uninitialized_input=True,
    doc="True when the variable has a value.",
)


def _register_scatter(
    name: str, types: str, locking: str, differentiable_note: bool, doc: str
) -> None:
    register_op(
        name,
        inputs=["ref: Ref(T)", "indices: Tindices", "updates: T"],
        outputs=["output_ref: Ref(T)"],
        attrs=[
            f"T: {types}",
            "Tindices: {int32, int64}",
            f"use_locking: bool = {locking}",
        ],
        shape_fn=_scatter_nd_shape if "Nd" in name else _scatter_shape,
        gradient=NOT_DIFFERENTIABLE if differentiable_note else None,
        doc=doc,
    )


_register_scatter(
    "ScatterUpdate", "type", "true", False, "ref[indices] = updates, by rows."
)
_register_scatter(
    "ScatterAdd", NUMBERS, "false", True, "ref[indices] += updates, by rows."
)
_register_scatter(
    "ScatterSub", NUMBERS, "false", True, "ref[indices] -= updates, by rows."
)
_register_scatter(
    "ScatterMul", NUMBERS, "false", True, "ref[indices] *= updates, by rows."
)
_register_scatter(
    "ScatterDiv", NUMBERS, "false", True, "ref[indices] /= updates, by rows."
)
_register_scatter(
    "ScatterMin", _ORDERED, "false", False, "Rows become the minimum with updates."
)
_register_scatter(
    "ScatterMax", _ORDERED, "false", False, "Rows become the maximum with updates."
)
_register_scatter(
    "ScatterNdUpdate", "type", "true", True, "ref[index vectors] = updates."
)
_register_scatter(
    "ScatterNdAdd", NUMBERS, "false", True, "ref[index vectors] += updates."
)
_register_scatter(
    "ScatterNdSub", NUMBERS, "false", True, "ref[index vectors] -= updates."
)
for _name, _extreme in (("ScatterNdMax", "maximum"), ("ScatterNdMin", "minimum")):
    _register_scatter(
        _name, NUMBERS, "false", False, f"Slices become the {_extreme} with updates."
    )
register_op(
    "CountUpTo",
    inputs=["ref: Ref(T)"],
    outputs=["output: T"],
    attrs=["limit: int", "T: {int32, int64}"],
    shape_fn=_count_up_to_shape,
    doc="Gives the variable's value and adds one; an error when it is at the limit.",
)

# --- builders ----------------------------------------------------------------


def variable_op_v2(
    shape: Any,
    dtype: Any,
    name: str | None = "Variable",
    container: str = "",
    shared_name: str = "",
) -> Any:
    """A VariableV2 node; gives its reference tensor."""
    return apply_op(
        "VariableV2",
        shape=shape,
        dtype=dtype,
        name=name,
        container=container,
        shared_name=shared_name,
    )


def variable_op(
    shape: Any,
    dtype: Any,
    name: str | None = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Any:
    """A node of the old op Variable; gives its reference tensor.

    Args:
      set_shape: without it the tensor's static shape stays unknown.
    """
    made = apply_op(
        "Variable",
        shape=shape if set_shape else TensorShape.of(None),
        dtype=dtype,
        name=name,
        container=container,
        shared_name=shared_name,
    )
    if set_shape:
        made.set_shape(shape)
    return made


def is_variable_initialized(ref: Any, name: str | None = None) -> Any:
    """A scalar bool tensor: whether the variable (of either kind) has a value."""
    if ref.dtype._is_ref_dtype:
        return apply_op("IsVariableInitialized", ref=ref, name=name)
    return ref.is_initialized(name=name)


@export("assign")
def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Assigns `value` to the variable and gives its new value.

    Args:
      ref: a variable, or the reference tensor of one.
      value: a tensor of the variable's dtype, and of its shape unless
        `validate_shape` is False.
    """
    if ref.dtype._is_ref_dtype:
        return apply_op(
            "Assign",
            ref=ref,
            value=value,
            validate_shape=True if validate_shape is None else validate_shape,
            use_locking=True if use_locking is None else use_locking,
            name=name,
        )
    return ref.assign(value, name=name)


@export("assign_add")
def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds `value` to the variable and gives its new value."""
    if ref.dtype._is_ref_dtype:
        return apply_op(
            "AssignAdd",
            ref=ref,
            value=value,
            use_locking=bool(use_locking),
            name=name,
        )
    return ref.assign_add(value)


@export("assign_sub")
def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts `value` from the variable and gives its new value."""
    if ref.dtype._is_ref_dtype:
        return apply_op(
            "AssignSub",
            ref=ref,
            value=value,
            use_locking=bool(use_locking),
            name=name,
        )
    return ref.assign_sub(value)


@export("count_up_to")
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Gives the variable's value and increments it, up to `limit`.

    Raises (when run):
      OutOfRangeError: the variable has reached the limit.
    """
    if ref.dtype._is_ref_dtype:
        return apply_op("CountUpTo", ref=ref, limit=limit, name=name)
    return apply_op(
        "ResourceCountUpTo", resource=ref.handle, limit=limit, T=ref.dtype, name=name
    )
