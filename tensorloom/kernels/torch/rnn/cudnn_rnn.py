"""The ops that TensorFlow computes by cuDNN, over torch's recurrent functions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.rnn.cudnn_layout import Network, network

_SIZES = ("num_layers", "num_units", "input_size")
_FLOATS = {dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16}
# Of one layer, by mode.
_FUNCTIONS: dict[str, Any] = {
    "lstm": torch._VF.lstm,
    "gru": torch._VF.gru,
    "rnn_tanh": torch._VF.rnn_tanh,
    "rnn_relu": torch._VF.rnn_relu,
}


@kernel("CudnnRNNParamsSize", host_inputs=_SIZES, host_outputs=("params_size",))
def params_size(c: OpKernelConstruction) -> Compute:
    """The length of the vector."""
    dtype = c["S"].as_numpy_dtype

    def compute(layers: Any, units: Any, inputs: Any) -> Any:
        sizes = int(layers), int(units), int(inputs)
        return np.array([network(c, *sizes, c["num_proj"]).size()], dtype)

    return compute


@kernel(
    ("CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2"), host_inputs=_SIZES
)
def canonical_to_params(c: OpKernelConstruction) -> Compute:
    """The vector of matrices and biases."""
    projection = c.get("num_proj", 0)
    count = c.get("num_params_weights", c.get("num_params", 0))

    def compute(layers: Any, units: Any, inputs: Any, *parts: Any) -> Any:
        # Lists come as one argument each, or part by part.
        flat = [one for part in parts for one in _listed(part)]
        made = network(c, int(layers), int(units), int(inputs), projection)
        shapes = made.weight_shapes()
        if count != len(shapes) or len(flat) - count != made.bias_count():
            raise invalid_argument(
                f"wanted {len(shapes)} weights and {made.bias_count()} biases, got "
                f"{count} and {len(flat) - count}"
            )
        params = torch.cat([one.reshape(-1) for one in flat])
        if params.numel() != made.size():
            raise invalid_argument(
                f"the weights and biases must have {made.size()} elements in all, got "
                f"{params.numel()}"
            )
        return params

    return compute


def _listed(part: Any) -> Sequence[Any]:
    return part if isinstance(part, list | tuple) else [part]


@kernel(
    ("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2"), host_inputs=_SIZES
)
def params_to_canonical(c: OpKernelConstruction) -> Compute:
    """The matrices and biases in the vector."""
    projection = c.get("num_proj", 0)

    def compute(layers: Any, units: Any, inputs: Any, params: torch.Tensor) -> Any:
        made = network(c, int(layers), int(units), int(inputs), projection)
        shapes: list[tuple[int, ...]] = [*made.weight_shapes()]
        shapes += [(made.units,)] * made.bias_count()
        if params.numel() != made.size():
            raise invalid_argument(
                f"params must have {made.size()} elements, got {params.numel()}"
            )
        lengths = [int(np.prod(shape)) for shape in shapes]
        parts = zip(torch.split(params, lengths), shapes, strict=True)
        return [part.reshape(shape).clone() for part, shape in parts]

    return compute


class _Rnn:
    """The attrs of a node that runs a network."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.c = c
        self.mode = c["rnn_mode"].decode()
        self.dropout = float(c["dropout"])
        self.training = bool(c.get("is_training", True))
        self.time_major = bool(c.get("time_major", True))
        self.projection = int(c.get("num_proj", 0))
        seeds = c["seed"], c["seed2"]
        self._draws = np.random.default_rng(seeds if any(seeds) else None)

    def network(self, x: torch.Tensor, h: torch.Tensor, cells: Any) -> Network:
        """The network for inputs, [time, batch, depth], and states."""
        if x.dim() != 3 or h.dim() != 3:
            raise invalid_argument(
                f"input and input_h must have 3 dimensions, got {x.dim()} and {h.dim()}"
            )
        directions = 2 if self.c["direction"] == b"bidirectional" else 1
        units = cells.shape[2] if self.projection else h.shape[2]
        if h.shape[0] % directions or h.shape[1] != x.shape[1]:
            raise invalid_argument(
                f"input_h must be [layers * {directions}, {x.shape[1]}, units], got "
                f"{list(h.shape)}"
            )
        layers = h.shape[0] // directions
        return network(self.c, layers, units, x.shape[2], self.projection)

    def masks(self, made: Network, x: torch.Tensor) -> torch.Tensor:
        """What multiplies outputs between layers, [layers - 1, time, batch, ...]."""
        if not (self.training and self.dropout and made.layers > 1):
            return x.new_empty([0])
        generator = torch.Generator(x.device)
        generator.manual_seed(int(self._draws.integers(2**63)))
        shape = [made.layers - 1, *x.shape[:2], made.state * made.directions]
        keep = torch.rand(shape, generator=generator, device=x.device) >= self.dropout
        return keep.to(x.dtype) / (1 - self.dropout)

    def run(
        self,
        x: torch.Tensor,
        h: torch.Tensor,
        cells: torch.Tensor,
        params: torch.Tensor,
        lengths: torch.Tensor | None,
        masks: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(outputs, final states, final cells) of a network over [time, batch, ...]."""
        made = self.network(x, h, cells)
        weights = made.layer_weights(params)
        ways = made.directions
        last_h, last_c = [], []
        for layer in range(made.layers):
            part = slice(layer * ways, (layer + 1) * ways)
            flat = [one for both in weights[part] for one in both]
            states = (h[part], cells[part]) if self.mode == "lstm" else (h[part],)
            x, *last = self._layer(x, states, flat, ways == 2, lengths)
            last_h.append(last[0])
            last_c.append(last[-1])
            if masks.numel() and layer < made.layers - 1:
                x = x * masks[layer]
        final_c = torch.cat(last_c) if self.mode == "lstm" else x.new_empty([0])
        return x, torch.cat(last_h), final_c

    def _layer(
        self,
        x: torch.Tensor,
        states: Sequence[torch.Tensor],
        weights: list[torch.Tensor],
        both_ways: bool,
        lengths: torch.Tensor | None,
    ) -> Any:
        given = [one.contiguous() for one in states]
        if lengths is None:
            flags = (weights, True, 1, 0.0, False, both_ways)
            return self._call(x, given, *flags, False)
        # A sequence without steps has one here, and what comes of it is taken back.
        packed = pack_padded_sequence(
            x, lengths.clamp(min=1).cpu(), enforce_sorted=False
        )
        order: Any = packed.sorted_indices
        back: Any = packed.unsorted_indices
        given = [one.index_select(1, order) for one in given]
        flags = (weights, True, 1, 0.0, False, both_ways)
        out, *last = self._call(packed.data, given, *flags, sizes=packed.batch_sizes)
        padded, _ = pad_packed_sequence(
            packed._replace(data=out), total_length=x.shape[0]
        )
        empty = (lengths == 0).to(x.device)[:, None]
        last = [one.index_select(1, back) for one in last]
        last = [
            torch.where(empty, old, new) for old, new in zip(states, last, strict=True)
        ]
        return torch.where(empty, torch.zeros_like(padded), padded), *last

    def _call(
        self,
        x: torch.Tensor,
        states: list[torch.Tensor],
        *flags: Any,
        sizes: torch.Tensor | None = None,
    ) -> Any:
        packed = () if sizes is None else (sizes,)
        if self.mode == "lstm":
            function = _FUNCTIONS["lstm"]
            if not self.projection:
                return function(x, *packed, states, *flags)
            with warnings.catch_warnings():
                # That oneDNN has no projections. torch goes on without it.
                warnings.simplefilter("ignore", UserWarning)
                return function(x, *packed, states, *flags)
        return _FUNCTIONS[self.mode](x, *packed, states[0], *flags)


def _time_first(tensor: torch.Tensor, is_so: bool) -> torch.Tensor:
    return tensor if is_so else tensor.transpose(0, 1)


@kernel(
    ("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"),
    types={"T": _FLOATS},
    host_inputs=("sequence_lengths",),
    host_outputs=("host_reserved",),
)
def forward(c: OpKernelConstruction) -> Compute:
    """Outputs and final states; what is kept are the masks of dropout."""
    rnn = _Rnn(c)
    keeps_more = c.op != "CudnnRNN"

    def compute(x: Any, h: Any, cells: Any, params: Any, lengths: Any = None) -> Any:
        x = _time_first(x, rnn.time_major)
        # The states of V3 are [batch, layers, units] where batch comes first.
        h, cells = (_states_first(rnn, one) for one in (h, cells))
        masks = rnn.masks(rnn.network(x, h, cells), x)
        steps = (
            None if lengths is None else torch.from_numpy(np.array(lengths, np.int64))
        )
        if steps is not None and bool((steps == x.shape[0]).all()):
            steps = None
        out, last_h, last_c = rnn.run(x, h, cells, params, steps, masks)
        out = _time_first(out, rnn.time_major).contiguous()
        last_h, last_c = (_states_first(rnn, one) for one in (last_h, last_c))
        if not keeps_more:
            return out, last_h, last_c, masks
        return out, last_h, last_c, masks, np.zeros([0], np.int8)

    return compute


def _states_first(rnn: _Rnn, states: torch.Tensor) -> torch.Tensor:
    if states.dim() != 3 or rnn.time_major:
        return states
    return states.transpose(0, 1).contiguous()


@kernel(
    ("CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3"),
    types={"T": _FLOATS},
    host_inputs=("sequence_lengths", "host_reserved"),
)
def backward(c: OpKernelConstruction) -> Compute:
    """The gradients: the network runs once more, watched by torch."""
    rnn = _Rnn(c)
    is_v3 = c.op == "CudnnRNNBackpropV3"

    def compute(x: Any, h: Any, cells: Any, params: Any, *rest: Any) -> Any:
        steps = None
        if is_v3:
            steps, *rest = rest  # type: ignore[assignment]
            steps = torch.from_numpy(np.array(steps, np.int64))
            if bool((steps == x.shape[0 if rnn.time_major else 1]).all()):
                steps = None
        _, _, _, *grads = rest[:6]
        masks = rest[6]
        with torch.inference_mode(False), torch.enable_grad():
            # What was made in inference mode cannot be watched; copies can.
            given = [one.clone().requires_grad_() for one in (x, h, cells, params)]
            ready: Any = [
                _time_first(given[0], rnn.time_major),
                *(_states_first(rnn, one) for one in given[1:3]),
                given[3],
            ]
            out, last_h, last_c = rnn.run(
                ready[0], ready[1], ready[2], ready[3], steps, masks.clone()
            )
            results = [
                _time_first(out, rnn.time_major),
                *(_states_first(rnn, one) for one in (last_h, last_c)),
            ]
            count = 3 if rnn.mode == "lstm" else 2
            found = torch.autograd.grad(
                results[:count],
                given,
                [one.clone() for one in grads[:count]],
                allow_unused=True,
            )
        return [
            torch.zeros_like(one) if grad is None else grad
            for grad, one in zip(found, (x, h, cells, params), strict=True)
        ]

    return compute
