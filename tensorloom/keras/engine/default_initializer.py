"""The initializer of a weight for which none is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.ops.state import initializers as init_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def default_initializer(name: Any, dtype: DType, layer: str) -> Any:
    """Glorot's uniform one for floating point, zeros for integers and bools.

    Raises:
      ValueError: the dtype has no default initializer.
    """
    if dtype.is_floating:
        return init_ops.GlorotUniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
        return init_ops.Zeros()
    raise ValueError(
        f"An initializer for variable {name} of type {dtype.base_dtype} is required "
        f"for layer {layer}"
    )
