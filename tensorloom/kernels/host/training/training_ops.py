"""Optimizer updates: variables in host memory here, torch tensors one file over.

One factory serves all forms of all rules. The formulas are in `update_rules.py`; a
variable that holds a tensor is updated by `kernels/torch/training/tensor_updates.py`.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.indexing.stable_order import (
    stable_order,
    starts_of_runs,
)
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.host.training.array_updates import (
    update_array_rows,
    update_arrays,
)
from tensorloom.kernels.host.training.update_ops import (
    DENSE_OPS,
    ELEMENTS_BY_NUMPY,
    FUSED_OPS,
    FUSED_SPARSE_OPS,
    MOST_BY_NUMPY,
    SPARSE_OPS,
)
from tensorloom.kernels.host.training.update_rules import (
    FORMULAS,
    LAYOUT,
    SCALARS,
    Formula,
)
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    is_host,
    shape_of,
    to_host,
    uninitialized,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable

# The inputs that are taken as they are, under the names they have in any rule.
GRADIENTS = ("grad", "delta", "indices")


# What the numbers of Ftrl and ProximalAdagrad have to be; others may be anything.
_LIMITS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "lr": ("lr is not a positive", lambda x: x > 0),
    "l1": ("l1 regularization strength is not a non-negative", lambda x: x >= 0),
    "l2": ("l2 regularization strength is not a non-negative", lambda x: x >= 0),
    "l2_shrinkage": (
        "l2 shrinkage regularization strength is not a non-negative",
        lambda x: x >= 0,
    ),
    "lr_power": ("lr_power is not a non-positive", lambda x: x <= 0),
}


def rule_of(op: str) -> str:
    """The rule's name in an op type: "ResourceSparseApplyAdagrad" -> "Adagrad"."""
    return op[op.index("Apply") + len("Apply") :]


def check_ready(state: Sequence[Variable], resource: bool) -> None:
    """Raises what `uninitialized` makes when a variable has no value."""
    for variable in state:
        if variable.value is None:
            raise uninitialized(variable, resource)


def apply_dense(c: OpKernelConstruction, on_tensors: bool) -> Compute:
    """One dense update of a variable and its slots.

    `on_tensors`: of tensors it is by torch, of whatever size.
    """
    rule, resource = rule_of(c.op), c.op.startswith("Resource")
    count, gradient_at = LAYOUT[rule]
    attrs, check_numbers = c.attrs, _number_check(c, rule, count)

    def compute(*arguments: Any) -> Variable | None:
        state, inputs = arguments[:count], arguments[count:]
        if check_numbers is not None:
            check_numbers((*inputs[:gradient_at], *inputs[gradient_at + 1 :]))
        variable: Variable = state[0]
        with variable.lock:
            check_ready(state, resource)
            check_same_shape(state, inputs[gradient_at])
            by_numpy = not on_tensors and suits_numpy([state])
            _update_one(rule, state, inputs, gradient_at, attrs, by_numpy)
        return None if resource else variable

    return compute


def suits_numpy(states: Sequence[Sequence[Variable]]) -> bool:
    """Whether NumPy updates variables with their slots as soon as torch does.

    Of many, torch's call for all takes less than NumPy's for each. What it says hangs
    on sizes alone: the two round differently.
    """
    sizes = [math.prod(state[0].value.shape) for state in states]
    most = max(sizes)
    return most <= 1 or (len(sizes) <= MOST_BY_NUMPY and most <= ELEMENTS_BY_NUMPY)


def _update_one(
    rule: str,
    state: Sequence[Variable],
    inputs: Sequence[Any],
    gradient_at: int,
    attrs: Mapping[str, Any],
    by_numpy: bool,
) -> None:
    """Updates a variable with its slots; one in host memory by NumPy in any case."""
    if by_numpy or is_host(state[0].value):
        update_arrays(FORMULAS[rule], state, inputs, gradient_at, attrs)
    else:
        from tensorloom.kernels.torch.training import tensor_updates

        tensor_updates.update(rule, state, inputs, gradient_at, attrs)


