"""Random numbers: ops that fill a shape, shuffle rows or sample categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_shapes,
    unchanged_shape,
)
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import with_given_shape
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

NUMBERS = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)
SEEDS = ("seed: int = 0", "seed2: int = 0")

# --- ops ---------------------------------------------------------------------


def shape_from_input(c: InferenceContext) -> TensorShape:
    """The shape that is the first input."""
    c.with_rank(0, 1)
    return c.input_value_as_shape(0)


def _random_uniform_int_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank(2, 0)
    return shape_from_input(c)


def _multinomial_shape(c: InferenceContext) -> TensorShape:
    batch = c.with_rank(0, 2).dims_tuple
    c.with_rank(1, 0)
    assert batch is not None
    value = c.input_value(1)
    if value is None:
        return TensorShape.of((batch[0], None))
    if value < 0:
        c.fail(
            "Dimension size, given by scalar input 1, must be non-negative but is "
            f"{int(value)}"
        )
    return TensorShape.of((batch[0], int(value)))


def _shape_then_parameter(c: InferenceContext) -> TensorShape:
    """The sample shape, followed by the shape of the distribution's parameter."""
    return shape_from_input(c).concatenate(c.input_shape(1))


for _op, _doc in (
    ("RandomUniform", "Floats in [0, 1), in the given shape."),
    ("RandomStandardNormal", "Floats of the standard normal distribution."),
    ("TruncatedNormal", "Standard normal floats, those beyond 2 drawn again."),
):
    register_op(
        _op,
        inputs=["shape: T"],
        outputs=["output: dtype"],
        attrs=[
            *SEEDS,
            "dtype: {half, bfloat16, float, double}",
            "T: {int32, int64}",
        ],
        shape_fn=shape_from_input,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        doc=_doc,
    )

register_op(
    "RandomUniformInt",
    inputs=["shape: T", "minval: Tout", "maxval: Tout"],
    outputs=["output: Tout"],
    attrs=[*SEEDS, "Tout: {int32, int64}", "T: {int32, int64}"],
    shape_fn=_random_uniform_int_shape,
    stateful=True,
    doc="Integers in [minval, maxval), in the given shape.",
)

