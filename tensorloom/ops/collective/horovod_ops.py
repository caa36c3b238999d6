"""Horovod's operations: collectives among the processes of a group, met by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.collective import process_group
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unchanged_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array.concat import split

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_NUMBERS: Final = "T: {int32, int64, half, bfloat16, float, double}"
_ANY: Final = (
    "T: {uint8, int8, uint16, int16, int32, int64, half, bfloat16, float, double, bool}"
)


def _gathered_shape(c: InferenceContext) -> TensorShape:
    """The rows of all processes: how many is known at run time."""
    shape = c.with_rank_at_least(0, 1)
    if shape.dims_tuple is None:
        return UNKNOWN
    return TensorShape.of((None, *shape.dims_tuple[1:]))


def _sum(tensor: Any) -> Any:
    return apply_op("HorovodAllreduce", tensor=tensor)


def _allreduce_grad(op: Any, grad: Any) -> Any:
    return _sum(grad)


def _allgather_grad(op: Any, grad: Any) -> Any:
    """This process's rows of the sum."""
    rows = apply_op("Shape", input=op.inputs[0], out_type=dtypes.int32)[:1]
    group = process_group.current()
    of_each = apply_op("HorovodAllgather", tensor=rows)
    of_each.set_shape([group.size])
    return split(_sum(grad), of_each, num=group.size)[group.rank]


def _broadcast_grad(op: Any, grad: Any) -> Any:
    """The sum for the root, zeros for the others."""
    total = _sum(grad)
    is_root = process_group.current().rank == op.get_attr("root_rank")
    return total if is_root else total * 0


register_op(
    "HorovodAllreduce",
    inputs=["tensor: T"],
    outputs=["sum: T"],
    attrs=[_NUMBERS, "reduce_op: int = 1"],
    shape_fn=unchanged_shape,
    gradient=_allreduce_grad,
    stateful=True,
    doc="The sum of the values of all processes (2: the adaptive sum, Adasum).",
)
register_op(
    "HorovodAllgather",
    inputs=["tensor: T"],
    outputs=["output: T"],
    attrs=[_ANY],
    shape_fn=_gathered_shape,
    gradient=_allgather_grad,
    stateful=True,
    doc="The rows of all processes, one after the other.",
)
register_op(
    "HorovodBroadcast",
    inputs=["tensor: T"],
    outputs=["output: T"],
    attrs=[_ANY, "root_rank: int"],
    shape_fn=unchanged_shape,
    gradient=_broadcast_grad,
    stateful=True,
    doc="The value of process `root_rank`.",
)
for _name in ("Rank", "Size", "LocalRank", "LocalSize"):
    register_op(
        f"Horovod{_name}",
        outputs=[f"{_name.lower()}: int32"],
        shape_fn=scalar_shape,
        gradient=None,
        stateful=True,
        doc="This process's place in its group, when the step runs.",
    )

# What the pass `overlap_allreduces` makes of HorovodAllreduce.
register_op(
    "_AllreduceStart",
    inputs=["tensor: T"],
    outputs=["pending: variant"],
    attrs=[_NUMBERS, "reduce_op: int = 1", "collective: string"],
    shape_fn=scalar_shape,
    gradient=None,
    stateful=True,
    doc="Hands a value in; does not wait for the others.",
)
register_op(
    "_AllreduceWait",
    inputs=["pending: variant"],
    outputs=["sum: T"],
    attrs=[_NUMBERS, "shape: shape"],
    shape_fn=lambda c: c.attrs["shape"],
    gradient=None,
    stateful=True,
    doc="The sum, when all processes have handed theirs in.",
)
