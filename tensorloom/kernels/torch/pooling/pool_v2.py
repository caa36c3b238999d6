"""Max pooling whose windows are inputs, over torch tensors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    KernelFactory,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.pooling.pool import (
    TORCH_NUMBERS,
    check_rank,
    max_pool,
    max_pool_grad,
    max_pool_grad_grad,
)

_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}
_HOST = ("ksize", "strides")


class _WithWindow:
    """A node as if its window were attrs."""

    def __init__(
        self, c: OpKernelConstruction, ksize: list[int], strides: list[int]
    ) -> None:
        self._node = c
        self._window = {"ksize": ksize, "strides": strides}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __getitem__(self, attr: str) -> Any:
        return self._window[attr] if attr in self._window else self._node[attr]

    def get(self, attr: str, default: Any = None) -> Any:
        """The attr, or `default`."""
        return self._window[attr] if attr in self._window else self._node.get(attr)


def _numbers(value: Any, what: str) -> tuple[int, ...]:
    array = np.asarray(value)
    if array.shape != (4,):
        raise invalid_argument(f"Sliding window {what} field must specify 4 dimensions")
    return tuple(array.tolist())


def _by_window(c: OpKernelConstruction, factory: KernelFactory) -> Compute:
    """The kernel of the op with attrs, made once for each window that is met."""

    @lru_cache(maxsize=16)
    def made(ksize: tuple[int, ...], strides: tuple[int, ...]) -> Compute:
        if min(strides) <= 0:
            raise invalid_argument(f"Stride must be > 0, but got {min(strides)}")
        node: Any = _WithWindow(c, list(ksize), list(strides))
        return factory(node)

    def compute(*inputs: Any) -> torch.Tensor:
        *tensors, ksize, strides = inputs
        run = made(_numbers(ksize, "ksize"), _numbers(strides, "stride"))
        return run(*tensors)  # type: ignore[no-any-return]

    return compute


@kernel("MaxPoolV2", types={"T": TORCH_NUMBERS}, host_inputs=_HOST)
def _max_pool_v2(c: OpKernelConstruction) -> Compute:
    return _by_window(c, max_pool)


@kernel("MaxPoolGradV2", types={"T": _FLOATS}, host_inputs=_HOST)
def _max_pool_grad_v2(c: OpKernelConstruction) -> Compute:
    return _by_window(c, max_pool_grad)


@kernel("MaxPoolV2", types={"T": {dtypes.uint16}}, host_inputs=_HOST)
def _max_pool_v2_uint16(c: OpKernelConstruction) -> Compute:
    compute = _by_window(c, max_pool)

    def widened(image: torch.Tensor, ksize: Any, strides: Any) -> torch.Tensor:
        pooled: torch.Tensor = compute(image.int(), ksize, strides)
        return pooled.to(torch.uint16)

    return widened


@kernel("MaxPoolGradGradV2", types={"T": _FLOATS}, host_inputs=_HOST)
def _max_pool_grad_grad_v2(c: OpKernelConstruction) -> Compute:
    return _by_window(c, max_pool_grad_grad)


@kernel("MaxPoolGradGradV2", types={"T": TORCH_NUMBERS - _FLOATS}, host_inputs=_HOST)
def _max_pool_grad_grad_v2_integers(c: OpKernelConstruction) -> Compute:
    return _by_window(c, max_pool_grad_grad)


@kernel("MaxPoolGradGradV2", types={"T": {dtypes.uint16}}, host_inputs=_HOST)
def _max_pool_grad_grad_v2_uint16(c: OpKernelConstruction) -> Compute:
    compute = _by_window(c, max_pool_grad_grad)

    def widened(
        image: torch.Tensor, output: torch.Tensor, grad: torch.Tensor, *sizes: Any
    ) -> torch.Tensor:
        picked: torch.Tensor = compute(image.int(), output.int(), grad.int(), *sizes)
        return picked.to(torch.uint16)

    return widened


@kernel("MaxPoolGradGradWithArgmax", types={"T": _FLOATS})
def _max_pool_grad_grad_with_argmax(c: OpKernelConstruction) -> Compute:
    with_batch = c["include_batch_in_index"]

    def compute(
        image: torch.Tensor, grad: torch.Tensor, argmax: torch.Tensor
    ) -> torch.Tensor:
        check_rank(image.shape)
        if grad.shape != image.shape or argmax.shape[:1] != image.shape[:1]:
            raise invalid_argument(
                "tensor_in, out_grad_backprop and argmax must fit, got "
                f"{text(image.shape)}, {text(grad.shape)} and {text(argmax.shape)}"
            )
        index = argmax.long().flatten(1)
        size = image[0].numel() if len(image) else 0
        if with_batch:
            batch = torch.arange(len(image), device=index.device)
            index = index - batch[:, None] * size
        if index.numel() and (index.min() < 0 or index.max() >= size):
            raise invalid_argument(
                f"argmax is out of range: an image has {size} elements"
            )
        return grad.flatten(1).gather(1, index).view(argmax.shape)

    return compute
