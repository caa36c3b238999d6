"""`BoundedTensorSpec`: a tensor whose elements lie between bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.data.specs import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A tensor with a least and a greatest value, both allowed.

    Args:
      shape: its static shape; None for unknown.
      dtype: its dtype.
      minimum, maximum: numbers, or arrays that broadcast to the shape.
      name: of the tensor.

    Raises:
      ValueError: a bound is missing or does not broadcast to the shape.
    """

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        minimum: Any,
        maximum: Any,
        name: str | None = None,
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(
                "minimum and maximum must be provided; but saw "
                f"'{minimum}' and '{maximum}'"
            )
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> Any:
        if self.shape.rank is not None:
            known = [1 if size is None else size for size in self.shape.as_list()]
            try:
                np.broadcast_shapes(np.shape(value), tuple(known))
            except ValueError as error:
                raise ValueError(
                    f"{which} is not compatible with shape. Message: {error!r}."
                ) from None
        # Numbers outside of the dtype wrap around, as in TensorFlow 1.15.
        bound = np.asarray(value).astype(self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A spec of another's shape and dtype, and of its bounds or its dtype's."""
        minimum = getattr(spec, "minimum", None)
        maximum = getattr(spec, "maximum", None)
        return cls(
            spec.shape,
            spec.dtype,
            spec.dtype.min if minimum is None else minimum,
            spec.dtype.max if maximum is None else maximum,
            name or spec.name,
        )

    @property
    def minimum(self) -> Any:
        """The least values, an array."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The greatest values, an array."""
        return self._maximum

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, "
            f"name={self.name!r}, minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and (self.shape.as_list() if self.shape.rank is not None else None)
            == (other.shape.as_list() if other.shape.rank is not None else None)
            and (self.dtype, self.name) == (other.dtype, other.name)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return hash((str(self.shape), self.dtype, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedTensorSpec, self._serialize()

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name
