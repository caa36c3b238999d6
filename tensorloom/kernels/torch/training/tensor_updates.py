"""Optimizer updates of torch tensors, alone and for all variables in one call.

Rules without code of their own here compute by the formulas of
`kernels/host/training/update_rules.py` and replace the value.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tensorloom.kernels.host.indexing.stable_order import stable_order, starts_of_runs
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.host.training.array_updates import (
    distinct_parts,
    update_array_rows,
    update_arrays,
)
from tensorloom.kernels.host.training.update_rules import (
    FORMULAS,
    LAYOUT,
    State,
    scalar_quotient,
    scalar_sqrt,
)
from tensorloom.kernels.torch.reductions.segment_sums import sum_segments
from tensorloom.kernels.torch.state.row_batches import Formula, update_batches
from tensorloom.kernels.torch.state.variable_value import (
    exclusive,
    held_array,
    is_host,
    to_host,
    to_tensor,
)

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

Tensors = list[torch.Tensor]

# --- in place, over lists of tensors -----------------------------------------


def _descend(
    state: list[Tensors], scalars: list[float], grads: Tensors, _: Any
) -> None:
    (variables,) = state
    torch._foreach_add_(variables, grads, alpha=-scalars[0])


def _momentum(
    state: list[Tensors], scalars: list[float], grads: Tensors, attrs: Mapping[str, Any]
) -> None:
    variables, accums = state
    lr, decay = scalars
    if decay == 0:  # torch's call then wants no accumulators
        torch._foreach_copy_(accums, grads)
        torch._foreach_add_(variables, grads, alpha=-lr)
        return
    torch._fused_sgd_(
        variables,
        _contiguous(grads),
        accums,
        weight_decay=0.0,
        momentum=decay,
        lr=lr,
        dampening=0.0,
        nesterov=attrs["use_nesterov"],
        maximize=False,
        is_first_step=False,
    )


def _adam(
    state: list[Tensors], scalars: list[Any], grads: Tensors, attrs: Mapping[str, Any]
) -> None:
    """torch's fused Adam computes TensorFlow's rule at step 1 with scaled constants.

    torch: var -= lr' / (1 - beta1) * m / (sqrt(v) / sqrt(1 - beta2) + epsilon').
    """
    variables, ms, vs = state
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = scalars
    if isinstance(beta1_power, torch.Tensor):
        rate: Any = (1 - beta2_power).sqrt_().mul_(lr).div_(1 - beta1_power)
    else:
        rate = scalar_quotient(lr * scalar_sqrt(1 - beta2_power), 1 - beta1_power)
    root = math.sqrt(1 - beta2)
    torch._fused_adam_(
        variables,
        _contiguous(grads),
        ms,
        vs,
        [],
        _first_steps(len(variables), variables[0].device),
        lr=rate * (1 - beta1) / root,
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=epsilon / root,
        amsgrad=False,
        maximize=False,
    )


@functools.lru_cache(maxsize=64)
def _first_steps(count: int, device: torch.device) -> Tensors:
    return [torch.ones((), dtype=torch.float32, device=device)] * count


def _rms_prop(
    state: list[Tensors], scalars: list[float], grads: Tensors, attrs: Mapping[str, Any]
) -> None:
    variables, mss, moms = state
    lr, rho, decay, epsilon = scalars
    torch._foreach_mul_(mss, rho)
    torch._foreach_addcmul_(mss, grads, grads, value=1 - rho)
    roots = torch._foreach_add(mss, epsilon)
    torch._foreach_sqrt_(roots)
    torch._foreach_mul_(moms, decay)
    torch._foreach_addcdiv_(moms, grads, roots, value=lr)
    torch._foreach_sub_(variables, moms)


def _adagrad(
    state: list[Tensors], scalars: list[float], grads: Tensors, _: Any
) -> None:
    variables, accums = state
    (lr,) = scalars
    if not variables[0].is_cpu:
        torch._foreach_addcmul_(accums, grads, grads)
        roots = torch._foreach_sqrt(accums)
        torch._foreach_addcdiv_(variables, grads, roots, value=-lr)
        return
    torch._fused_adagrad_(
        variables,
        _contiguous(grads),
        accums,
        _first_steps(len(variables), variables[0].device),
        lr=lr,
        lr_decay=0.0,
        weight_decay=0.0,
        eps=0.0,
        maximize=False,
    )


def _contiguous(tensors: Tensors) -> Tensors:
    """The fused kernels walk memory and do not look at strides."""
    return [t if t.is_contiguous() else t.contiguous() for t in tensors]


_Update = Callable[[list[Tensors], list[float], Tensors, Mapping[str, Any]], None]
_IN_PLACE: dict[str, _Update] = {
    "GradientDescent": _descend,
    "Momentum": _momentum,
    "Adam": _adam,
    "RMSProp": _rms_prop,
    "Adagrad": _adagrad,
}
_FLOATS = frozenset([torch.float32, torch.float64, torch.float16, torch.bfloat16])


def _has_in_place(
    rule: str, dtype: torch.dtype, scalars: Sequence[Any], attrs: Mapping[str, Any]
) -> bool:
    if rule == "Adam":
        beta1_power, _, _, _, beta2, _ = scalars
        if attrs["use_nesterov"] or beta2 >= 1:
            return False
        if not isinstance(beta1_power, torch.Tensor) and beta1_power >= 1:
            return False
    if rule == "Adagrad" and not attrs["update_slots"]:
        return False
    return rule in _IN_PLACE and dtype in _FLOATS


def _number(value: Any) -> Any:
    """A scalar as Python's number; one of a device stays there."""
    return value if isinstance(value, torch.Tensor) else value.item()