def check_same_shape(state: Sequence[Variable], gradient: Any) -> None:
    """Raises InvalidArgumentError when slots or gradient differ from the variable."""
    # NumPy's and torch's shapes are tuples: they compare without a conversion.
    shape = state[0].value.shape
    if gradient.shape != shape:
        raise _shape_error("grad", tuple(shape), shape_of(gradient))
    _check_slots(state)


def _check_slots(state: Sequence[Variable]) -> None:
    shape = state[0].value.shape
    for variable in state:
        if variable.value.shape != shape:
            raise _shape_error("slot", tuple(shape), shape_of(variable.value))


def _shape_error(
    what: str, shape: tuple[int, ...], other: tuple[int, ...]
) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None,
        None,
        f"var and {what} do not have the same shape{format_shape(shape)} "
        f"{format_shape(other)}",
    )


@host_kernel(SPARSE_OPS, any_inputs=GRADIENTS, large=True)
def apply_sparse(c: OpKernelConstruction) -> Compute:
    """An update of the rows that the indices name, in their order."""
    rule, resource = rule_of(c.op), c.op.startswith("Resource")
    count, gradient_at = LAYOUT[rule]
    formula, attrs = FORMULAS[rule], c.attrs
    check_numbers = _number_check(c, rule, count)

    def compute(*arguments: Any) -> Variable | None:
        state = arguments[:count]
        inputs = list(arguments[count:])
        indices = inputs.pop(gradient_at + 1)
        if check_numbers is not None:
            check_numbers((*inputs[:gradient_at], *inputs[gradient_at + 1 :]))
        variable: Variable = state[0]
        with variable.lock:
            check_ready(state, resource)
            _check_slots(state)
            _check_indices(variable, indices, inputs[gradient_at])
            if is_host(variable.value):
                _update_rows(formula, state, inputs, gradient_at, attrs, indices)
            else:
                from tensorloom.kernels.torch.training import tensor_updates

                tensor_updates.update_rows(
                    rule, state, inputs, gradient_at, attrs, indices
                )
        return None if resource else variable

    return compute


def _check_indices(variable: Variable, indices: Any, gradient: Any) -> None:
    rows = shape_of(variable.value)[:1]
    if not rows:
        raise errors.InvalidArgumentError(
            None, None, "var must be at least 1 dimensional"
        )
    if len(shape_of(indices)) != 1:
        raise errors.InvalidArgumentError(None, None, "indices must be one-dimensional")
    _check_inner_shape(shape_of(variable.value)[1:], shape_of(gradient)[1:])
    if shape_of(gradient)[:1] != (len(indices),):
        raise errors.InvalidArgumentError(
            None, None, "grad must be the same size as indices in the first dimension."
        )
    if are_inside(indices, rows[0]):
        return
    found = to_host(indices)
    bad = np.flatnonzero((found < 0) | (found >= rows[0]))[0]
    raise errors.InvalidArgumentError(
        None, None, f"Index {found[bad]} at offset {bad} in indices is out of range"
    )


def _check_inner_shape(shape: tuple[int, ...], gradient: tuple[int, ...]) -> None:
    if gradient == shape:
        return
    for i, size in enumerate(shape):
        if gradient[i : i + 1] != (size,):
            raise errors.InvalidArgumentError(
                None, None, f"var and grad must match in dimension {i + 1}"
            )


def _update_rows(
    formula: Formula,
    state: Sequence[Variable],
    inputs: list[Any],
    gradient_at: int,
    attrs: Any,
    indices: Any,
) -> None:
    arrays = [np.array(v.value) for v in state]
    update_array_rows(formula, arrays, inputs, gradient_at, attrs, indices)
    for variable, array in zip(state, arrays, strict=True):
        variable.value = array


