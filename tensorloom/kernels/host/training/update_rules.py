"""The arithmetic of the optimizer updates, as formulas over NumPy or torch values.

A formula maps (xp, state, inputs) to the new state, where `xp` is the numpy or the
torch module, `state` the variable and its slots, and `inputs` the op's remaining
inputs without indices, in its order. Nothing is changed in place here; kernels that
update large tensors in place have their own code and are tested against these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

State = tuple[Any, ...]
Formula = Callable[[Any, State, tuple[Any, ...], Mapping[str, Any]], State]


def gradient_descent(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """var - alpha * delta."""
    (var,), (alpha, delta) = state, inputs
    return (var - alpha * delta,)


def momentum(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Heavy ball, or Nesterov's with `use_nesterov`."""
    (var, accum), (lr, grad, decay) = state, inputs
    accum = accum * decay + grad
    if attrs["use_nesterov"]:
        return var - (grad * lr + accum * (decay * lr)), accum
    return var - accum * lr, accum


def keras_momentum(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Momentum with the learning rate inside the accumulator."""
    (var, accum), (lr, grad, decay) = state, inputs
    accum = accum * decay - grad * lr
    if attrs["use_nesterov"]:
        return var + (accum * decay - grad * lr), accum
    return var + accum, accum


def adam(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Kingma and Ba 2014, section 2, the variant before their equation 2."""
    var, m, v = state
    beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad = inputs
    rate = scalar_quotient(lr * scalar_sqrt(1 - beta2_power), 1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    step = grad * (1 - beta1) + m * beta1 if attrs["use_nesterov"] else m
    return var - (step * rate) / (xp.sqrt(v) + epsilon), m, v


def rms_prop(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Tieleman and Hinton 2012."""
    (var, ms, mom), (lr, rho, decay, epsilon, grad) = state, inputs
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * decay + (grad * lr) / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """RMSProp over an estimate of the variance (Graves 2013)."""
    (var, mg, ms, mom), (lr, rho, decay, epsilon, grad) = state, inputs
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * decay + (grad * lr) / xp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def adagrad(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Duchi et al. 2011."""
    (var, accum), (lr, grad) = state, inputs
    if attrs["update_slots"]:
        accum = accum + grad * grad
    return var - (grad * lr) / xp.sqrt(accum), accum


def adagrad_v2(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Adagrad with an epsilon beside the root."""
    (var, accum), (lr, epsilon, grad) = state, inputs
    if attrs["update_slots"]:
        accum = accum + grad * grad
    return var - (grad * lr) / (xp.sqrt(accum) + epsilon), accum


def adadelta(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Zeiler 2012, algorithm 1."""
    (var, accum, accum_update), (lr, rho, epsilon, grad) = state, inputs
    accum = accum * rho + grad * grad * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    accum_update = accum_update * rho + update * update * (1 - rho)
    return var - update * lr, accum, accum_update


def ftrl(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """McMahan et al. 2013, algorithm 1."""
    grad, lr, l1, l2, lr_power = inputs
    return _ftrl(xp, state, grad, grad, lr, l1, l2, lr_power)


def ftrl_v2(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Ftrl whose gradient, but not whose accumulator, has an L2 shrinkage."""
    grad, lr, l1, l2, l2_shrinkage, lr_power = inputs
    shrunk = grad + state[0] * (2 * l2_shrinkage)
    return _ftrl(xp, state, grad, shrunk, lr, l1, l2, lr_power)


def _ftrl(
    xp: Any,
    state: State,
    grad: Any,
    shrunk: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
) -> State:
    var, accum, linear = state
    new_accum = accum + grad * grad
    new_root, root = (
        _ftrl_root(xp, new_accum, lr_power),
        _ftrl_root(xp, accum, lr_power),
    )
    linear = linear + shrunk - (new_root - root) / lr * var
    excess = abs(linear) - l1
    var = -xp.sign(linear) * excess / (new_root / lr + 2 * l2)
    return xp.where(excess > 0, var, xp.zeros_like(var)), new_accum, linear


def _ftrl_root(xp: Any, accum: Any, lr_power: Any) -> Any:
    return xp.sqrt(accum) if lr_power == -0.5 else accum ** (-lr_power)


def ada_max(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Kingma and Ba 2014, section 7.1."""
    (var, m, v), (beta1_power, lr, beta1, beta2, epsilon, grad) = state, inputs
    m = m + (grad - m) * (1 - beta1)
    v = xp.maximum(v * beta2, abs(grad))
    return var - (m / (v + epsilon)) * scalar_quotient(lr, 1 - beta1_power), m, v


def adam_with_amsgrad(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Reddi et al. 2018: Adam that divides by the largest v so far."""
    var, m, v, vhat = state
    beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad = inputs
    rate = scalar_quotient(lr * scalar_sqrt(1 - beta2_power), 1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = xp.maximum(vhat, v)
    return var - (m * rate) / (xp.sqrt(vhat) + epsilon), m, v, vhat


def adagrad_da(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Duchi et al. 2011, dual averaging."""
    (_, total, squares), (grad, lr, l1, l2, global_step) = state, inputs
    total = total + grad
    squares = squares + grad * grad
    step = float(global_step)
    shrunk = _shrunk(xp, total, l1 * step) if l1 > 0 else total
    return -(shrunk * lr) / (xp.sqrt(squares) + l2 * step * lr), total, squares


def add_sign(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Bello et al. 2017, section 4.3."""
    (var, m), (lr, alpha, sign_decay, beta, grad) = state, inputs
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - (agreement * sign_decay + alpha) * lr * grad, m


def power_sign(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Bello et al. 2017, section 4.3."""
    (var, m), (lr, logbase, sign_decay, beta, grad) = state, inputs
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - xp.exp(agreement * (logbase * sign_decay)) * lr * grad, m


def proximal_adagrad(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Adagrad followed by the proximal operator of L1 and L2 (Duchi, Singer 2009)."""
    (var, accum), (lr, l1, l2, grad) = state, inputs
    accum = accum + grad * grad
    rate = lr / xp.sqrt(accum)
    return _proximal(xp, var - grad * rate, rate, l1, l2), accum


def proximal_gradient_descent(
    xp: Any, state: State, inputs: tuple[Any, ...], attrs: Mapping[str, Any]
) -> State:
    """Gradient descent followed by the proximal operator of L1 and L2."""
    (var,), (alpha, l1, l2, delta) = state, inputs
    return (_proximal(xp, var - delta * alpha, alpha, l1, l2),)


def _proximal(xp: Any, value: Any, rate: Any, l1: Any, l2: Any) -> Any:
    shrunk = _shrunk(xp, value, rate * l1) if l1 > 0 else value
    return shrunk / (rate * l2 + 1)


def _shrunk(xp: Any, value: Any, by: Any) -> Any:
    """Nearer to zero by an amount, and not beyond it."""
    left = abs(value) - by
    return xp.sign(value) * ((left + abs(left)) / 2)


def scalar_sqrt(value: Any) -> Any:
    """The root of a host number, in its own dtype."""
    if hasattr(value, "dtype"):
        return type(value)(math.sqrt(value)) if value >= 0 else value * math.nan
    return math.sqrt(value) if value >= 0 else math.nan


def scalar_quotient(a: Any, b: Any) -> Any:
    """a / b of host numbers; Python's own as IEEE 754 has it, without an exception."""
    if hasattr(b, "dtype") or b:
        return a / b
    return math.copysign(math.inf, a) if a and not math.isnan(a) else math.nan


FORMULAS: dict[str, Formula] = {
    "GradientDescent": gradient_descent,
    "Momentum": momentum,
    "KerasMomentum": keras_momentum,
    "Adam": adam,
    "RMSProp": rms_prop,
    "CenteredRMSProp": centered_rms_prop,
    "Adagrad": adagrad,
    "AdagradV2": adagrad_v2,
    "Adadelta": adadelta,
    "Ftrl": ftrl,
    "FtrlV2": ftrl_v2,
    "AdaMax": ada_max,
    "AdamWithAmsgrad": adam_with_amsgrad,
    "AdagradDA": adagrad_da,
    "AddSign": add_sign,
    "PowerSign": power_sign,
    "ProximalAdagrad": proximal_adagrad,
    "ProximalGradientDescent": proximal_gradient_descent,
}
# For each rule: how many of the inputs are state, and where the gradient stands
# among the rest (the indices of a sparse form follow it).
LAYOUT: dict[str, tuple[int, int]] = {
    "GradientDescent": (1, 1),
    "Momentum": (2, 1),
    "KerasMomentum": (2, 1),
    "Adam": (3, 6),
    "RMSProp": (3, 4),
    "CenteredRMSProp": (4, 4),
    "Adagrad": (2, 1),
    "AdagradV2": (2, 2),
    "Adadelta": (3, 3),
    "Ftrl": (3, 0),
    "FtrlV2": (3, 0),
    "AdaMax": (3, 5),
    "AdamWithAmsgrad": (4, 6),
    "AdagradDA": (3, 0),
    "AddSign": (2, 4),
    "PowerSign": (2, 4),
    "ProximalAdagrad": (2, 3),
    "ProximalGradientDescent": (1, 3),
}
# The names of the scalar inputs.
SCALARS: dict[str, tuple[str, ...]] = {
    "GradientDescent": ("alpha",),
    "Momentum": ("lr", "momentum"),
    "KerasMomentum": ("lr", "momentum"),
    "Adam": ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"),
    "RMSProp": ("lr", "rho", "momentum", "epsilon"),
    "CenteredRMSProp": ("lr", "rho", "momentum", "epsilon"),
    "Adagrad": ("lr",),
    "AdagradV2": ("lr", "epsilon"),
    "Adadelta": ("lr", "rho", "epsilon"),
    "Ftrl": ("lr", "l1", "l2", "lr_power"),
    "FtrlV2": ("lr", "l1", "l2", "l2_shrinkage", "lr_power"),
    "AdaMax": ("beta1_power", "lr", "beta1", "beta2", "epsilon"),
    "AdamWithAmsgrad": (
        "beta1_power",
        "beta2_power",
        "lr",
        "beta1",
        "beta2",
        "epsilon",
    ),
    "AdagradDA": ("lr", "l1", "l2", "global_step"),
    "AddSign": ("lr", "alpha", "sign_decay", "beta"),
    "PowerSign": ("lr", "logbase", "sign_decay", "beta"),
    "ProximalAdagrad": ("lr", "l1", "l2"),
    "ProximalGradientDescent": ("alpha", "l1", "l2"),
}
