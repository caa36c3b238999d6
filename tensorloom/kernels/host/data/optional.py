"""Optionals in host memory. The tensors in them are kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.dtypes import as_dtype, memory_view, named_view, variant
from tensorloom.framework.types.variant_codec import VariantCodec, register_variant
from tensorloom.kernels.torch.state.variable_value import is_host, to_host

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType


class Optional:
    """Some values of some dtypes, or None for nothing."""

    __slots__ = ("dtypes", "values")
    shape: tuple[int, ...] = ()

    def __init__(
        self, values: tuple[Any, ...] | None, dtypes: Sequence[DType] = ()
    ) -> None:
        self.values = values
        self.dtypes = dtypes


@host_kernel(
    "OptionalFromValue",
    any_inputs=("components",),
    retains=("components",),
    large=True,
)
def from_value(c: OpKernelConstruction) -> Compute:
    """An optional of its inputs."""
    types = c["Toutput_types"]
    return lambda *components: Optional(components, types)


@host_kernel("OptionalNone", large=True)
def none(c: OpKernelConstruction) -> Compute:
    """An optional of nothing."""
    return lambda: Optional(None)


@host_kernel("OptionalHasValue", large=True)
def has_value(c: OpKernelConstruction) -> Compute:
    """Whether there is something."""
    # The result of a branch that was not taken is no optional at all.
    return lambda optional: np.bool_(
        optional is not None and optional.values is not None
    )


def make_get_value(c: OpKernelConstruction, convert: Callable[[Any], Any]) -> Compute:
    """The function that takes the values out; `convert` is for numeric ones."""
    types, shapes = c["output_types"], c["output_shapes"]
    numeric = [is_torch_type(dtype) for dtype in types]

    def compute(optional: Optional | None) -> tuple[Any, ...]:
        if optional is None or optional.values is None:
            raise errors.InvalidArgumentError(
                None, None, "The given optional does not have a value."
            )
        if len(optional.values) != len(types):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The given optional has {len(optional.values)} components, expected "
                f"{len(types)}.",
            )
        for index, (value, shape) in enumerate(
            zip(optional.values, shapes, strict=False)
        ):
            found = getattr(value, "shape", None)
            if found is not None and not shape.is_compatible_with(list(found)):
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "The given optional does not match the expected shape for "
                    f"component {index}. Expected: {shape}. Actual: {list(found)}.",
                )
        return tuple(
            convert(value) if is_number else value
            for value, is_number in zip(optional.values, numeric, strict=True)
        )

    return compute


def _to_host(value: Any) -> Any:
    return value if is_host(value) else to_host(value)


@host_kernel("OptionalGetValue", aliases=True)
def get_value(c: OpKernelConstruction) -> Compute:
    """The values, in host memory."""
    return make_get_value(c, _to_host)


def _encode(optional: Optional) -> tuple[bytes, tuple[Any, ...]]:
    values = optional.values
    if values is None:
        return b"\0", ()
    found = [to_host(v) if hasattr(v, "cpu") else v for v in values]
    pairs = zip(found, optional.dtypes, strict=True)
    return b"\1", tuple(named_view(value, dtype) for value, dtype in pairs)


def _decode(metadata: bytes, values: Sequence[Any]) -> Optional:
    if metadata not in (b"\0", b"\1"):
        raise ValueError("an optional that neither has values nor lacks them")
    if metadata == b"\0":
        return Optional(None)
    arrays = [v if isinstance(v, np.ndarray) else None for v in values]
    return Optional(
        tuple(
            value if array is None else memory_view(array)
            for value, array in zip(values, arrays, strict=True)
        ),
        [variant if array is None else as_dtype(array.dtype) for array in arrays],
    )


register_variant(Optional, VariantCodec("tensorflow::data::Optional", _encode, _decode))
