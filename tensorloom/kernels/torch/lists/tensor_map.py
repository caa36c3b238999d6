"""`TensorMap`: the value of a map of tensors (a variant). Loads without torch.

As TensorFlow's message of it: the keys and values by turns, without metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.variant_codec import VariantCodec, register_variant
from tensorloom.kernels.torch.state.variable_value import to_host

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tensorloom.framework.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Any  # in host memory
    key_dtype: DType
    value: Any  # as it was given, NumPy or torch
    value_dtype: DType


@dataclass(frozen=True, slots=True)
class TensorMap:
    """An immutable map; entries by what tells keys apart, in the order they came."""

    entries: dict[Hashable, Entry] = field(default_factory=dict)

    shape: ClassVar[tuple[int, ...]] = ()  # a variant is a scalar

    def insert(self, entry: Entry) -> TensorMap:
        """The map with an entry, in place of one with an equal key."""
        return TensorMap({**self.entries, identity(entry.key, entry.key_dtype): entry})

    def find(self, key: Any, dtype: DType) -> Entry | None:
        """The entry of a key."""
        return self.entries.get(identity(key, dtype))

    def erase(self, key: Any, dtype: DType) -> TensorMap:
        """The map without a key, which it has."""
        entries = dict(self.entries)
        del entries[identity(key, dtype)]
        return TensorMap(entries)


def identity(key: Any, dtype: DType) -> Hashable:
    """What is the same for keys that are equal: of one dtype, shape and bytes."""
    array = np.asarray(key)
    is_text = array.dtype == object
    content = tuple(array.reshape(-1).tolist()) if is_text else array.tobytes()
    return dtype.as_datatype_enum, array.shape, content


def _encode(value: TensorMap) -> tuple[bytes, Sequence[Any]]:
    tensors = []
    for entry in value.entries.values():
        held = to_host(entry.value) if hasattr(entry.value, "cpu") else entry.value
        tensors.append(dtypes.named_view(entry.key, entry.key_dtype))
        tensors.append(dtypes.named_view(held, entry.value_dtype))
    return b"", tensors


def _decode(metadata: bytes, tensors: Sequence[Any]) -> TensorMap:
    if len(tensors) % 2:
        raise ValueError(f"a map of {len(tensors)} tensors, keys and values")
    result = TensorMap()
    for key, value in zip(tensors[::2], tensors[1::2], strict=True):
        result = result.insert(Entry(*_element(key), *_element(value)))
    return result


def _element(value: Any) -> tuple[Any, DType]:
    """(a value in host memory, its dtype)."""
    if isinstance(value, bytes):
        return np.array(value, object), dtypes.string
    if not isinstance(value, np.ndarray):
        known = hasattr(value, "dtype")  # a scalar of NumPy, or else a variant
        return value, dtypes.as_dtype(value.dtype) if known else dtypes.variant
    dtype = dtypes.as_dtype(value.dtype)
    value = dtypes.memory_view(value)
    return value if value.shape or dtype == dtypes.string else value[()], dtype


register_variant(TensorMap, VariantCodec("tensorflow::TensorMap", _encode, _decode))
