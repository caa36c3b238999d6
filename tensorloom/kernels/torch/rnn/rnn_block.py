"""LSTM and GRU cells and sequences over torch tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.linalg.matrix_product import matrix_product

# Where each gate is in the columns of w.
_ORDERS = {"": "icfo", "V2": "ifco"}


class _Weights(NamedTuple):
    w: torch.Tensor
    wci: torch.Tensor
    wcf: torch.Tensor
    wco: torch.Tensor
    b: torch.Tensor


class _Step(NamedTuple):
    """The outputs of one step, in the order of the op's."""

    i: torch.Tensor
    cs: torch.Tensor
    f: torch.Tensor
    o: torch.Tensor
    ci: torch.Tensor
    co: torch.Tensor
    h: torch.Tensor


def _check(
    x: torch.Tensor,
    cs: torch.Tensor,
    h: torch.Tensor,
    weights: _Weights,
    peephole: bool = True,
) -> None:
    """Shapes of one step (x without time) must fit the weights."""
    batch, units = x.shape[0], cs.shape[-1]
    expected = {
        "cs_prev": (cs, (batch, units)),
        "h_prev": (h, (batch, units)),
        "w": (weights.w, (x.shape[1] + units, 4 * units)),
        "b": (weights.b, (4 * units,)),
    }
    if peephole:
        for name in ("wci", "wcf", "wco"):
            expected[name] = getattr(weights, name), (units,)
    for name, (value, shape) in expected.items():
        if tuple(value.shape) != shape:
            raise invalid_argument(
                f"{name} must have shape {text(shape)}, got {text(value.shape)}"
            )