@host_kernel(FUSED_SPARSE_OPS, any_inputs=GRADIENTS, large=True)
def apply_fused_sparse(c: OpKernelConstruction) -> Compute:
    """The updates of rows of all variables of a step by one rule.

    A row that its indices name several times is updated once, with the sum.
    """
    rule, resource = rule_of(c.op), "Resource" in c.op
    slots, gradient_at = LAYOUT[rule]
    count: int = c["N"]
    attrs, check_numbers = c.attrs, _number_check(c, rule, slots * count)
    are_distinct: bool = c.attrs.get("are_distinct", False)

    def compute(*arguments: Any) -> Sequence[Variable] | None:
        columns: list[Sequence[Variable]] = [
            arguments[i * count : (i + 1) * count] for i in range(slots)
        ]
        rest = arguments[slots * count :]
        middle, end = gradient_at + count, gradient_at + 2 * count
        gradients, indices = rest[gradient_at:middle], rest[middle:end]
        numbers = (*rest[:gradient_at], *rest[end:])
        if check_numbers is not None:
            check_numbers(numbers)
        with _locked(columns[0]):
            if are_distinct and _are_tensors(columns[0]):
                from tensorloom.kernels.torch.training import tensor_updates

                if tensor_updates.update_in_loops(
                    rule, columns, numbers, gradients, indices, attrs
                ):
                    return None if resource else columns[0]
            states = list(zip(*columns, strict=True))
            for state, gradient, at in zip(states, gradients, indices, strict=True):
                check_ready(state, resource)
                _check_slots(state)
                _check_summed(state[0], at, gradient)
            if all(is_host(variable.value) for variable in columns[0]):
                for state, gradient, at in zip(states, gradients, indices, strict=True):
                    rows, sums = to_host(at), to_host(gradient)
                    if not are_distinct:
                        rows, sums = summed_rows(rows, sums)
                    inputs = [*numbers[:gradient_at], sums, *numbers[gradient_at:]]
                    _update_rows(
                        FORMULAS[rule], state, inputs, gradient_at, attrs, rows
                    )
            else:
                from tensorloom.kernels.torch.training import tensor_updates

                tensor_updates.update_all_rows(
                    rule, columns, numbers, gradients, indices, attrs, are_distinct
                )
        return None if resource else columns[0]

    return compute


def _are_tensors(variables: Sequence[Variable]) -> bool:
    for variable in variables:
        if variable.value is None or is_host(variable.value):
            return False
    return True


def _check_summed(variable: Variable, indices: Any, gradient: Any) -> None:
    """Raises what TensorFlow's ops do, of which the first one finds the rows to sum."""
    shape = variable.value.shape
    fits = gradient.shape[1:] == shape[1:] and gradient.shape[:1] == indices.shape
    if fits and shape and are_inside(indices, shape[0]):
        return
    if len(indices.shape) != 1:
        raise errors.InvalidArgumentError(None, None, "unique expects a 1D vector.")
    if gradient.shape[:1] != indices.shape:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"data.shape = {format_shape(shape_of(gradient))} does not start with "
            f"segment_ids.shape = {format_shape(shape_of(indices))}",
        )
    found = to_host(indices)
    _, first = np.unique(found, return_index=True)
    first.sort()
    _check_indices(variable, found[first], gradient[: len(first)])


def summed_rows(indices: Any, gradient: Any) -> tuple[Any, Any]:
    """(the indices without repeats, the sums of their rows of the gradient).

    Args:
      indices: int32 or int64, [k], none negative.
      gradient: [k, ...].
    """
    ordered, order = stable_order(indices)
    begins = starts_of_runs(ordered).nonzero()[0]
    if len(begins) == len(indices):
        return indices, gradient
    return ordered[begins], np.add.reduceat(gradient.take(order, 0), begins, 0)