# --- one variable ------------------------------------------------------------


def update(
    rule: str,
    state: Sequence[Variable],
    inputs: Sequence[Any],
    gradient_at: int,
    attrs: Mapping[str, Any],
) -> None:
    """Updates a variable that holds a tensor, with its slots; call under its lock."""
    gradient = to_tensor(inputs[gradient_at], _place(state[0]))
    scalars = [_number(x) for i, x in enumerate(inputs) if i != gradient_at]
    if _has_in_place(rule, gradient.dtype, scalars, attrs):
        tensors = [[exclusive(variable, state[0])] for variable in state]
        try:
            _IN_PLACE[rule](tensors, scalars, [gradient], attrs)
        finally:
            for variable, (tensor,) in zip(state, tensors, strict=True):
                variable.value = tensor
        return
    scalars = [x.item() if isinstance(x, torch.Tensor) else x for x in scalars]
    scalars.insert(gradient_at, gradient)
    values = tuple(variable.value for variable in state)
    for variable, value in zip(
        state, FORMULAS[rule](torch, values, tuple(scalars), attrs), strict=True
    ):
        variable.value = value


def _place(variable: Variable) -> torch.device | None:
    """The device that a gradient in host memory has to come to; None for the CPU."""
    value = variable.value
    return None if is_host(value) or value.is_cpu else value.device


def update_rows(
    rule: str,
    state: Sequence[Variable],
    inputs: Sequence[Any],
    gradient_at: int,
    attrs: Mapping[str, Any],
    indices: Any,
) -> None:
    """Updates some rows of a variable that holds a tensor; call under its lock."""
    arguments = [x if i == gradient_at else x.item() for i, x in enumerate(inputs)]
    tensors = [exclusive(variable, state[0]) for variable in state]
    try:
        if _suits_host(tensors[0], inputs[gradient_at]):
            arrays = [tensor.numpy() for tensor in tensors]
            update_array_rows(
                FORMULAS[rule], arrays, arguments, gradient_at, attrs, indices
            )
            return
        device = tensors[0].device
        gradient = to_tensor(inputs[gradient_at], device)
        index = to_tensor(indices, device).to(torch.int64)
        for part in distinct_parts(to_host(indices)):
            arguments[gradient_at] = gradient[part]
            _update_tensor_rows(rule, tensors, arguments, attrs, index[part])
    finally:
        for variable, tensor in zip(state, tensors, strict=True):
            variable.value = tensor


def _update_tensor_rows(
    rule: str,
    tensors: Sequence[torch.Tensor],
    inputs: Sequence[Any],
    attrs: Mapping[str, Any],
    at: torch.Tensor,
) -> None:
    """Updates rows of a tensor and its slots, none of them twice."""
    rows: State = tuple(tensor[at] for tensor in tensors)
    updated = FORMULAS[rule](torch, rows, tuple(inputs), attrs)
    for tensor, new in zip(tensors, updated, strict=True):
        tensor.index_copy_(0, at, new)