register_op(
    "RandomShuffle",
    inputs=["value: T"],
    outputs=["output: T"],
    attrs=[*SEEDS, "T: type"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The value with its rows (first dimension) in a random order.",
)

register_op(
    "Multinomial",
    inputs=["logits: T", "num_samples: int32"],
    outputs=["output: output_dtype"],
    attrs=[*SEEDS, f"T: {NUMBERS}", "output_dtype: {int32, int64} = DT_INT64"],
    shape_fn=_multinomial_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Class indices [batch, num_samples] from unnormalized log probabilities.",
)


def _random_gamma_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Through the samples to alpha, summed over the sample dimensions."""
    shape, alpha = op.inputs
    with control_dependencies([grad]):
        sample_rank = array_ops.shape(shape)[0]
        ones = array_ops.ones([sample_rank], dtype=dtypes.int32)
        leading = array_ops.concat([ones, array_ops.shape(alpha)], axis=0)
        expanded = array_ops.reshape(alpha, leading)
        partial = apply_op("RandomGammaGrad", alpha=expanded, sample=op.outputs[0])
        product = grad * partial
        axes = math_ops.range(sample_rank)
        return [None, math_ops.reduce_sum(product, axis=axes)]


def _broadcast_to_sample(c: InferenceContext) -> TensorShape:
    return broadcast_shapes(c, c.input_shape(0), c.input_shape(1))


register_op(
    "RandomGammaGrad",
    inputs=["alpha: T", "sample: T"],
    outputs=["output: T"],
    attrs=["T: {float, double}"],
    shape_fn=_broadcast_to_sample,
    doc="The derivative of a Gamma(alpha, 1) sample with respect to alpha.",
)

register_op(
    "RandomGamma",
    inputs=["shape: S", "alpha: T"],
    outputs=["output: T"],
    attrs=[*SEEDS, "S: {int32, int64}", "T: {half, float, double}"],
    shape_fn=_shape_then_parameter,
    gradient=_random_gamma_grad,
    stateful=True,
    doc="Gamma(alpha, 1) samples, of shape `shape + alpha.shape`.",
)

register_op(
    "RandomPoissonV2",
    inputs=["shape: S", "rate: R"],
    outputs=["output: dtype"],
    attrs=[
        *SEEDS,
        "S: {int32, int64}",
        "R: {half, float, double, int32, int64} = DT_DOUBLE",
        "dtype: {half, float, double, int32, int64} = DT_INT64",
    ],
    shape_fn=_shape_then_parameter,
    stateful=True,
    doc="Poisson(rate) samples, of shape `shape + rate.shape`.",
)

register_op(
    "RandomPoisson",
    inputs=["shape: S", "rate: dtype"],
    outputs=["output: dtype"],
    attrs=[*SEEDS, "S: {int32, int64}", "dtype: {half, float, double}"],
    shape_fn=_shape_then_parameter,
    stateful=True,
    deprecated=(25, "Replaced by RandomPoissonV2"),
    doc="Poisson(rate) samples, as floats.",
)

# --- builders ----------------------------------------------------------------


def seed_attrs(seed: int | None) -> dict[str, Any]:
    """The attrs `seed` and `seed2` of the next op with this op seed."""
    seed1, seed2 = get_seed(seed)
    return {"seed": seed1 or 0, "seed2": seed2 or 0}


def shape_argument(shape: Any) -> Tensor:
    """A shape as a tensor; an empty list is int32, and Dimensions are unwrapped."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        if not shape:
            dtype = dtypes.int32
        else:
            shape = tuple(map(dimension_value, shape))
    return convert_to_tensor(shape, dtype=dtype, name="shape")


@export("random.normal", "random_normal")
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values of the given mean and standard deviation, in the given shape."""
    return _scaled_normal(
        "RandomStandardNormal", "random_normal", shape, mean, stddev, dtype, seed, name
    )


@export("random.truncated_normal", "truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values within two standard deviations of the mean."""
    return _scaled_normal(
        "TruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, seed, name
    )


def _scaled_normal(
    op: str,
    scope: str,
    shape: Any,
    mean: Any,
    stddev: Any,
    dtype: Any,
    seed: int | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, scope, [shape, mean, stddev]) as name:
        shape_tensor = shape_argument(shape)
        mean_tensor = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev_tensor = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        seeds = seed_attrs(seed)
        values = apply_op(op, shape=shape_tensor, dtype=dtype, **seeds)
        scaled = math_ops.add(values * stddev_tensor, mean_tensor, name=name)
        return with_given_shape(scaled, shape_tensor)


_UNIFORM_TYPES = frozenset(
    [
        dtypes.float16,
        dtypes.bfloat16,
        dtypes.float32,
        dtypes.float64,
        dtypes.int32,
        dtypes.int64,
    ]
)


@export("random.uniform", "random_uniform")
def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform values in [minval, maxval), floats (by default in [0, 1)) or integers.

    Raises:
      ValueError: the dtype is none of the float types, int32 and int64, or maxval is
        absent for integers.
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape_tensor = shape_argument(shape)
        low = convert_to_tensor(minval, dtype=dtype, name="min")
        high = convert_to_tensor(maxval, dtype=dtype, name="max")
        seeds = seed_attrs(seed)
        if dtype.is_integer:
            result = apply_op(
                "RandomUniformInt",
                shape=shape_tensor,
                minval=low,
                maxval=high,
                name=name,
                **seeds,
            )
        else:
            values = apply_op("RandomUniform", shape=shape_tensor, dtype=dtype, **seeds)
            result = math_ops.add(values * (high - low), low, name=name)
        return with_given_shape(result, shape_tensor)


@export("random.shuffle", "random_shuffle")
def random_shuffle(
    value: Any, seed: int | None = None, name: str | None = None
) -> Tensor:
    """The value with its rows (first dimension) in a random order."""
    return apply_op("RandomShuffle", value=value, name=name, **seed_attrs(seed))  # type: ignore[no-any-return]


@export("image.random_crop", "random_crop")
def random_crop(
    value: Any, size: Any, seed: int | None = None, name: str | None = None
) -> Tensor:
    """A slice of shape `size` from a random place of the value.

    Running it raises InvalidArgumentError when the value is smaller than `size`.
    """
    from tensorloom.ops.control_flow import builders as control_flow_ops

    with name_scope(name, "random_crop", [value, size]) as name:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = array_ops.shape(value)
        check = control_flow_ops.Assert(
            math_ops.reduce_all(shape >= size),
            ["Need value.shape >= size, got ", shape, size],
            summarize=1000,
        )
        shape = control_flow_ops.with_dependencies([check], shape)
        limit = shape - size + 1
        offset = (
            random_uniform(
                array_ops.shape(shape),
                dtype=size.dtype,
                maxval=size.dtype.max,
                seed=seed,
            )
            % limit
        )
        return array_ops.slice(value, offset, size, name=name)


@export("random.multinomial", "multinomial")
def multinomial(
    logits: Any,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Class indices [batch, num_samples] from logits [batch, classes]."""
    with name_scope(name, "multinomial", [logits]):
        return _categorical(logits, num_samples, output_dtype, seed)


@export("random.categorical")
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Class indices [batch, num_samples] from logits [batch, classes]."""
    with name_scope(name, "categorical", [logits]):
        return _categorical(logits, num_samples, dtype, seed)


def _categorical(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return apply_op(  # type: ignore[no-any-return]
        "Multinomial",
        logits=logits,
        num_samples=num_samples,
        output_dtype=dtypes.int64 if dtype is None else dtype,
        **seed_attrs(seed),
    )


@export("random.gamma", "random_gamma")
def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma samples of shape `shape + (alpha + beta).shape`; beta is the rate."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        broadcast = alpha + array_ops.zeros_like(beta)
        seeds = seed_attrs(seed)
        samples = apply_op("RandomGamma", shape=shape, alpha=broadcast, **seeds)
        result = math_ops.maximum(_smallest_normal(alpha.dtype), samples / beta)
        return with_given_shape(result, shape, broadcast)


def _smallest_normal(dtype: DType) -> Any:
    return np.finfo(dtype.as_numpy_dtype).tiny


@export("random.poisson", "random_poisson")
def random_poisson(
    lam: Any,
    shape: Any,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Poisson samples of shape `shape + lam.shape`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        samples = apply_op(
            "RandomPoissonV2",
            shape=shape,
            rate=lam,
            dtype=dtype,
            **seed_attrs(seed),
        )
        return with_given_shape(samples, shape, samples.op.inputs[1])
