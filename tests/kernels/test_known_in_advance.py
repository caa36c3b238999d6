"""Host kernels made for static shapes and constants, beside those made for any."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import OpKernelConstruction, find_kernels
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.array.buffer_forwarding import is_maker
from tensorloom.kernels.host.linalg import blas_threads
from tensorloom.kernels.host.linalg.blas_threads import BlasThreads
from tests.kernels.math.math_ops_calls import call_host, construction

F = np.float32


def _made_for(
    op: str, inputs: Sequence[Any], constants: Sequence[int], **attrs: Any
) -> OpKernelConstruction:
    return dataclasses.replace(
        construction(op, list(inputs), **attrs),
        input_shapes=tuple([TensorShape.of(np.shape(x)) for x in inputs]),
        input_constants=tuple(
            [np.asarray(x) if i in constants else None for i, x in enumerate(inputs)]
        ),
    )


def _call_made_for(
    op: str, inputs: Sequence[Any], constants: Sequence[int], **attrs: Any
) -> Any:
    """What the kernel gives that was made for these shapes and constant inputs."""
    c = _made_for(op, inputs, constants, **attrs)
    _, definition = find_kernels(op, c.attrs, "CPU")
    assert definition is not None
    with np.errstate(all="ignore"):
        return definition.factory(c)(*inputs)


_X = np.arange(24, dtype=F).reshape(4, 6)


@pytest.mark.parametrize(
    ("op", "inputs", "constants"),
    [
        ("Reshape", [_X, np.array([2, -1], np.int32)], [1]),
        ("Reshape", [_X, np.array([2, -1], np.int32)], []),
        ("Reshape", [_X[:1, :1], np.array([], np.int32)], [1]),
        ("Reshape", [_X[:0], np.array([0, 5], np.int64)], [1]),
        ("Sum", [_X, np.array([-1, 1], np.int32)], [1]),
        ("Mean", [_X, np.array([0, 1], np.int32)], [1]),
        ("Mean", [_X[:0], np.int64(0)], [1]),
        ("Max", [_X, np.array([], np.int32)], [1]),
        ("All", [_X > 3, np.int32(1)], [1]),
        ("ExpandDims", [_X, np.int32(-2)], [1]),
        ("ExpandDims", [_X[0, 0], np.int32(0)], [1]),
        (
            "Slice",
            [_X, np.array([1, 0], np.int32), np.array([2, -1], np.int32)],
            [1, 2],
        ),
        ("Slice", [_X, np.array([1, 2], np.int32), np.array([2, 3], np.int32)], [1]),
        ("Slice", [_X, np.array([0, 0], np.int32), np.array([4, 6], np.int32)], [1, 2]),
        ("GatherV2", [_X, np.array([3, 0], np.int32), np.int32(0)], [2]),
        ("GatherV2", [_X, np.array([[3], [0]], np.int64), np.int32(0)], [2]),
        ("GatherV2", [_X, np.array([3, 0], np.int64), np.int32(-1)], [2]),
        ("GatherV2", [_X, np.int32(3), np.int32(0)], [2]),
        ("ArgMax", [_X, np.int32(-1)], [1]),
        ("ArgMin", [_X, np.int32(0)], [1]),
        ("ConcatV2", [_X, _X[:, :2], np.int32(1)], [2]),
        ("ConcatV2", [_X, _X[:0], _X, np.int64(-2)], [3]),
        ("ConcatV2", [_X, _X, np.int32(0)], []),
        ("Select", [_X[:, 1] > 8, _X, -_X], []),
        ("Select", [_X[:, 1] > 8, _X.astype(np.int64), -_X.astype(np.int64)], []),
        ("Select", [_X[0] > 2, _X[0], -_X[1]], []),
        ("Select", [_X > 8, _X, -_X], []),
        ("Select", [np.bool_(True), _X, -_X], []),
        ("Select", [_X[:0, 0] > 0, _X[:0], _X[:0]], []),
        ("Select", [_X[:, 1] > 8, _X.reshape(4, 2, 3), -_X.reshape(4, 2, 3)], []),
        ("BiasAddGrad", [_X], []),
        ("BiasAddGrad", [_X.reshape(2, 3, 2, 2)], []),
        ("BiasAddGrad", [_X.astype(np.float16)[:0]], []),
        ("AddN", [_X], []),
        ("AddN", [_X, _X], []),
        ("AddN", [_X, -2 * _X, _X, _X], []),
        ("AddN", [_X[0, 0], _X[0, 1], _X[0, 2]], []),
    ],
)
def test_constants_change_nothing(
    op: str, inputs: Sequence[Any], constants: Sequence[int]
) -> None:
    found, expected = _call_made_for(op, inputs, constants), call_host(op, *inputs)
    assert (type(found), found.dtype) == (type(expected), expected.dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("op", "inputs", "constants"),
    [
        ("Reshape", [_X, np.array([5, 5], np.int32)], [1]),
        ("Reshape", [_X, np.array([-1, -1], np.int32)], [1]),
        ("ExpandDims", [_X, np.int32(5)], [1]),
        ("Sum", [_X, np.array([0, 2], np.int32)], [1]),
        ("Slice", [_X, np.array([1, 0], np.int32), np.array([9, 1], np.int32)], [1, 2]),
        ("GatherV2", [_X, np.array([4], np.int32), np.int32(0)], [2]),
        ("GatherV2", [_X, np.array([-1], np.int64), np.int32(0)], [2]),
        ("ArgMax", [_X, np.int32(2)], [1]),
        ("ConcatV2", [_X, _X, np.int32(2)], [2]),
        ("ConcatV2", [_X, _X[:, :2], np.int32(0)], [2]),
        ("ConcatV2", [_X, _X, np.array([0], np.int32)], [2]),
        ("Select", [_X[0] > 2, _X, _X], []),
        ("Select", [_X[:, 0] > 2, _X, _X[:, :2]], []),
        ("Select", [_X[:, :1] > 2, _X, _X], []),
        ("BiasAddGrad", [_X[0]], []),
        ("AddN", [_X, _X, _X[:2]], []),
    ],
)
def test_what_is_refused_is_refused_by_the_step(
    op: str, inputs: Sequence[Any], constants: Sequence[int]
) -> None:
    """A branch that is never taken may hold such a node: making the kernel works."""
    with pytest.raises(errors.InvalidArgumentError) as expected:
        call_host(op, *inputs)
    with pytest.raises(errors.InvalidArgumentError) as found:
        _call_made_for(op, inputs, constants)
    assert found.value.message == expected.value.message


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("dtype", [F, np.float64])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"),
    [
        *[(130, 100, 60), (3, 200, 500), (7, 1, 5), (2, 0, 3), (500, 128, 16)],
        *[(16, 136, 192), (4, 64, 2000), (2, 512, 512), (1, 512, 1024)],
        *[(20, 20000, 30), (1, 300000, 1), (700, 700, 1)],
    ],
)
def test_products_small_and_large_and_of_columns(
    rows: int,
    inner: int,
    columns: int,
    dtype: Any,
    transpose_a: bool,
    transpose_b: bool,
) -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((rows, inner)).astype(dtype)
    b = random.standard_normal((inner, columns)).astype(dtype)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    left = np.ascontiguousarray(a.T) if transpose_a else a
    right = np.ascontiguousarray(b.T) if transpose_b else b
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    found = _call_made_for("MatMul", [left, right], [], **flags)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    bias = random.standard_normal(columns).astype(dtype)
    fused = _call_made_for(
        "_FusedMatMul",
        [left, right, bias],
        [],
        fused_ops=[b"BiasAdd", b"Relu"],
        num_args=1,
        **flags,
    )
    np.testing.assert_allclose(
        fused, np.maximum(expected + bias, 0), rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize(("rows", "wakes"), [(64, False), (65, True)])
@pytest.mark.parametrize("op", ["MatMul", "_FusedMatMul"])
def test_a_large_product_holds_the_threads_of_its_library(
    op: str, rows: int, wakes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    threads = BlasThreads(lambda: 4, told.append)
    monkeypatch.setattr(blas_threads, "numpy_threads", lambda: threads)
    inputs = [np.ones((rows, 64), F), np.ones((64, 64), F)]
    attrs: dict[str, Any] = {}
    if op == "_FusedMatMul":
        inputs.append(np.ones(64, F))
        attrs = {"fused_ops": [b"BiasAdd"], "num_args": 1}
    _call_made_for(op, inputs, [], **attrs)
    assert told == ([1, 4] if wakes else [])


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("MatMul", [_X, _X], {"transpose_b": True}),
        ("MatMul", [np.ones((300, 300), F), np.ones((300, 300), F)], {}),
        ("Select", [_X[:, 1] > 8, _X, _X], {}),
        ("ConcatV2", [_X, _X, np.int32(0)], {}),
        ("BiasAddGrad", [_X], {}),
        ("AddN", [_X, _X, _X], {}),
    ],
)
def test_results_that_may_be_overwritten(
    op: str, inputs: list[Any], attrs: dict[str, Any]
) -> None:
    c = _made_for(op, inputs, [2] if op == "ConcatV2" else [], **attrs)
    _, definition = find_kernels(op, c.attrs, "CPU")
    assert definition is not None
    compute = definition.factory(c)
    assert is_maker(compute)
    before = [np.copy(x) for x in inputs]
    compute(*inputs)[...] = 9
    for now, was in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(now, was)


def test_the_only_input_of_a_sum_is_its_result() -> None:
    c = _made_for("AddN", [_X], [])
    _, definition = find_kernels("AddN", c.attrs, "CPU")
    assert definition is not None
    assert not is_maker(definition.factory(c))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("constants", [[], [0]])
def test_parts_of_a_split(axis: int, constants: Sequence[int]) -> None:
    found = _call_made_for("Split", [np.int32(axis), _X], constants, num_split=2)
    for part, expected in zip(found, np.split(_X, 2, axis), strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize(("axis", "count"), [(2, 2), (1, 4), (-3, 1)])
def test_splits_that_do_not_fit(axis: int, count: int) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        _call_made_for("Split", [np.int32(axis), _X], [0], num_split=count)


@pytest.mark.parametrize(
    "dtype", [F, np.float64, np.float16, ml_dtypes.bfloat16], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("name", ["Relu", "Relu6", "Elu", "Tanh", "Sigmoid"])
def test_activations_of_a_product(name: str, dtype: Any) -> None:
    a = np.linspace(-3, 3, 6).reshape(2, 3).astype(dtype)
    b, bias = np.eye(3).astype(dtype), np.array([0.5, 0, -9]).astype(dtype)
    before = [x.copy() for x in (a, b, bias)]
    attrs = {"fused_ops": [b"BiasAdd", name.encode()], "num_args": 1}
    found = _call_made_for("_FusedMatMul", [a, b, bias], [], **attrs)
    assert found.dtype == dtype
    expected = call_host(name, a + bias)
    np.testing.assert_allclose(
        found.astype(F), np.asarray(expected, F), rtol=0.01, atol=1e-3
    )
    for now, was in zip((a, b, bias), before, strict=True):
        np.testing.assert_array_equal(now, was)


def test_a_bias_that_does_not_fit() -> None:
    attrs = {"fused_ops": [b"BiasAdd", b"Tanh"], "num_args": 1}
    with pytest.raises(errors.InvalidArgumentError):
        _call_made_for("_FusedMatMul", [_X, _X.T, np.ones(3, F)], [], **attrs)


@pytest.mark.parametrize(
    "dtype", [F, np.float64, np.float16, ml_dtypes.bfloat16], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("constants", [[], [1]])
def test_nan_is_no_extreme(dtype: Any, constants: Sequence[int]) -> None:
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, 3, 2], [nan, -inf, nan, -inf], [4, 5, 6, 7]]).astype(dtype)
    axis = np.int32(1)
    assert _call_made_for("ArgMax", [x, axis], constants).tolist() == [2, 0, 3]
    assert _call_made_for("ArgMin", [x, axis], constants).tolist() == [0, 1, 0]


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_extremes_of_no_rows(op: str) -> None:
    assert call_host(op, np.empty((0, 3), F), np.int32(1)).shape == (0,)
    assert _call_made_for(op, [np.empty((0, 3), F), np.int32(1)], [1]).shape == (0,)
