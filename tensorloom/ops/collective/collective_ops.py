"""Collective operations: values of a group of devices, combined and given to all.

The members of a group are nodes of one step with the same group and instance keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unchanged_shape
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_NUMBERS: Final = "T: {float, half, double, int32, int64, bfloat16}"
_GROUP: Final = ("group_size: int", "group_key: int", "instance_key: int")
_GROUP_INPUTS: Final = (
    "group_size: int32",
    "group_key: int32",
    "instance_key: int32",
)
_HINT: Final = "communication_hint: string = 'auto'"
_TIMEOUT: Final = "timeout_seconds: float = 0.0"
_MERGE: Final = ("merge_op: {'Min', 'Max', 'Mul', 'Add'}", "final_op: {'Id', 'Div'}")
_ORDER: Final = ("is_stateless: bool = false", "Nordering_token: int >= 0 = 0")


def _attr_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


def _gathered_rows_shape(c: InferenceContext) -> TensorShape:
    """The rows of `group_size` members that have as many as this one."""
    shape = c.with_rank_at_least(0, 1)
    if shape.dims_tuple is None:
        return UNKNOWN
    first = shape.dims_tuple[0]
    rows = None if first is None else first * c.attrs["group_size"]
    return TensorShape.of((rows, *shape.dims_tuple[1:]))


def _gathered_shape(c: InferenceContext) -> TensorShape:
    """The rows of all members; how many is known at run time."""
    shape = c.input_shape(0)
    if not shape.rank:
        return UNKNOWN
    return TensorShape.of((None,)).concatenate(shape[1:])


def _shape_input(c: InferenceContext) -> TensorShape:
    return c.input_value_as_shape(3)


def _register(
    op: str, inputs: Any, attrs: Any, shape_fn: Any, doc: str, output: str = "data: T"
) -> None:
    register_op(
        op,
        inputs=[*inputs],
        outputs=[output],
        attrs=[*attrs],
        shape_fn=shape_fn,
        stateful=True,
        doc=doc,
    )


_register(
    "CollectiveReduce",
    ("input: T",),
    (
        _NUMBERS,
        *_GROUP,
        *_MERGE,
        "subdiv_offsets: list(int)",
        "wait_for: list(int) = []",
        _HINT,
        _TIMEOUT,
    ),
    unchanged_shape,
    "The sum, or another reduction, of the members' values.",
)


def _shapes_of_values(c: InferenceContext) -> list[TensorShape]:
    return [c.input_shape(i) for i in range(c.attrs["N"])]


register_op(
    "_CollectiveReduceMany",
    inputs=["values: N * T"],
    outputs=["data: N * T"],
    attrs=[
        *(_NUMBERS, "N: int >= 1", "group_size: int", "group_key: int"),
        *("instance_keys: list(int)", *_MERGE, "subdiv_offsets: list(int)"),
        *(_HINT, _TIMEOUT),
    ],
    shape_fn=_shapes_of_values,
    stateful=True,
    doc="The reductions of several values, which travel together if they can.",
)
_register(
    "CollectiveGather",
    ("input: T",),
    (_NUMBERS, *_GROUP, "shape: shape", _HINT, _TIMEOUT),
    _gathered_rows_shape,
    "The members' values one after the other along dimension 0.",
)
_BOOLS: Final = "T: {float, half, double, int32, int64, bool}"
_register(
    "CollectiveBcastSend",
    ("input: T",),
    (_BOOLS, *_GROUP, "shape: shape", _HINT, _TIMEOUT),
    _attr_shape,
    "Gives a value to the other members.",
)
_register(
    "CollectiveBcastRecv",
    (),
    (_BOOLS, *_GROUP, "shape: shape", _HINT, _TIMEOUT),
    _attr_shape,
    "The value that a member gives.",
)

_TOKENS: Final = "ordering_token: Nordering_token * resource"
for _op, _attrs, _shape_fn, _doc in (
    (
        "CollectiveReduceV2",
        (*_MERGE, _HINT, _TIMEOUT, *_ORDER, "max_subdivs_per_device: int = -1"),
        unchanged_shape,
        "The sum, or another reduction, of the members' values.",
    ),
    (
        "CollectiveReduceScatterV2",
        (*_MERGE, _HINT, _TIMEOUT, *_ORDER, "max_subdivs_per_device: int = -1"),
        _gathered_shape,
        "This member's part of the reduction of the members' values.",
    ),
    (
        "CollectiveGatherV2",
        (_HINT, _TIMEOUT, *_ORDER),
        _gathered_shape,
        "The members' values one after the other along dimension 0.",
    ),
    (
        "CollectiveAllToAllV2",
        (_HINT, _TIMEOUT, *_ORDER),
        unchanged_shape,
        "Part i of each member's value, for member i.",
    ),
):
    _register(
        _op,
        ("input: T", *_GROUP_INPUTS, _TOKENS),
        (_NUMBERS, *_attrs),
        _shape_fn,
        _doc,
    )
_register(
    "CollectiveBcastSendV2",
    ("input: T", *_GROUP_INPUTS),
    (_BOOLS, _HINT, _TIMEOUT),
    unchanged_shape,
    "Gives a value to the other members.",
)
_register(
    "CollectiveBcastRecvV2",
    (*_GROUP_INPUTS, "shape: Tshape"),
    (_BOOLS, "Tshape: {int32, int64} = DT_INT32", _HINT, _TIMEOUT),
    _shape_input,
    "The value that a member gives.",
)

_register(
    "CollectiveReduceV3",
    ("input: T", "communicator: resource", "group_assignment: int32"),
    (_NUMBERS, "reduction: {'Min', 'Max', 'Mul', 'Add'}", _TIMEOUT),
    unchanged_shape,
    "The sum, or another reduction, of the values of a communicator's members.",
)
_register(
    "CollectiveAllToAllV3",
    ("input: T", "communicator: resource", "group_assignment: int32"),
    (_NUMBERS, _TIMEOUT),
    unchanged_shape,
    "Part i of each member's value, for member i.",
)
_register(
    "CollectiveInitializeCommunicator",
    ("group_key: int32", "rank: int32", "group_size: int32"),
    (_HINT, _TIMEOUT),
    scalar_shape,
    "A member's place in a group.",
    "communicator: resource",
)
register_op(
    "CollectiveAssignGroupV2",
    inputs=["group_assignment: int32", "device_index: int32", "base_key: int32"],
    outputs=["group_size: int32", "group_key: int32"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Size and key of the group that a device belongs to.",
)
