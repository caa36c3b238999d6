"""Random numbers that are functions of a seed alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import with_given_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.math import math_ops
from tensorloom.ops.random.random_ops import NUMBERS

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_SEED: Final = "Tseed: {int32, int64} = DT_INT64"


def seeded_shape(c: InferenceContext) -> TensorShape:
    """Of an op over (shape, seed): the shape that input 0 is."""
    seed = c.with_rank(1, 1).dims_tuple
    assert seed is not None
    c.with_value(seed[0], 2)
    c.with_rank(0, 1)
    return c.input_value_as_shape(0)


def _bounded_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(2, 0)
    c.with_rank(3, 0)
    return seeded_shape(c)


def _multinomial_shape(c: InferenceContext) -> TensorShape:
    seed = c.with_rank(2, 1).dims_tuple
    assert seed is not None
    c.with_value(seed[0], 2)
    batch = c.with_rank(0, 2).dims_tuple
    c.with_rank(1, 0)
    assert batch is not None
    count = c.input_value(1)
    if count is not None and count < 0:
        c.fail(
            "Dimension size, given by scalar input 1, must be non-negative but is "
            f"{int(count)}"
        )
    return TensorShape.of((batch[0], None if count is None else int(count)))


for _op, _doc in (
    ("StatelessRandomUniform", "Floats in [0, 1)."),
    ("StatelessRandomNormal", "Floats of the standard normal distribution."),
    ("StatelessTruncatedNormal", "Standard normal floats, those beyond 2 drawn again."),
):
    register_op(
        _op,
        inputs=["shape: T", "seed: Tseed"],
        outputs=["output: dtype"],
        attrs=[
            "dtype: {half, bfloat16, float, double} = DT_FLOAT",
            "T: {int32, int64} = DT_INT32",
            _SEED,
        ],
        shape_fn=seeded_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=_doc,
    )

register_op(
    "StatelessRandomUniformInt",
    inputs=["shape: T", "seed: Tseed", "minval: dtype", "maxval: dtype"],
    outputs=["output: dtype"],
    attrs=["dtype: {int32, int64}", "T: {int32, int64}", _SEED],
    shape_fn=_bounded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Integers in [minval, maxval).",
)

register_op(
    "StatelessMultinomial",
    inputs=["logits: T", "num_samples: int32", "seed: Tseed"],
    outputs=["output: output_dtype"],
    attrs=[f"T: {NUMBERS}", _SEED, "output_dtype: {int32, int64} = DT_INT64"],
    shape_fn=_multinomial_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Class indices [batch, num_samples] from unnormalized log probabilities.",
)


def _shape_tensor(shape: Any) -> Tensor:
    """A shape as an int32 vector (int64 where it comes so)."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        dtype = dtypes.int32 if not shape else None
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
        dtype = dtypes.int32
    return convert_to_tensor(shape, dtype=dtype, name="shape")


@export("random.stateless_uniform")
def stateless_random_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Numbers in [minval, maxval) that depend on seed, two integers, alone.

    Raises:
      ValueError: an integer dtype without maxval, or a dtype that has no numbers.
    """
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype in (dtypes.int32, dtypes.int64)):
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    inputs = [shape, seed, minval, maxval]
    with name_scope(name, "stateless_random_uniform", inputs) as scope:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype=dtype, name="min")
        high = convert_to_tensor(maxval, dtype=dtype, name="max")
        result: Tensor
        if dtype.is_integer:
            result = apply_op(
                "StatelessRandomUniformInt",
                shape=shape,
                seed=seed,
                minval=low,
                maxval=high,
                name=scope,
            )
            return with_given_shape(result, shape)
        unit = apply_op("StatelessRandomUniform", shape=shape, seed=seed, dtype=dtype)
        result = math_ops.add(unit * (high - low), low, name=scope)
        return with_given_shape(result, shape)


def _scaled(
    op: str,
    default: str,
    shape: Any,
    seed: Any,
    mean: Any,
    stddev: Any,
    dtype: Any,
    name: str | None,
) -> Tensor:
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        shape = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        unit = apply_op(op, shape=shape, seed=seed, dtype=dtype)
        result: Tensor = math_ops.add(unit * stddev, mean, name=scope)
        return with_given_shape(result, shape)


@export("random.stateless_normal")
def stateless_random_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normal numbers that depend on seed, two integers, alone."""
    op, scope = "StatelessRandomNormal", "stateless_random_normal"
    return _scaled(op, scope, shape, seed, mean, stddev, dtype, name)


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normal numbers within two deviations, that depend on seed alone."""
    op, scope = "StatelessTruncatedNormal", "stateless_truncated_normal"
    return _scaled(op, scope, shape, seed, mean, stddev, dtype, name)


def _categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    result: Tensor = apply_op(
        "StatelessMultinomial",
        logits=logits,
        num_samples=num_samples,
        seed=seed,
        output_dtype=dtype,
    )
    return result


@export("random.stateless_multinomial")
def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Class indices [batch, num_samples] that depend on seed alone."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _categorical(logits, num_samples, seed, output_dtype)


@export("random.stateless_categorical")
def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Class indices [batch, num_samples] that depend on seed alone."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _categorical(logits, num_samples, seed, dtype)
