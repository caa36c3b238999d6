"""Several resource variables in one node, as TensorFlow 2.x's own passes join them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import HandleData
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _handles_shape(c: InferenceContext) -> list[TensorShape]:
    held: Any = zip(c.attrs["dtypes"], c.attrs["shapes"], strict=True)
    for index, (dtype, shape) in enumerate(held):
        c.set_output_handle_data(index, HandleData(dtype, shape))
    return [SCALAR] * c.attrs["N"]


def _read_shape(c: InferenceContext) -> list[TensorShape]:
    held = [c.handle_data(index) for index in range(c.attrs["N"])]
    return [UNKNOWN if data is None else data.shape for data in held]


register_op(
    "_VarHandlesOp",
    outputs=["resources: N * resource"],
    attrs=[
        "containers: list(string)",
        "shared_names: list(string)",
        "N: int >= 0",
        "dtypes: list(type)",
        "shapes: list(shape)",
    ],
    shape_fn=_handles_shape,
    stateful=True,
    doc="The handles of resource variables.",
)
register_op(
    "_ReadVariablesOp",
    inputs=["resources: N * resource"],
    outputs=["values: dtypes"],
    attrs=["N: int >= 0", "dtypes: list(type) >= 1"],
    shape_fn=_read_shape,
    stateful=True,
    doc="The variables' values at this moment; later assignments do not change them.",
)
