"""What gradients are turned into before they travel."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.types import dtypes
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


class FP16Compressor(Compressor):
    """Sends floating-point values of more than 16 bits as float16."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """The tensor as float16, and its dtype."""
        if not tensor.dtype.is_floating:
            return tensor, tensor.dtype
        return cast(tensor, dtypes.float16), tensor.dtype

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """The tensor in the dtype that it had."""
        return cast(tensor, ctx) if ctx.is_floating else tensor


class Compression:
    """The compressors that `allreduce` and `DistributedOptimizer` take."""

    none = NoneCompressor
    fp16 = FP16Compressor