# What NumPy computes with as quickly as torch does in one thread; for up to so many
# numbers torch takes one, and each of its calls several times as long to begin.
_HOST_FLOATS = frozenset([torch.float32, torch.float64])
_HOST_ELEMENTS = 1 << 15


def _suits_host(tensor: torch.Tensor, gradient: Any) -> bool:
    is_small = math.prod(gradient.shape) <= _HOST_ELEMENTS
    return is_small and tensor.is_cpu and tensor.dtype in _HOST_FLOATS


# --- all variables of a step -------------------------------------------------


def update_all(
    rule: str,
    columns: list[Sequence[Variable]],
    numbers: Sequence[Any],
    gradients: Sequence[Any],
    attrs: Mapping[str, Any],
) -> None:
    """Updates all variables (columns[0]) with their slots (the other columns)."""
    scalars = [_number(x) for x in numbers]
    grads = [
        g if isinstance(g, torch.Tensor) else to_tensor(g, _place(variable))
        for g, variable in zip(gradients, columns[0], strict=True)
    ]
    if not _has_in_place(rule, grads[0].dtype, scalars, attrs):
        gradient_at = LAYOUT[rule][1]
        for i, gradient in enumerate(grads):
            inputs = [*numbers]
            inputs.insert(gradient_at, gradient)
            state = [column[i] for column in columns]
            if is_host(state[0].value):
                update_arrays(FORMULAS[rule], state, inputs, gradient_at, attrs)
            else:
                update(rule, state, inputs, gradient_at, attrs)
        return
    hosted: list[tuple[Variable, torch.Tensor]] = []
    taken: list[tuple[Variable, torch.Tensor]] = []
    try:
        tensors = [
            [
                _changeable(v, owner, hosted, taken)
                for v, owner in zip(column, columns[0], strict=True)
            ]
            for column in columns
        ]
        _IN_PLACE[rule](tensors, scalars, grads, attrs)
    finally:
        for variable, tensor in taken:
            variable.value = tensor
    for variable, tensor in hosted:
        variable.value = to_host(tensor)


def update_all_rows(
    rule: str,
    columns: list[Sequence[Variable]],
    numbers: Sequence[Any],
    gradients: Sequence[Any],
    indices: Sequence[Any],
    attrs: Mapping[str, Any],
    are_distinct: bool = False,
) -> None:
    """Updates rows of all variables (columns[0]) and of their slots.

    Each row once, with the sum of its gradients. The variables differ.

    Args:
      are_distinct: whether no row has several gradients.
    """
    scalars = [x.item() for x in numbers]
    hosted: list[tuple[Variable, torch.Tensor]] = []
    taken: list[tuple[Variable, torch.Tensor]] = []
    places = [to_host(x).astype(np.intp, copy=False) for x in indices]
    try:
        tensors = [
            [
                _changeable(v, owner, hosted, taken)
                for v, owner in zip(column, columns[0], strict=True)
            ]
            for column in columns
        ]
        together: dict[torch.Size, list[int]] = {}
        for i, state in enumerate(zip(*tensors, strict=True)):
            gradient = gradients[i]
            if _suits_host(state[0], gradient) and all(
                tensor.is_contiguous() for tensor in state
            ):
                together.setdefault(state[0].shape[1:], []).append(i)
            else:
                _update_summed_rows(rule, state, scalars, gradient, places[i], attrs)
        formula = _formula_of_rows(rule, scalars, attrs)
        for group in together.values():
            update_batches(
                [[column[i].numpy() for i in group] for column in tensors],
                [to_host(gradients[i]) for i in group],
                [places[i] for i in group],
                formula,
                are_distinct,
            )
    finally:
        for variable, tensor in taken:
            variable.value = tensor
    for variable, tensor in hosted:
        variable.value = to_host(tensor)


