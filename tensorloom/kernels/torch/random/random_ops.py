"""Random ops over torch tensors.

Seeded ops give TensorFlow's numbers, which are computed in host memory and then moved;
without a seed torch's own generators are used, on the device itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array.allocation import shape_from_tensor
from tensorloom.kernels.host.random.random_ops import (
    SEEDED,
    fill_seeded,
    shuffle_stream,
    shuffled,
    shuffled_rows,
)
from tensorloom.kernels.host.random.random_state import node_generator

_HostArray = np.ndarray[Any, np.dtype[Any]]
_TORCH_TYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
# Vectors of these are shuffled in one pass.
_IN_HOST = (torch.float32, torch.float64, torch.int32, torch.int64)
_SQRT_2 = math.sqrt(2.0)
# P(|x| < 2) of a standard normal x.
_TRUNCATED_MASS = math.erf(2.0 / _SQRT_2)


def _uniform(out: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return out.uniform_(generator=generator)


def _normal(out: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return out.normal_(generator=generator)


def _truncated_normal(out: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """By inverting the distribution function: no values to draw again."""
    wide = out if out.dtype.itemsize >= 4 else out.float()
    wide.uniform_(-_TRUNCATED_MASS, _TRUNCATED_MASS, generator=generator)
    wide.erfinv_().mul_(_SQRT_2).clamp_(-2.0, 2.0)
    return wide.to(out.dtype)


_UNSEEDED: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "RandomUniform": _uniform,
    "RandomStandardNormal": _normal,
    "TruncatedNormal": _truncated_normal,
}


@kernel(
    ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"],
    host_inputs=("shape",),
)
def fill_shape(c: OpKernelConstruction) -> Compute:
    """A tensor of the given shape from the op's distribution."""
    dtype, device = c["dtype"], c.device
    torch_dtype, torch_device = _TORCH_TYPES[dtype.name], c.torch_device
    state = node_generator(c)
    if state.is_seeded:
        return _fill_seeded(c)
    generator = _new_generator(torch_device)
    sample = _UNSEEDED[c.op]

    def compute(shape: _HostArray) -> torch.Tensor:
        dims = shape_from_tensor(shape, dtype, device)
        out = torch.empty(dims, dtype=torch_dtype, device=torch_device)
        return sample(out, generator)

    return compute


def _fill_seeded(c: OpKernelConstruction) -> Compute:
    dtype, device, torch_device = c["dtype"], c.device, c.torch_device
    torch_dtype = _TORCH_TYPES[dtype.name]
    state, distribution = node_generator(c), SEEDED[c.op]
    # torch cannot read NumPy's bfloat16; its values are exact as floats.
    is_bfloat16 = torch_dtype is torch.bfloat16
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _HostArray) -> torch.Tensor:
        dims = shape_from_tensor(shape, dtype, device)
        values = fill_seeded(state, distribution, dims, numpy_dtype)
        if is_bfloat16:
            values = values.astype(np.float32)
        return torch.from_numpy(values).to(torch_device, torch_dtype)

    return compute


def _new_generator(device: torch.device | None) -> torch.Generator:
    generator = torch.Generator(device or "cpu")
    generator.seed()
    return generator


@kernel("RandomUniformInt", host_inputs=("shape", "minval", "maxval"))
def random_uniform_int(c: OpKernelConstruction) -> Compute:
    """Integers in [minval, maxval), made in host memory."""
    from tensorloom.kernels.host.random.random_ops import (
        random_uniform_int as host_factory,
    )

    host_compute, device = host_factory(c), c.torch_device

    def compute(shape: _HostArray, minval: Any, maxval: Any) -> torch.Tensor:
        return torch.from_numpy(host_compute(shape, minval, maxval)).to(device)

    return compute


@kernel("RandomShuffle", aliases=True)
def random_shuffle(c: OpKernelConstruction) -> Compute:
    """The value with its rows in a random order."""
    generator = node_generator(c)
    unseeded = None if generator.is_seeded else _new_generator(c.torch_device)

    def compute(value: torch.Tensor) -> torch.Tensor:
        size = shuffled_rows(tuple(value.shape))
        if size is None:
            return value
        if unseeded is not None:
            order = torch.randperm(size, generator=unseeded, device=value.device)
            return value.index_select(0, order)
        stream = shuffle_stream(generator, size)
        if value.ndim == 1 and value.dtype in _IN_HOST and value.device.type == "cpu":
            return torch.from_numpy(shuffled(stream, value.numpy()))
        rows = torch.from_numpy(shuffled(stream, np.arange(size)))
        return value.index_select(0, rows.to(value.device))

    return compute


@kernel("Multinomial", host_inputs=("num_samples",))
def multinomial(c: OpKernelConstruction) -> Compute:
    """Class indices [batch, num_samples], sampled in host memory."""
    from tensorloom.kernels.host.random.random_ops import multinomial as host_factory

    host_compute, device = host_factory(c), c.torch_device

    def compute(logits: torch.Tensor, num_samples: Any) -> torch.Tensor:
        rows = logits if logits.dtype is torch.float32 else logits.double()
        values = host_compute(rows.cpu().numpy(), num_samples)
        return torch.from_numpy(values).to(device)

    return compute


@kernel("RandomGammaGrad")
def random_gamma_grad(c: OpKernelConstruction) -> Compute:
    """The derivative of gamma samples with respect to alpha."""

    def compute(alpha: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
        alpha, sample = torch.broadcast_tensors(alpha, sample)  # type: ignore[no-untyped-call]
        return torch._standard_gamma_grad(alpha, sample)

    return compute
