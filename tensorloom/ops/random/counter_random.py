"""Random numbers from generators whose state is in plain sight.

Stateless ones get key and counter (V2 of `stateless_random_ops`); stateful ones keep
them in a resource variable, an int64 vector: two words of counter, one of key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_FLOATS: Final = "{half, bfloat16, float, double}"
_INTS: Final = "{int32, int64, uint32, uint64}"
_COUNTER: Final = ("key: uint64", "counter: uint64", "alg: int32")


def counter_shape(c: InferenceContext) -> TensorShape:
    """The shape that is the first input; key, counter and algorithm follow it."""
    c.with_rank(0, 1)
    c.with_rank(1, 1)
    c.with_rank(2, 1)
    c.with_rank(3, 0)
    return c.input_value_as_shape(0)


def _seeded_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 1)
    return c.input_value_as_shape(0)


def _stateful_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    if c.op_name == "StatefulStandardNormal":
        c.with_rank(1, 1)
        return c.input_value_as_shape(1)
    # The algorithm, and the bounds of integers.
    for index in (1, *range(3, c.num_inputs)):
        c.with_rank(index, 0)
    c.with_rank(2, 1)
    return c.input_value_as_shape(2)


def _skip_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    for index in range(3):
        c.with_rank(index, 0)
    return ()


def _key_counter_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 1).dims_tuple
    assert dims is not None
    c.with_value(dims[0], 2)
    shapes = [TensorShape.of((1,)), TensorShape.of((2,)), TensorShape.of(())]
    return shapes[: c.num_outputs]


# --- stateless -------------------------------------------------------------------

_V2: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("RandomUniform", (), f"dtype: {_FLOATS} = DT_FLOAT", "Floats in [0, 1)."),
    ("RandomNormal", (), f"dtype: {_FLOATS} = DT_FLOAT", "Standard normal floats."),
    (
        "TruncatedNormal",
        (),
        f"dtype: {_FLOATS} = DT_FLOAT",
        "Standard normal floats, those beyond 2 drawn again.",
    ),
    (
        "RandomUniformInt",
        ("minval: dtype", "maxval: dtype"),
        f"dtype: {_INTS}",
        "Integers in [minval, maxval).",
    ),
    (
        "RandomUniformFullInt",
        (),
        f"dtype: {_INTS} = DT_UINT64",
        "Integers over the whole range of their dtype.",
    ),
)
for _op, _bounds, _dtype, _doc in _V2:
    register_op(
        f"Stateless{_op}V2",
        inputs=["shape: Tshape", *_COUNTER, *_bounds],
        outputs=["output: dtype"],
        attrs=[_dtype, "Tshape: {int32, int64} = DT_INT32"],
        shape_fn=counter_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=f"{_doc} A function of key and counter.",
    )

register_op(
    "StatelessRandomUniformFullInt",
    inputs=["shape: T", "seed: Tseed"],
    outputs=["output: dtype"],
    attrs=[
        f"dtype: {_INTS} = DT_UINT64",
        "T: {int32, int64} = DT_INT32",
        f"Tseed: {_INTS} = DT_INT64",
    ],
    shape_fn=_seeded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Integers over the whole range of their dtype. A function of the seed.",
)
register_op(
    "StatelessRandomPoisson",
    inputs=["shape: T", "seed: Tseed", "lam: Rtype"],
    outputs=["output: dtype"],
    attrs=[
        "Rtype: {half, float, double, int32, int64}",
        "dtype: {half, float, double, int32, int64}",
        "T: {int32, int64}",
        "Tseed: {int32, int64} = DT_INT64",
    ],
    shape_fn=_seeded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Poisson samples whose rates broadcast to the shape.",
)
register_op(
    "StatelessRandomGetKeyCounter",
    inputs=["seed: Tseed"],
    outputs=["key: uint64", "counter: uint64"],
    attrs=["Tseed: {int32, int64} = DT_INT64"],
    shape_fn=_key_counter_shape,
    doc="Key and counter of a seed.",
)
register_op(
    "StatelessRandomGetKeyCounterAlg",
    inputs=["seed: Tseed"],
    outputs=["key: uint64", "counter: uint64", "alg: int32"],
    attrs=["Tseed: {int32, int64} = DT_INT64"],
    shape_fn=_key_counter_shape,
    doc="Key, counter and algorithm of a seed.",
)
register_op(
    "StatelessRandomGetAlg",
    outputs=["alg: int32"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The algorithm of the device: 1 is Philox.",
)

# --- with a state ----------------------------------------------------------------


_DEPRECATED = {"StatefulStandardNormal": (29, "Use StatefulStandardNormalV2 instead")}


def _register_stateful(op: str, inputs: tuple[str, ...], dtype: str, doc: str) -> None:
    register_op(
        op,
        inputs=["resource: resource", *inputs],
        outputs=["output: dtype"],
        attrs=[f"dtype: type = {dtype}", "shape_dtype: type = DT_INT64"],
        shape_fn=_stateful_shape,
        stateful=True,
        deprecated=_DEPRECATED.get(op),
        doc=doc,
    )


_SHAPED: Final = ("algorithm: int64", "shape: shape_dtype")
for _args in (
    ("StatefulUniform", _SHAPED, "DT_FLOAT", "Floats in [0, 1)."),
    (
        "StatefulUniformInt",
        (*_SHAPED, "minval: dtype", "maxval: dtype"),
        "DT_INT64",
        "Integers in [minval, maxval).",
    ),
    (
        "StatefulUniformFullInt",
        _SHAPED,
        "DT_UINT64",
        "Integers over the whole range of their dtype.",
    ),
    (
        "StatefulStandardNormal",
        ("shape: shape_dtype",),
        "DT_FLOAT",
        "Standard normal floats.",
    ),
    ("StatefulStandardNormalV2", _SHAPED, "DT_FLOAT", "Standard normal floats."),
    (
        "StatefulTruncatedNormal",
        _SHAPED,
        "DT_FLOAT",
        "Standard normal floats, those beyond 2 drawn again.",
    ),
):
    _register_stateful(*_args)

register_op(
    "RngSkip",
    inputs=["resource: resource", "algorithm: int64", "delta: int64"],
    shape_fn=_skip_shape,
    stateful=True,
    doc="Moves a generator on, as `delta` outputs would.",
)


def _read_and_skip_shape(c: InferenceContext) -> Any:
    for i in range(3):
        c.with_rank(i, 0)
    return TensorShape.of((3,))


register_op(
    "RngReadAndSkip",
    inputs=["resource: resource", "alg: int32", "delta: uint64"],
    outputs=["value: int64"],
    shape_fn=_read_and_skip_shape,
    stateful=True,
    doc="The state of a generator, which is then moved on.",
)
register_op(
    "NonDeterministicInts",
    inputs=["shape: shape_dtype"],
    outputs=["output: dtype"],
    attrs=["dtype: type = DT_INT64", "shape_dtype: type = DT_INT64"],
    shape_fn=lambda c: c.input_value_as_shape(0),
    stateful=True,
    doc="Integers from the operating system's source of randomness.",
)