@contextlib.contextmanager
def _locked(variables: Sequence[Variable]) -> Iterator[None]:
    """Holds their locks, taken in an order that no other update takes otherwise."""
    held = []
    try:
        for variable in sorted(variables, key=id):
            variable.lock.acquire()
            held.append(variable.lock)
        yield
    finally:
        for lock in reversed(held):
            lock.release()


def apply_fused(c: OpKernelConstruction, on_tensors: bool) -> Compute:
    """The updates of all variables of a step by one rule.

    `on_tensors`: of tensors they are by torch, of whatever size.
    """
    rule, resource = rule_of(c.op), "Resource" in c.op
    slots, gradient_at = LAYOUT[rule]
    count: int = c["N"]
    attrs, check_numbers = c.attrs, _number_check(c, rule, slots * count)

    def compute(*arguments: Any) -> Sequence[Variable] | None:
        columns: list[Sequence[Variable]] = [
            arguments[i * count : (i + 1) * count] for i in range(slots)
        ]
        rest = arguments[slots * count :]
        gradients = rest[gradient_at : gradient_at + count]
        numbers = (*rest[:gradient_at], *rest[gradient_at + count :])
        if check_numbers is not None:
            check_numbers(numbers)
        with _locked(columns[0]):
            states = list(zip(*columns, strict=True))
            for state, gradient in zip(states, gradients, strict=True):
                check_ready(state, resource)
                check_same_shape(state, gradient)
            by_numpy = not on_tensors and suits_numpy(states)
            if by_numpy or all(is_host(variable.value) for variable in columns[0]):
                for state, gradient in zip(states, gradients, strict=True):
                    inputs = [*numbers[:gradient_at], gradient, *numbers[gradient_at:]]
                    _update_one(rule, state, inputs, gradient_at, attrs, by_numpy)
            else:
                from tensorloom.kernels.torch.training import tensor_updates

                tensor_updates.update_all(rule, columns, numbers, gradients, attrs)
        return None if resource else columns[0]

    return compute


host_kernel(DENSE_OPS, any_inputs=GRADIENTS, large=True)(
    functools.partial(apply_dense, on_tensors=False)
)
host_kernel(FUSED_OPS, any_inputs=GRADIENTS, large=True)(
    functools.partial(apply_fused, on_tensors=False)
)


def _number_check(
    c: OpKernelConstruction, rule: str, variables: int
) -> Callable[[Sequence[Any]], None] | None:
    """What checks the numbers of a node's rule, as far as that is not known already.

    `variables`: how many inputs before them hold variables.
    """
    known = sum(shape.dims_tuple == () for shape in c.input_shapes[variables:])
    unsure = known < len(SCALARS[rule])
    if rule in ("Ftrl", "FtrlV2", "ProximalAdagrad"):

        def check(numbers: Sequence[Any]) -> None:
            _check_scalars(rule, numbers)
            _check_limits(rule, numbers)

        return check
    return functools.partial(_check_scalars, rule) if unsure else None


def _check_limits(rule: str, numbers: Sequence[Any]) -> None:
    """Raises InvalidArgumentError where TensorFlow's rule refuses its numbers."""
    for name, number in zip(SCALARS[rule], numbers, strict=True):
        what, holds = _LIMITS[name]
        if not holds(number):
            raise errors.InvalidArgumentError(None, None, f"{what} scalar: []")


def _check_scalars(rule: str, numbers: Sequence[Any]) -> None:
    """Raises InvalidArgumentError unless a rule's numbers are scalars."""
    for name, number in zip(SCALARS[rule], numbers, strict=True):
        if shape_of(number):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{name} is not a scalar: {format_shape(shape_of(number))}",
            )


def scalar_inputs(rules: Sequence[str]) -> tuple[str, ...]:
    """The names of the scalar inputs of some rules: they live in host memory."""
    return tuple(dict.fromkeys(name for rule in rules for name in SCALARS[rule]))
