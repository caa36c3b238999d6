"""Max pooling with the places of the maxima, over torch tensors."""

from __future__ import annotations

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.window import nchw_shape
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.pooling.pool import (
    Plan,
    check_rank,
    decode_geometry,
    refuse_depth,
    with_indices,
)

_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}


@kernel("MaxPoolWithArgmax", types={"T": _FLOATS})
def max_pool_with_argmax(c: OpKernelConstruction) -> Compute:
    """(maxima, their indices in each flattened NHWC image)."""
    geometry = decode_geometry(c)
    refuse_depth(c, "ksize")
    index_dtype = TORCH_DTYPES[c["Targmax"]]
    with_batch = c["include_batch_in_index"]

    def compute(image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        check_rank(image.shape)
        plan = geometry.plan(nchw_shape(image.shape, geometry.data_format))
        batch, _, _, channels = image.shape
        if not image.numel() or 0 in plan.outputs:
            shape = (batch, *plan.outputs, channels)
            return image.new_zeros(shape), image.new_zeros(shape, dtype=index_dtype)
        places = with_indices(image, plan, geometry)[1]
        index = _flat_index(places, image, plan)
        # Not the pooled values: unlike those of MaxPool they may be NaN or -inf.
        values = image.flatten(1).gather(1, index.flatten(1)).view(index.shape)
        if with_batch:
            size = image[0].numel()
            index = (
                index
                + torch.arange(batch, device=image.device).view(-1, 1, 1, 1) * size
            )
        return values, index.to(index_dtype)

    return compute


def _flat_index(places: torch.Tensor, image: torch.Tensor, plan: Plan) -> torch.Tensor:
    """Indices into [height, width, channels] from torch's into the padded plane."""
    width, channels = image.shape[2:]
    if plan.extra is not None:
        left, right, top, _ = plan.extra
        padded = width + left + right
        places = (places // padded - top) * width + places % padded - left
    channel = torch.arange(channels, device=image.device).view(1, -1, 1, 1)
    return (places * channels + channel).permute(0, 2, 3, 1)


@kernel("MaxPoolGradWithArgmax", types={"T": _FLOATS})
def max_pool_grad_with_argmax(c: OpKernelConstruction) -> Compute:
    """Gradients added where their maxima were."""
    with_batch = c["include_batch_in_index"]
    decode_geometry(c)  # refuses windows that cannot be
    refuse_depth(c, "ksize")

    def compute(
        image: torch.Tensor, grad: torch.Tensor, argmax: torch.Tensor
    ) -> torch.Tensor:
        check_rank(image.shape)
        if grad.shape != argmax.shape or grad.shape[:1] != image.shape[:1]:
            raise invalid_argument(
                f"grad and argmax must have one shape, got {text(grad.shape)} and "
                f"{text(argmax.shape)}"
            )
        index = argmax.long().flatten(1)
        size = image[0].numel() if len(image) else 0
        if with_batch:
            index = (
                index - torch.arange(len(image), device=index.device)[:, None] * size
            )
        if index.numel() and (index.min() < 0 or index.max() >= size):
            raise invalid_argument(
                f"argmax is out of range: an image has {size} elements"
            )
        result = grad.new_zeros((len(image), size))
        result.scatter_add_(1, index, grad.flatten(1))
        return result.view(image.shape)

    return compute
