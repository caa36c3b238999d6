"""One Example read feature by feature gives what a batch of one gives."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.parsing import example_columns, parsing_ops
from tensorloom.kernels.host.parsing.single_example import SingleExample, Unusual
from tensorloom.protos import example_pb2

_KEYS = [b"a", b"b", b"c"]
_DTYPES = [dtypes.int64, dtypes.float32, dtypes.string]
_VALUES = {
    "int64_list": st.integers(-(2**63), 2**63 - 1),
    "float_list": st.floats(width=32, allow_nan=False),
    "bytes_list": st.binary(max_size=9),
}
_ONES: dict[Any, Any] = {
    dtypes.int64: np.int64(1),
    dtypes.float32: np.float32(1),
    dtypes.string: object_scalar(b"one"),
}


@st.composite
def _examples(draw: Any) -> bytes:
    message = example_pb2.Example()
    for key in draw(st.sets(st.sampled_from(_KEYS))):
        feature = message.features.feature[key.decode()]
        kind = draw(st.sampled_from([None, *_VALUES]))
        if kind is not None:
            values = draw(st.lists(_VALUES[kind], max_size=4))
            getattr(feature, kind).SetInParent()
            getattr(feature, kind).value.extend(values)
    return bytes(message.SerializeToString())


@st.composite
def _dense_features(draw: Any) -> tuple[Any, ...]:
    """(key, dtype, shape, default)."""
    dtype = draw(st.sampled_from(_DTYPES))
    shape = draw(st.sampled_from([(), (1,), (2,), (2, 2), (0,), (None,), (None, 2)]))
    has_default = draw(st.booleans())
    default = np.empty((0,), dtype.as_numpy_dtype)
    if has_default:
        default = _ONES[dtype]
        if shape and shape[0] is not None:
            default = np.full(shape, default[()], dtype.as_numpy_dtype)
    return draw(st.sampled_from(_KEYS)), dtype, shape, default


def _both(
    text: bytes, sparse: list[Any], dense: list[Any]
) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """(what one message gives, what a batch of it gives), None for neither."""
    one = batch = None
    single = SingleExample(sparse, [feature[:3] for feature in dense])
    defaults = [feature[3] for feature in dense]
    with contextlib.suppress(Unusual):
        one = single.read(text, defaults)
    features = parsing_ops.Features(
        [dtype for _, dtype in sparse],
        [feature[1] for feature in dense],
        [TensorShape(feature[2]) for feature in dense],
    )
    keys = [key for key, _ in sparse], [feature[0] for feature in dense], list[bytes]()
    with contextlib.suppress(errors.InvalidArgumentError):
        found = features.parse([text], example_columns.OnlyOne(), keys, defaults)
        batch = parsing_ops.unbatched(found, features)
    return one, batch


@settings(max_examples=150, deadline=None)
@given(
    text=_examples(),
    sparse=st.lists(st.tuples(st.sampled_from(_KEYS), st.sampled_from(_DTYPES))),
    dense=st.lists(_dense_features(), max_size=3),
)
def test_like_a_batch_of_one(text: bytes, sparse: list[Any], dense: list[Any]) -> None:
    one, batch = _both(text, sparse, dense)
    if one is None:
        return
    assert batch is not None
    for mine, other in zip(one, batch, strict=True):
        assert type(mine) is type(other)
        assert mine.dtype == other.dtype
        assert mine.shape == other.shape
        assert mine.tolist() == other.tolist()


def _text(**lists: Any) -> bytes:
    message = example_pb2.Example()
    for key, (kind, values) in lists.items():
        getattr(message.features.feature[key], kind).value.extend(values)
    return bytes(message.SerializeToString())


_NONE = np.empty((0,), np.float32)


@pytest.mark.parametrize(
    ("sparse", "dense"),
    [
        ([], [(b"a", dtypes.float32, (2,), _NONE)]),
        ([], [(b"a", dtypes.float32, (2, 1), np.ones((2, 1), np.float32))]),
        ([], [(b"missing", dtypes.float32, (), np.float32(1))]),
        ([], [(b"a", dtypes.float32, (None,), _NONE)]),
        ([(b"b", dtypes.string), (b"missing", dtypes.int64)], []),
    ],
)
def test_what_is_there_needs_no_closer_look(sparse: Any, dense: Any) -> None:
    text = _text(a=("float_list", [1.0, 2.0]), b=("bytes_list", [b"x"]))
    one, batch = _both(text, sparse, dense)
    assert one is not None
    assert batch is not None


@pytest.mark.parametrize(
    ("sparse", "dense"),
    [
        ([], [(b"a", dtypes.int64, (2,), _NONE)]),
        ([], [(b"a", dtypes.float32, (3,), _NONE)]),
        ([], [(b"a", dtypes.float32, (None, 3), _NONE)]),
        ([], [(b"missing", dtypes.float32, (), _NONE)]),
        ([], [(b"missing", dtypes.float32, (0,), _NONE)]),
        ([], [(b"a", dtypes.float32, (2,), np.ones(3, np.float32))]),
        ([(b"a", dtypes.string)], []),
    ],
)
def test_what_is_refused_needs_a_closer_look(sparse: Any, dense: Any) -> None:
    text = _text(a=("float_list", [1.0, 2.0]))
    assert _both(text, sparse, dense) == (None, None)


@pytest.mark.parametrize(
    "single",
    [
        SingleExample([(b"a", dtypes.float32), (b"a", dtypes.float32)], []),
        SingleExample([(b"\xff", dtypes.float32)], []),
        SingleExample([(b"a", dtypes.float32)], []),
    ],
    ids=["a key twice", "a key that is no text", "long lists"],
)
def test_unusual(single: SingleExample) -> None:
    with pytest.raises(Unusual):
        single.read(_text(a=("float_list", [0.0] * 3000)), [])


def test_no_message() -> None:
    with pytest.raises(Unusual):
        SingleExample([], []).read(b"\xff", [])
