"""What gradients are turned into before they travel."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.types import dtypes
from tensorloom.hvd.top_k import TopK
from tensorloom.ops.math.cast import cast


class Compressor:
    """Turns a tensor into one of fewer bytes, and back."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """(what travels, what `decompress` needs to know)."""
        raise NotImplementedError

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """The tensor in its own dtype."""
        raise NotImplementedError


class NoneCompressor(Compressor):
    """Leaves tensors as they are."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """The tensor itself."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """The tensor itself."""
        return tensor


class _ShortCompressor(Compressor):
    """Sends floating-point values as a dtype of 16 bits."""

    travels_as: dtypes.DType

    @classmethod
    def compress(cls, tensor: Any) -> tuple[Any, Any]:
        """The tensor in 16 bits, and its dtype."""
        if not tensor.dtype.is_floating:
            return tensor, tensor.dtype
        return cast(tensor, cls.travels_as), tensor.dtype

    @classmethod
    def decompress(cls, tensor: Any, ctx: Any) -> Any:
        """The tensor in the dtype that it had."""
        return cast(tensor, ctx) if ctx.is_floating else tensor


class FP16Compressor(_ShortCompressor):
    """Sends floating-point values as float16: above 65504 they overflow."""

    travels_as = dtypes.float16


class BF16Compressor(_ShortCompressor):
    """Sends floating-point values as bfloat16: in float32's range, with 8 bits."""

    travels_as = dtypes.bfloat16


class Compression:
    """The compressors that `allreduce` and `DistributedOptimizer` take."""

    none = NoneCompressor
    fp16 = FP16Compressor
    bf16 = BF16Compressor
    topk = TopK
