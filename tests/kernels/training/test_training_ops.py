"""Optimizer updates: in place, fused and by rows, against the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.registry import op_kernel
from tensorloom.framework.registry.op_kernel import OpKernelConstruction
from tensorloom.framework.runtime.resource import Variable
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.training.array_updates import distinct_parts
from tensorloom.kernels.host.training.update_ops import FUSED_RULES
from tensorloom.kernels.host.training.update_rules import FORMULAS, LAYOUT, SCALARS
from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor
from tensorloom.ops.training.training_ops import RULES

ATTRS = {"use_nesterov": False, "update_slots": True, "use_locking": False}
SLOTS = {rule: layout[0] - 1 for rule, layout in LAYOUT.items()}
# For each scalar input a value that makes a difference.
VALUES = {
    "alpha": 0.3,
    "lr": 0.05,
    "momentum": 0.9,
    "rho": 0.8,
    "epsilon": 1e-3,
    "beta1": 0.9,
    "beta2": 0.99,
    "beta1_power": 0.81,
    "beta2_power": 0.98,
    "l1": 0.1,
    "l2": 0.2,
    "l2_shrinkage": 0.05,
    "lr_power": -0.5,
    "global_step": 3,
    "sign_decay": 0.5,
    "logbase": 1.2,
    "beta": 0.9,
}


def _compute(op: str, attrs: dict[str, Any]) -> Any:
    op_kernel.load_host_kernels()
    node = Node("node", op, (), (), "", {**ATTRS, **attrs}, ())
    _, host = op_kernel.find_kernels(op, node.attrs, "CPU")
    assert host is not None
    return host.factory(OpKernelConstruction(node, "CPU:0", "CPU", (), ()))


def _variable(value: np.ndarray[Any, Any], as_tensor: bool) -> Variable:
    shape = TensorShape.of(value.shape)
    made = Variable("localhost", "v", dtypes.float32, shape)
    made.value = to_tensor(value, copy=True) if as_tensor else value.copy()
    return made


def _inputs(rule: str, gradient: np.ndarray[Any, Any]) -> list[Any]:
    scalars: list[Any] = [np.float32(VALUES[name]) for name in SCALARS[rule]]
    scalars.insert(LAYOUT[rule][1], gradient)
    return scalars


def _state(rule: str, rng: Any, shape: tuple[int, ...]) -> list[Any]:
    slots = [
        rng.uniform(0.5, 1.5, shape).astype(np.float32) for _ in range(SLOTS[rule])
    ]
    if rule == "CenteredRMSProp":
        slots[0] *= 0.1  # a mean whose square is below the second moment
    return [rng.normal(size=shape).astype(np.float32), *slots]


RULE = pytest.mark.parametrize("rule", sorted(FORMULAS))
MEMORY = pytest.mark.parametrize("as_tensor", [False, True], ids=["host", "tensor"])


@RULE
@MEMORY
@pytest.mark.parametrize("nesterov", [False, True])
def test_dense_update_is_the_formula(
    rule: str, as_tensor: bool, nesterov: bool
) -> None:
    rng = np.random.default_rng(0)
    state = _state(rule, rng, (4, 3))
    inputs = _inputs(rule, rng.normal(size=(4, 3)).astype(np.float32))
    attrs = {**ATTRS, "use_nesterov": nesterov}
    expected = FORMULAS[rule](np, tuple(state), tuple(inputs), attrs)
    variables = [_variable(value, as_tensor) for value in state]
    resource_only = rule in ("KerasMomentum", "AdamWithAmsgrad")
    compute = _compute(f"{'Resource' * resource_only}Apply{rule}", attrs)
    compute(*variables, *inputs)
    for variable, value in zip(variables, expected, strict=True):
        np.testing.assert_allclose(to_host(variable.value), value, rtol=2e-6, atol=1e-7)
        assert isinstance(variable.value, np.ndarray) is not as_tensor


@MEMORY
@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_of_zero(as_tensor: bool, nesterov: bool) -> None:
    """The accumulator is the last gradient then."""
    state = np.full([3], 2.0, np.float32), np.full([3], 7.0, np.float32)
    variables = [_variable(value, as_tensor) for value in state]
    gradient = np.array([1.0, 0.0, -1.0], np.float32)
    compute = _compute("ApplyMomentum", {**ATTRS, "use_nesterov": nesterov})
    compute(*variables, np.float32(0.5), gradient, np.float32(0.0))
    np.testing.assert_array_equal(to_host(variables[0].value), 2.0 - 0.5 * gradient)
    np.testing.assert_array_equal(to_host(variables[1].value), gradient)


@pytest.mark.parametrize("rule", sorted(r.name for r in RULES if r.sparse))
@MEMORY
@pytest.mark.parametrize("indices", [[2, 0], [1, 1, 3], [3, 1, 3, 1, 3, 0]], ids=str)
@pytest.mark.parametrize("width", [1, 3, 20000])
def test_sparse_update_is_the_formula_by_rows(
    rule: str, as_tensor: bool, indices: list[int], width: int
) -> None:
    rng = np.random.default_rng(1)
    state = _state(rule, rng, (4, width))
    gradient = rng.normal(size=(len(indices), width)).astype(np.float32)
    expected = [value.copy() for value in state]
    for row, index in enumerate(indices):
        rows = tuple(value[index] for value in expected)
        inputs = tuple(_inputs(rule, gradient[row]))
        for value, new in zip(
            expected, FORMULAS[rule](np, rows, inputs, ATTRS), strict=True
        ):
            value[index] = new
    variables = [_variable(value, as_tensor) for value in state]
    arguments = _inputs(rule, gradient)
    arguments.insert(LAYOUT[rule][1] + 1, np.array(indices, np.int32))
    _compute(f"ResourceSparseApply{rule}", {})(*variables, *arguments)
    # Of many elements, some are differences of what is nearly equal.
    rtol, atol = (2e-6, 1e-7) if width < 20000 else (1e-4, 1e-4)
    for variable, value in zip(variables, expected, strict=True):
        given = to_host(variable.value)
        np.testing.assert_allclose(given, value, rtol=rtol, atol=atol)


@pytest.mark.parametrize("rule", FUSED_RULES)
@pytest.mark.parametrize("shapes", [[(3, 2), ()], [(40, 5), (7,), (30,)]])
def test_fused_update_is_the_updates_one_by_one(
    rule: str, shapes: list[tuple[int, ...]]
) -> None:
    rng = np.random.default_rng(2)
    states = [_state(rule, rng, shape) for shape in shapes]
    states = [[np.asarray(v, np.float32) for v in state] for state in states]
    gradients = [np.asarray(rng.normal(size=s), np.float32) for s in shapes]
    columns = [
        [_variable(state[i], state[i].size > 16) for state in states]
        for i in range(SLOTS[rule] + 1)
    ]
    arguments: list[Any] = [variable for column in columns for variable in column]
    scalars = _inputs(rule, np.float32(0))
    at = LAYOUT[rule][1]
    arguments += [*scalars[:at], *gradients, *scalars[at + 1 :]]
    result = _compute(f"_FusedApply{rule}", {"N": len(shapes)})(*arguments)
    assert list(result) == columns[0]
    for i, (state, gradient) in enumerate(zip(states, gradients, strict=True)):
        inputs = tuple(_inputs(rule, gradient))
        expected = FORMULAS[rule](np, tuple(state), inputs, ATTRS)
        for column, value in zip(columns, expected, strict=True):
            np.testing.assert_allclose(
                to_host(column[i].value), value, rtol=2e-6, atol=1e-7
            )


def _fused_sparse_arguments(
    rule: str,
    columns: list[list[Variable]],
    gradients: list[np.ndarray[Any, Any]],
    indices: list[np.ndarray[Any, Any]],
) -> list[Any]:
    scalars = _inputs(rule, np.float32(0))
    at = LAYOUT[rule][1]
    state = [variable for column in columns for variable in column]
    return [*state, *scalars[:at], *gradients, *indices, *scalars[at + 1 :]]


# (rows and width of the table, in a tensor, which of the indices), of each variable.
TABLES = {
    "host": [((4, 2), False, 0), ((4, 2), False, 1)],
    "tensors": [((9, 5), True, 0), ((8, 3), True, 1), ((70000, 5), True, 0)],
    "wide": [((4, 20000), True, 0), ((4, 20000), True, 1)],
    "very wide": [((4, 20), True, 2), ((4, 20000), True, 2)],
    "both": [((5, 3), True, 1), ((4, 3), False, 1), ((6,), True, 0)],
    "nothing": [((6, 0), True, 0), ((6, 2), True, 3), ((6, 2), True, 1)],
}
INDICES = ([3, 1, 3, 1, 3, 0], [2, 0], [1, 1, 3], [])


@pytest.mark.parametrize("rule", sorted(r.name for r in RULES if r.sparse))
@pytest.mark.parametrize("tables", list(TABLES))
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_fused_sparse_update_is_one_of_the_sums(
    rule: str, tables: str, dtype: Any
) -> None:
    rng = np.random.default_rng(4)
    arrays = [np.array(indices, dtype) for indices in INDICES]
    states = [_state(rule, rng, shape) for shape, _, _ in TABLES[tables]]
    indices = [arrays[which] for _, _, which in TABLES[tables]]
    gradients = [
        rng.normal(size=(len(at), *state[0].shape[1:])).astype(np.float32)
        for at, state in zip(indices, states, strict=True)
    ]
    columns = [
        [
            _variable(state[i], as_tensor)
            for state, (_, as_tensor, _) in zip(states, TABLES[tables], strict=True)
        ]
        for i in range(SLOTS[rule] + 1)
    ]
    arguments = _fused_sparse_arguments(rule, columns, gradients, indices)
    _compute(f"_FusedResourceSparseApply{rule}", {"N": len(states)})(*arguments)
    for i, (state, gradient, at) in enumerate(
        zip(states, gradients, indices, strict=True)
    ):
        different = sorted(set(at.tolist()))
        for row in different:
            total = gradient[at == row].sum(axis=0)
            rows = tuple(value[row] for value in state)
            updated = FORMULAS[rule](np, rows, tuple(_inputs(rule, total)), ATTRS)
            for value, new in zip(state, updated, strict=True):
                value[row] = new
        for column, value in zip(columns, state, strict=True):
            given = to_host(column[i].value)
            np.testing.assert_allclose(given, value, rtol=1e-4, atol=1e-4)


# The messages are TensorFlow 1.15's, whose offset counts different indices.
@MEMORY
@pytest.mark.parametrize(
    ("indices", "rows", "message"),
    [
        ([1, 1, 5], 3, "Index 5 at offset 1 in indices is out of range"),
        ([0, 0, -1, 2], 4, "Index -1 at offset 1 in indices is out of range"),
        ([[0, 1]], 1, "unique expects a 1D vector."),
        (
            [0, 1],
            3,
            r"data.shape = \[3,2\] does not start with segment_ids.shape = \[2\]",
        ),
    ],
)
def test_rows_that_cannot_be_summed(
    as_tensor: bool, indices: list[Any], rows: int, message: str
) -> None:
    ones = np.ones((3, 2), np.float32)
    columns = [[_variable(ones, as_tensor) for _ in range(2)] for _ in range(2)]
    gradients = [ones[:1], np.ones((rows, 2), np.float32)]
    arguments = _fused_sparse_arguments(
        "Adagrad", columns, gradients, [np.array([0]), np.array(indices)]
    )
    with pytest.raises(errors.InvalidArgumentError, match=message):
        _compute("_FusedSparseApplyAdagrad", {"N": 2})(*arguments)
    for column in columns:
        for variable in column:
            np.testing.assert_array_equal(to_host(variable.value), ones)


@settings(max_examples=40, deadline=None)
@given(
    lr=st.floats(1e-5, 1.0),
    beta1=st.floats(0.0, 0.99),
    beta2=st.floats(0.0, 0.9999),
    epsilon=st.floats(1e-8, 1.0),
    steps=st.integers(1, 50),
)
def test_fused_adam_has_tensorflows_epsilon(
    lr: float, beta1: float, beta2: float, epsilon: float, steps: int
) -> None:
    rng = np.random.default_rng(3)
    state = _state("Adam", rng, (6, 4))
    gradient = rng.normal(size=(6, 4)).astype(np.float32)
    numbers = [beta1**steps, beta2**steps, lr, beta1, beta2, epsilon]
    inputs = (*(np.float32(x) for x in numbers), gradient)
    expected = FORMULAS["Adam"](
        np, tuple(v.astype(np.float64) for v in state), inputs, ATTRS
    )
    variables = [_variable(value, as_tensor=True) for value in state]
    _compute("ApplyAdam", {})(*variables, *inputs)
    for variable, value in zip(variables, expected, strict=True):
        np.testing.assert_allclose(to_host(variable.value), value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("beta2_power", [np.nan, 1.5])
def test_adam_with_a_rate_that_is_no_number(beta2_power: float) -> None:
    """TensorFlow takes the root of a negative number, and the variable is lost."""
    state = [_variable(np.ones(3, np.float32), as_tensor=True) for _ in range(3)]
    numbers = [np.float32(x) for x in (0.9, beta2_power, 0.1, 0.9, 0.99, 1e-8)]
    _compute("ApplyAdam", {})(*state, *numbers, np.ones(3, np.float32))
    assert np.isnan(to_host(state[0].value)).all()
    np.testing.assert_allclose(to_host(state[1].value), 1.0)


def test_update_of_a_variable_without_a_value() -> None:
    empty = Variable("localhost", "w", dtypes.float32, TensorShape.of((2,)))
    with pytest.raises(errors.FailedPreconditionError, match="uninitialized value w"):
        _compute("ApplyGradientDescent", {})(
            empty, np.float32(1), np.ones(2, np.float32)
        )


def test_gradient_of_another_shape() -> None:
    variable = _variable(np.ones(2, np.float32), as_tensor=False)
    with pytest.raises(errors.InvalidArgumentError, match=r"same shape\[2\] \[3\]"):
        _compute("ApplyGradientDescent", {})(
            variable, np.float32(1), np.ones(3, np.float32)
        )


@MEMORY
@pytest.mark.parametrize("bad", [5, 2, -1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_index_out_of_range(as_tensor: bool, bad: int, dtype: Any) -> None:
    ones = np.ones((2, 1), np.float32)
    state = [_variable(ones, as_tensor) for _ in range(2)]
    indices = np.array([0, bad], dtype)
    with pytest.raises(errors.InvalidArgumentError, match=f"Index {bad} at offset 1"):
        _compute("SparseApplyAdagrad", {})(*state, np.float32(1), ones, indices)
    for variable in state:
        np.testing.assert_array_equal(to_host(variable.value), ones)


# Recorded from TensorFlow 1.15.
@MEMORY
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 1), (2,)])
def test_rows_of_another_length(as_tensor: bool, shape: tuple[int, ...]) -> None:
    ones = np.ones((5, 4), np.float32)
    state = [_variable(ones, as_tensor) for _ in range(2)]
    gradient, indices = np.ones(shape, np.float32), np.array([1, 2])
    with pytest.raises(errors.InvalidArgumentError, match="match in dimension 1"):
        _compute("SparseApplyAdagrad", {})(*state, np.float32(1), gradient, indices)
    for variable in state:
        np.testing.assert_array_equal(to_host(variable.value), ones)


@pytest.mark.parametrize(
    ("indices", "parts"),
    [
        ([], [[]]),
        ([4, 0, 2], [[0, 1, 2]]),
        ([3, 1, 3, 3, 1, 0], [[0, 1, 5], [2, 4], [3]]),
        ([7] * 3, [[0], [1], [2]]),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_parts_without_a_row_twice(
    indices: list[int], parts: list[list[int]], dtype: Any
) -> None:
    places = np.arange(len(indices))
    found = [places[part] for part in distinct_parts(np.array(indices, dtype))]
    assert [sorted(part.tolist()) for part in found] == parts


def test_rows_of_a_variable_that_is_read_stay() -> None:
    ones = np.ones((3, 2), np.float32)
    state = [_variable(ones, as_tensor=True) for _ in range(2)]
    read = state[0].value
    _compute("SparseApplyAdagrad", {})(*state, np.float32(1), ones[:1], np.array([1]))
    np.testing.assert_array_equal(read.numpy(), ones)
    assert not np.array_equal(to_host(state[0].value), ones)