class _Lstm:
    """The attrs of an LSTM node."""

    def __init__(self, c: OpKernelConstruction, version: str) -> None:
        self.order = _ORDERS[version]
        self.forget_bias = 0.0 if version else c.get("forget_bias", 1.0)
        self.clip = c.get("cell_clip", -1.0)
        self.peephole = c["use_peephole"]

    def gates(self, value: torch.Tensor) -> dict[str, torch.Tensor]:
        """The columns of each gate."""
        return dict(zip(self.order, value.chunk(4, 1), strict=True))

    def step(
        self, x: torch.Tensor, cs: torch.Tensor, h: torch.Tensor, weights: _Weights
    ) -> _Step:
        """One step forward."""
        joined = torch.cat([x, h], 1)
        gates = self.gates(matrix_product(joined, weights.w, weights.b))
        into, forget, out = gates["i"], gates["f"] + self.forget_bias, gates["o"]
        if self.peephole:
            into = into + cs * weights.wci
            forget = forget + cs * weights.wcf
        i, f, ci = into.sigmoid(), forget.sigmoid(), gates["c"].tanh()
        memory = ci * i + cs * f
        if self.clip > 0:
            memory = memory.clamp(-self.clip, self.clip)
        if self.peephole:
            out = out + memory * weights.wco
        o, co = out.sigmoid(), memory.tanh()
        return _Step(i, memory, f, o, ci, co, o * co)

    def backward(
        self,
        before: torch.Tensor,
        step: _Step,
        weights: _Weights,
        cs_grad: torch.Tensor,
        h_grad: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """(gradient of the memory before, of all gates, and of each gate)."""
        i, _, f, o, ci, co, _ = step
        grads = {"o": o * (1 - o) * h_grad * co}
        memory = (1 - co * co) * h_grad * o + cs_grad
        if self.peephole:
            memory = memory + grads["o"] * weights.wco
        grads["c"] = (1 - ci * ci) * memory * i
        grads["f"] = f * (1 - f) * memory * before
        grads["i"] = i * (1 - i) * memory * ci
        to_before = memory * f
        if self.peephole:
            to_before = to_before + grads["i"] * weights.wci + grads["f"] * weights.wcf
        return to_before, torch.cat([grads[g] for g in self.order], 1), grads

    def peephole_grads(
        self, before: torch.Tensor, cs: torch.Tensor, grads: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, ...]:
        """Of wci, wcf and wco."""
        if not self.peephole:
            zeros = cs.new_zeros(cs.shape[1])
            return zeros, zeros.clone(), zeros.clone()
        return (
            (grads["i"] * before).sum(0),
            (grads["f"] * before).sum(0),
            (grads["o"] * cs).sum(0),
        )


def _check_ranks(**values: tuple[torch.Tensor, int]) -> None:
    for name, (value, rank) in values.items():
        if value.dim() != rank:
            raise invalid_argument(
                f"{name} must be rank {rank} but is rank {value.dim()}"
            )


@kernel("LSTMBlockCell")
def _lstm_cell(c: OpKernelConstruction) -> Compute:
    lstm = _Lstm(c, "")

    def compute(
        x: torch.Tensor, cs: torch.Tensor, h: torch.Tensor, *weights: torch.Tensor
    ) -> Any:
        _check_ranks(x=(x, 2), cs_prev=(cs, 2), h_prev=(h, 2))
        _check(x, cs, h, _Weights(*weights), lstm.peephole)
        return tuple(lstm.step(x, cs, h, _Weights(*weights)))

    return compute


@kernel("LSTMBlockCellGrad")
def _lstm_cell_grad(c: OpKernelConstruction) -> Compute:
    lstm = _Lstm(c, "")

    def compute(*inputs: torch.Tensor) -> Any:
        x, before, h = inputs[:3]
        weights = _Weights(*inputs[3:8])
        _check_ranks(x=(x, 2), cs_prev=(before, 2), h_prev=(h, 2))
        _check(x, before, h, weights, lstm.peephole)
        for value in inputs[8:]:
            if value.shape != before.shape:
                raise invalid_argument(
                    f"gates and gradients must have shape {text(before.shape)}, got "
                    f"{text(value.shape)}"
                )
        step = _Step._make((*inputs[8:14], h))
        to_before, gates, grads = lstm.backward(before, step, weights, *inputs[14:])
        return to_before, gates, *lstm.peephole_grads(before, step.cs, grads)

    return compute


def _steps(seq_len_max: Any, length: int) -> int:
    count = int(np.asarray(seq_len_max).reshape(-1)[0])
    if not 0 <= count <= length:
        raise invalid_argument(f"seq_len_max must be in [0, {length}], got {count}")
    return count


@kernel(["BlockLSTM", "BlockLSTMV2"], host_inputs=("seq_len_max",))
def _block_lstm(c: OpKernelConstruction) -> Compute:
    lstm = _Lstm(c, c.op.removeprefix("BlockLSTM"))

    def compute(
        seq_len_max: Any,
        x: torch.Tensor,
        cs: torch.Tensor,
        h: torch.Tensor,
        *others: torch.Tensor,
    ) -> Any:
        weights = _Weights(*others)
        _check_ranks(x=(x, 3), cs_prev=(cs, 2), h_prev=(h, 2))
        length, batch, _ = x.shape
        count = _steps(seq_len_max, length)
        _check(x[0] if length else x.new_zeros(x.shape[1:]), cs, h, weights)
        results = x.new_zeros((7, length, batch, cs.shape[1]))
        for t in range(count):
            step = lstm.step(x[t], cs, h, weights)
            cs, h = step.cs, step.h
            for result, value in zip(results, step, strict=True):
                result[t] = value
        return tuple(results.unbind())

    return compute


@kernel(["BlockLSTMGrad", "BlockLSTMGradV2"], host_inputs=("seq_len_max",))
def _block_lstm_grad(c: OpKernelConstruction) -> Compute:
    lstm = _Lstm(c, c.op.removeprefix("BlockLSTMGrad"))

    def compute(seq_len_max: Any, *inputs: torch.Tensor) -> Any:
        x, cs_first, h_first = inputs[:3]
        weights, outputs = _Weights(*inputs[3:8]), inputs[8:15]
        cs_grads, h_grads = inputs[15:]
        _check_ranks(x=(x, 3), cs_prev=(cs_first, 2), h_prev=(h_first, 2))
        count, depth = _steps(seq_len_max, len(x)), x.shape[2]
        shape = (*x.shape[:2], cs_first.shape[1])
        for value in inputs[8:]:
            if tuple(value.shape) != shape:
                raise invalid_argument(
                    f"expected shape {text(shape)}, got {text(value.shape)}"
                )
        x_grad = torch.zeros_like(x)
        w_grad, b_grad = torch.zeros_like(weights.w), torch.zeros_like(weights.b)
        peepholes = [torch.zeros_like(weights.wci) for _ in range(3)]
        to_cs, to_h = torch.zeros_like(cs_first), torch.zeros_like(h_first)
        for t in range(count - 1, -1, -1):
            step = _Step(*(output[t] for output in outputs))
            before = outputs[1][t - 1] if t else cs_first
            h_before = outputs[6][t - 1] if t else h_first
            to_cs, gates, grads = lstm.backward(
                before, step, weights, cs_grads[t] + to_cs, h_grads[t] + to_h
            )
            joined = gates @ weights.w.t()
            x_grad[t], to_h = joined[:, :depth], joined[:, depth:]
            w_grad.addmm_(torch.cat([x[t], h_before], 1).t(), gates)
            b_grad += gates.sum(0)
            if lstm.peephole:
                more = lstm.peephole_grads(before, step.cs, grads)
                peepholes = [a + b for a, b in zip(peepholes, more, strict=True)]
        return x_grad, to_cs, to_h, w_grad, *peepholes, b_grad

    return compute


# --- GRU ---------------------------------------------------------------------


def _check_gru(inputs: tuple[torch.Tensor, ...]) -> None:
    x, h, w_ru, w_c, b_ru, b_c = inputs[:6]
    _check_ranks(x=(x, 2), h_prev=(h, 2))
    depth, units = x.shape[1], h.shape[1]
    expected = {
        "h_prev": (h, (len(x), units)),
        "w_ru": (w_ru, (depth + units, 2 * units)),
        "w_c": (w_c, (depth + units, units)),
        "b_ru": (b_ru, (2 * units,)),
        "b_c": (b_c, (units,)),
    }
    for name, (value, shape) in expected.items():
        if tuple(value.shape) != shape:
            raise invalid_argument(
                f"{name} must have shape {text(shape)}, got {text(value.shape)}"
            )


@kernel("GRUBlockCell")
def _gru_cell(c: OpKernelConstruction) -> Compute:
    def compute(*inputs: torch.Tensor) -> Any:
        _check_gru(inputs)
        x, h, w_ru, w_c, b_ru, b_c = inputs
        gates = matrix_product(torch.cat([x, h], 1), w_ru, b_ru).sigmoid()
        r, u = gates.chunk(2, 1)
        candidate = matrix_product(torch.cat([x, h * r], 1), w_c, b_c).tanh()
        return r, u, candidate, u * h + (1 - u) * candidate

    return compute


@kernel("GRUBlockCellGrad")
def _gru_cell_grad(c: OpKernelConstruction) -> Compute:
    def compute(*inputs: torch.Tensor) -> Any:
        _check_gru(inputs)
        x, h, w_ru, w_c = inputs[:4]
        r, u, candidate, d_h = inputs[6:]
        for value in inputs[6:]:
            if value.shape != h.shape:
                raise invalid_argument(
                    f"expected shape {text(h.shape)}, got {text(value.shape)}"
                )
        d_c = d_h * (1 - u) * (1 - candidate * candidate)
        d_u = d_h * (h - candidate) * u * (1 - u)
        from_c = d_c @ w_c.t()
        d_hr = from_c[:, x.shape[1] :]
        d_r = d_hr * h * r * (1 - r)
        d_ru = torch.cat([d_r, d_u], 1)
        from_ru = d_ru @ w_ru.t()
        d_x = from_ru[:, : x.shape[1]] + from_c[:, : x.shape[1]]
        d_h_prev = from_ru[:, x.shape[1] :] + d_hr * r + d_h * u
        return d_x, d_h_prev, d_c, d_ru

    return compute
