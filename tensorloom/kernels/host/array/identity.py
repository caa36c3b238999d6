"""Host kernels of Identity and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


def _same(value: Any) -> Any:
    return value


@host_kernel(
    [
        "Identity",
        "StopGradient",
        "PreventGradient",
        "XlaClusterOutput",
        "GuaranteeConst",
        "PlaceholderWithDefault",
    ],
    aliases=True,
    inline="{0}",
)
def _identity(c: OpKernelConstruction) -> Compute:
    return _same


@host_kernel("RefIdentity", aliases=True, large=True)
def _ref_identity(c: OpKernelConstruction) -> Compute:
    return _same


@host_kernel("IdentityN", aliases=True)
def _identity_n(c: OpKernelConstruction) -> Compute:
    return lambda *values: values


@host_kernel(["Snapshot", "DeepCopy"])
def _copy(c: OpKernelConstruction) -> Compute:
    return lambda value: value.copy()


@host_kernel("EnsureShape", aliases=True)
def _ensure_shape(c: OpKernelConstruction) -> Compute:
    expected, source = c["shape"], c.node.inputs[0][0]

    def compute(value: Any) -> Any:
        check_shape_fits(value.shape, expected, source)
        return value

    return compute


def check_shape_fits(shape: Any, expected: TensorShape, source: str) -> None:
    """Raises InvalidArgumentError unless a shape is one that `expected` allows."""
    if not expected.is_compatible_with(tuple(shape)):
        dims = expected.dims_tuple
        assert dims is not None
        wanted = ",".join("?" if d is None else str(d) for d in dims)
        raise invalid_argument(
            f"Shape of tensor {source} {shape_text(shape)} is not compatible with "
            f"expected shape [{wanted}]."
        )


@host_kernel(
    "CheckNumerics",
    types={"T": {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}},
    aliases=True,
)
def _check_numerics(c: OpKernelConstruction) -> Compute:
    message = c["message"].decode(errors="replace")

    def compute(value: Any) -> Any:
        if not np.isfinite(value).all():
            raise not_finite(
                message, bool(np.isnan(value).any()), bool(np.isinf(value).any())
            )
        return value

    return compute


def not_finite(message: str, has_nan: bool, has_inf: bool) -> Exception:
    """The error of CheckNumerics."""
    found = "NaN" if has_nan else "Inf"
    if has_nan and has_inf:
        found = "Inf and NaN"
    return invalid_argument(f"{message} : Tensor had {found} values")


@host_kernel(
    "CheckNumericsV2",
    types={"T": {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}},
    aliases=True,
)
def _check_numerics_v2(c: OpKernelConstruction) -> Compute:
    message = c["message"].decode(errors="replace")

    def compute(value: Any) -> Any:
        if not np.isfinite(value).all():
            found = (value == -np.inf, value == np.inf, np.isnan(value))
            raise not_finite_signed(message, *(bool(f.any()) for f in found))
        return value

    return compute


def not_finite_signed(
    message: str, has_least: bool, has_most: bool, has_nan: bool
) -> Exception:
    """The error of CheckNumericsV2."""
    named = (("-Inf", has_least), ("+Inf", has_most), ("NaN", has_nan))
    found = [name for name, has in named if has]
    text = found[0] if len(found) == 1 else ", ".join(found[:-1])
    if len(found) > 1:
        text += f"{',' if len(found) > 2 else ''} and {found[-1]}"
    return invalid_argument(f"{message} : Tensor had {text} values")


@host_kernel(["Placeholder", "PlaceholderV2"])
def _placeholder(c: OpKernelConstruction) -> Compute:
    dims = c["shape"].dims_tuple
    text = f"You must feed a value for placeholder tensor '{c.node_name}' with dtype "
    text += dtype_word(c["dtype"])
    if dims is not None:
        text += f" and shape [{','.join('?' if d is None else str(d) for d in dims)}]"

    def compute() -> Any:
        raise invalid_argument(text)

    return compute