def update_in_loops(
    rule: str,
    columns: Sequence[Sequence[Variable]],
    numbers: Sequence[Any],
    gradients: Sequence[Any],
    indices: Sequence[Any],
    attrs: Mapping[str, Any],
) -> bool:
    """Updates rows of all variables, none twice, by a loop for each.

    That takes less than to take rows out and to put them back, but wants small tables
    on the CPU, and a rule that there is a loop for.

    Returns:
      Whether it did. If not, nothing was changed: `update_all_rows` does it, or finds
      what is wrong.
    """
    if rule != "Adagrad" or not attrs["update_slots"]:
        return False
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.training.row_updates import adagrad_rows

    states = list(zip(*columns, strict=True))
    rows = []
    for state, gradient, at in zip(states, gradients, indices, strict=True):
        if not _suits_loop(state, gradient):
            return False
        places, values = to_host(at), to_host(gradient)
        if len(places) != len(values) or not are_inside(places, len(state[0].value)):
            return False
        rows.append((places, np.ascontiguousarray(values).reshape(len(places), -1)))
    rate = rows[0][1].dtype.type(numbers[0])
    for (variable, accum), (places, values) in zip(states, rows, strict=True):
        tensor = exclusive(variable)
        try:
            slot = exclusive(accum, variable)
            try:
                adagrad_rows(_matrix(tensor), _matrix(slot), places, values, rate)
            finally:
                accum.value = slot
        finally:
            variable.value = tensor
    return True


def _suits_loop(state: Sequence[Variable], gradient: Any) -> bool:
    """Whether a variable and its slots are alike, and fit the gradient, on the CPU."""
    shape: Any = None
    for variable in state:
        value = variable.value
        if (
            value is None
            or is_host(value)
            or not value.is_cpu
            or value.dtype not in _HOST_FLOATS
            or not value.is_contiguous()
        ):
            return False
        if shape is None:
            shape = value.shape
        elif value.shape != shape:
            return False
    size = math.prod(gradient.shape)
    return (
        0 < size <= _HOST_ELEMENTS and bool(shape) and gradient.shape[1:] == shape[1:]
    )


def _matrix(tensor: torch.Tensor) -> Any:
    """The memory of a contiguous tensor with elements, a row for each of its rows."""
    array = held_array(tensor)
    return array if array.ndim == 2 else array.reshape(len(array), -1)


def _formula_of_rows(
    rule: str, scalars: list[float], attrs: Mapping[str, Any]
) -> Formula:
    """A rule over NumPy arrays: torch's code in place where there is some."""
    gradient_at = LAYOUT[rule][1]

    def compute(rows: list[Any], gradient: Any) -> Sequence[Any]:
        inputs = (*scalars[:gradient_at], gradient, *scalars[gradient_at:])
        updated = FORMULAS[rule](np, tuple(rows), inputs, attrs)
        return [
            None if new is old else new for new, old in zip(updated, rows, strict=True)
        ]

    def compute_in_place(rows: list[Any], gradient: Any) -> Sequence[Any]:
        state = [[torch.from_numpy(values)] for values in rows]
        _IN_PLACE[rule](state, scalars, [torch.from_numpy(gradient)], attrs)
        return rows

    # The same for all dtypes that NumPy computes here.
    is_in_place = _has_in_place(rule, torch.float32, scalars, attrs)
    return compute_in_place if is_in_place else compute


def _update_summed_rows(
    rule: str,
    state: Sequence[torch.Tensor],
    scalars: Sequence[float],
    gradient: Any,
    indices: Any,
    attrs: Mapping[str, Any],
) -> None:
    """Updates rows of one tensor and its slots, each once."""
    device, gradient_at = state[0].device, LAYOUT[rule][1]
    sums = to_tensor(gradient, device)
    ordered, order = stable_order(indices)
    is_first = starts_of_runs(ordered)
    if not is_first.all():
        numbers = to_tensor(is_first.cumsum() - 1, device)
        indices = ordered[is_first]
        place = to_tensor(order, device)
        sums = sum_segments(sums, numbers, len(indices), indices=place)
    inputs = [*scalars[:gradient_at], sums, *scalars[gradient_at:]]
    _update_tensor_rows(rule, state, inputs, attrs, to_tensor(indices, device))


def _changeable(
    variable: Variable,
    owner: Variable,
    hosted: list[tuple[Variable, torch.Tensor]],
    taken: list[tuple[Variable, torch.Tensor]],
) -> torch.Tensor:
    """A tensor to change in place; in `hosted` if it is a copy of a NumPy value."""
    if is_host(variable.value):
        tensor = to_tensor(variable.value, copy=True)
        hosted.append((variable, tensor))
    else:
        tensor = exclusive(variable, owner)
        taken.append((variable, tensor))
    return tensor
