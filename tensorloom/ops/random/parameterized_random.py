"""Random ops whose distributions have parameters by batch; their stateless forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    broadcast_shapes,
    unchanged_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random.counter_random import counter_shape
from tensorloom.ops.random.random_ops import (
    SEEDS,
    seed_attrs,
    shape_argument,
    shape_from_input,
)
from tensorloom.ops.random.stateless_random import seeded_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape

_NUMBERS: Final = "{half, float, double, int32, int64}"


def _truncated_shape(c: InferenceContext) -> TensorShape:
    for index in range(1, 5):
        c.with_rank_at_most(index, 1)
    return shape_from_input(c)


def _stateful_binomial_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank_at_most(3, 1)
    c.with_rank_at_most(4, 1)
    c.with_rank(2, 1)
    return c.input_value_as_shape(2)


def _seeded_and_broadcast(c: InferenceContext) -> TensorShape:
    """The shape ends with what the parameters broadcast to."""
    parameters = c.input_shape(2)
    for index in range(3, c.num_inputs):
        parameters = broadcast_shapes(c, parameters, c.input_shape(index))
    return seeded_shape(c)


def _gamma_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Through the samples to alpha, summed over what alpha was broadcast along."""
    shape, alpha = op.inputs[0], op.inputs[-1]
    sample = op.outputs[0]
    with control_dependencies([grad]):
        partial = apply_op("RandomGammaGrad", alpha=alpha, sample=sample)
        axes = math_ops.range(array_ops.size(shape) - array_ops.rank(alpha))
        summed = math_ops.reduce_sum(grad * partial, axis=axes)
        return [*[None] * (len(op.inputs) - 1), summed]


register_op(
    "ParameterizedTruncatedNormal",
    inputs=[
        "shape: T",
        "means: dtype",
        "stdevs: dtype",
        "minvals: dtype",
        "maxvals: dtype",
    ],
    outputs=["output: dtype"],
    attrs=[*SEEDS, "dtype: {half, bfloat16, float, double}", "T: {int32, int64}"],
    shape_fn=_truncated_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Normal values within bounds; the first dimension has parameters of its own.",
)
register_op(
    "StatelessParameterizedTruncatedNormal",
    inputs=[
        "shape: S",
        "seed: Tseed",
        "means: dtype",
        "stddevs: dtype",
        "minvals: dtype",
        "maxvals: dtype",
    ],
    outputs=["output: dtype"],
    attrs=[
        "S: {int32, int64}",
        "Tseed: {int32, int64} = DT_INT64",
        "dtype: {half, float, double}",
    ],
    shape_fn=_seeded_and_broadcast,
    doc="Normal values within bounds that broadcast to the shape; of the seed alone.",
)
register_op(
    "StatefulRandomBinomial",
    inputs=[
        "resource: resource",
        "algorithm: int64",
        "shape: S",
        "counts: T",
        "probs: T",
    ],
    outputs=["output: dtype"],
    attrs=[
        "S: {int32, int64}",
        f"T: {_NUMBERS} = DT_DOUBLE",
        f"dtype: {_NUMBERS} = DT_INT64",
    ],
    shape_fn=_stateful_binomial_shape,
    stateful=True,
    doc="Successes among trials; the first dimension has parameters of its own.",
)
register_op(
    "StatelessRandomBinomial",
    inputs=["shape: S", "seed: Tseed", "counts: T", "probs: T"],
    outputs=["output: dtype"],
    attrs=[
        "S: {int32, int64}",
        "Tseed: {int32, int64} = DT_INT64",
        f"T: {_NUMBERS} = DT_DOUBLE",
        f"dtype: {_NUMBERS} = DT_INT64",
    ],
    shape_fn=_seeded_and_broadcast,
    gradient=NOT_DIFFERENTIABLE,
    doc="Successes among trials, whose parameters broadcast to the shape.",
)
register_op(
    "StatelessRandomGammaV2",
    inputs=["shape: T", "seed: Tseed", "alpha: dtype"],
    outputs=["output: dtype"],
    attrs=[
        "dtype: {half, bfloat16, float, double}",
        "T: {int32, int64}",
        "Tseed: {int32, int64} = DT_INT64",
    ],
    shape_fn=seeded_shape,
    gradient=_gamma_grad,
    doc="Gamma(alpha, 1) samples whose alphas broadcast to the shape.",
)
register_op(
    "StatelessRandomGammaV3",
    inputs=[
        "shape: shape_dtype",
        "key: uint64",
        "counter: uint64",
        "alg: int32",
        "alpha: dtype",
    ],
    outputs=["output: dtype"],
    attrs=[
        "dtype: {half, bfloat16, float, double}",
        "shape_dtype: {int32, int64} = DT_INT32",
    ],
    shape_fn=counter_shape,
    gradient=_gamma_grad,
    doc="Gamma(alpha, 1) samples, a function of key and counter.",
)
register_op(
    "StatelessShuffle",
    inputs=["value: T", "key: uint64", "counter: uint64", "alg: int32"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    doc="The rows of a tensor in an order that key and counter say.",
)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values of a shape, within bounds given for each of its first dimension.

    Args:
      shape: int32 or int64 vector, [batch, ...].
      means, stddevs, minvals, maxvals: of `dtype`, scalars or [batch].
    """
    given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "parameterized_truncated_normal", [shape, *given.values()]):
        shape_tensor = shape_argument(shape)
        values = [
            convert_to_tensor(value, dtype=dtype, name=key)
            for key, value in given.items()
        ]
        means, stdevs, minvals, maxvals = values
        result: Tensor = apply_op(
            "ParameterizedTruncatedNormal",
            shape=shape_tensor,
            means=means,
            stdevs=stdevs,
            minvals=minvals,
            maxvals=maxvals,
            **seed_attrs(seed),
        )
        return result
