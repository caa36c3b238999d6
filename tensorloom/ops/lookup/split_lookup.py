"""Splitting strings and looking their words up, in one op; a pass of the master
builds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    c.with_rank(1, 1)
    c.with_rank(2, 0)
    return [UNKNOWN, TensorShape.of((None, 2)), TensorShape.of((2,))]


register_op(
    "_SplitAndFind",
    inputs=[
        *("table_handle: resource", "input: string"),
        *("sep: string", "default_value: Tout"),
    ],
    outputs=["values: Tout", "indices: int64", "shape: int64"],
    attrs=[
        "Tout: type",
        "split: {'StringSplit', 'StringSplitV2'}",
        "skip_empty: bool = true",
        "maxsplit: int = -1",
    ],
    shape_fn=_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A table's values of the words of strings, as a sparse matrix.",
)
