"""Fractional pooling (Graham 2014, arXiv:1412.6071): ops, gradients and builders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unknown_of_rank
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _pool_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    ratios = c.attrs["pooling_ratio"]
    if len(ratios) != 4:
        c.fail("pooling_ratio field must specify 4 dimensions")
    sizes: list[int | None] = []
    for size, ratio in zip(dims, ratios, strict=True):
        if not ratio >= 1:
            c.fail(f"pooling_ratio must be at least 1, got: {ratio}")
        sizes.append(None if size is None else math.floor(size / ratio))
    # They have one element more; but TensorFlow says so.
    sequences = [TensorShape.of((n,)) for n in (sizes[1], sizes[2])]
    return [TensorShape.of(tuple(sizes)), *sequences]


def _input_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 4)


def _shape_in_input(c: InferenceContext) -> TensorShape:
    # Of any rank: TensorFlow counts the elements when the op runs.
    shape = c.input_value_as_shape(0)
    return unknown_of_rank(4) if shape.rank is None else shape


def _max_grad(
    op: Operation, grad: Tensor, _: Tensor | None, __: Tensor | None
) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "FractionalMaxPoolGrad",
        orig_input=op.inputs[0],
        orig_output=op.outputs[0],
        out_backprop=grad,
        row_pooling_sequence=op.outputs[1],
        col_pooling_sequence=op.outputs[2],
        overlapping=op.get_attr("overlapping"),
    )


def _avg_grad(
    op: Operation, grad: Tensor, _: Tensor | None, __: Tensor | None
) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "FractionalAvgPoolGrad",
        orig_input_tensor_shape=array_ops.shape(op.inputs[0], out_type=dtypes.int64),
        out_backprop=grad,
        row_pooling_sequence=op.outputs[1],
        col_pooling_sequence=op.outputs[2],
        overlapping=op.get_attr("overlapping"),
    )


_TYPES = "T: {float, double, int32, int64}"
_SEQUENCES = ["row_pooling_sequence: int64", "col_pooling_sequence: int64"]

for _kind, _grad, _word in (("Max", _max_grad, "maximum"), ("Avg", _avg_grad, "mean")):
    register_op(
        f"Fractional{_kind}Pool",
        inputs=["value: T"],
        outputs=["output: T", *_SEQUENCES],
        attrs=[
            "pooling_ratio: list(float) >= 4",
            "pseudo_random: bool = false",
            "overlapping: bool = false",
            "deterministic: bool = false",
            "seed: int = 0",
            "seed2: int = 0",
            _TYPES,
        ],
        shape_fn=_pool_shape,
        gradient=_grad,
        stateful=False,
        doc=f"The {_word} of regions of random sizes, and where they start.",
    )

register_op(
    "FractionalMaxPoolGrad",
    inputs=["orig_input: T", "orig_output: T", "out_backprop: T", *_SEQUENCES],
    outputs=["output: T"],
    attrs=["overlapping: bool = false", _TYPES],
    shape_fn=_input_shape,
    doc="The gradient of FractionalMaxPool.",
)

register_op(
    "FractionalAvgPoolGrad",
    inputs=["orig_input_tensor_shape: int64", "out_backprop: T", *_SEQUENCES],
    outputs=["output: T"],
    attrs=["overlapping: bool = false", _TYPES],
    shape_fn=_shape_in_input,
    doc="The gradient of FractionalAvgPool.",
)


def _pool(kind: str, value: Any, options: dict[str, Any], name: str | None) -> Any:
    return apply_op(f"Fractional{kind}Pool", value=value, name=name, **options)


@export("nn.fractional_max_pool")
def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """(output, row_pooling_sequence, col_pooling_sequence): maxima of random regions.

    Args:
      value: [batch, height, width, channels].
      pooling_ratio: four numbers of at least 1, 1 for batch and channels.
      pseudo_random: regions come from one random number, else from a shuffle.
      overlapping: a region takes in the first row and column of the next.
      deterministic: the same regions in each step.
    """
    options = {
        "pooling_ratio": pooling_ratio,
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": deterministic,
        "seed": seed,
        "seed2": seed2,
    }
    return _pool("Max", value, options, name)


@export("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """`fractional_max_pool` with means."""
    options = {
        "pooling_ratio": pooling_ratio,
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": deterministic,
        "seed": seed,
        "seed2": seed2,
    }
    return _pool("Avg", value, options, name)
