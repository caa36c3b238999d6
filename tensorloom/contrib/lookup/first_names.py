"""The first functions of lookup tables, over those that came after them."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.lookup.bucket_tables import FastHashSpec
from tensorloom.ops.lookup.index_tables import (
    index_table_from_file,
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)


@export("contrib.lookup.string_to_index_table_from_file")
def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """`index_table_from_file` of strings."""
    return index_table_from_file(
        vocabulary_file,
        num_oov_buckets,
        vocab_size,
        default_value,
        hasher_spec,
        key_dtype=dtypes.string,
        name=name,
    )


@export("contrib.lookup.string_to_index_table_from_tensor")
def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """`index_table_from_tensor` of strings.

    Raises:
      ValueError: the mapping has no strings.
    """
    with name_scope(name, "string_to_index") as scope:
        mapping = convert_to_tensor(mapping)
    if mapping.dtype.base_dtype != dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, name=scope
    )


@export("contrib.lookup.string_to_index")
def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """The place of each string in `mapping`, int64.

    Args:
      tensor: strings, dense or sparse.
      mapping: a vector of different strings.
      default_value: stands for strings that are not in it.
      name: of the table.
    """
    table = index_table_from_tensor(
        mapping=mapping, default_value=default_value, name=name
    )
    return table.lookup(tensor)


@export("contrib.lookup.index_to_string")
def index_to_string(
    tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """The string at each place of `mapping`.

    Args:
      tensor: places, int64.
      mapping: a vector of strings.
      default_value: stands for places that it does not have.
      name: of the table.
    """
    table = index_to_string_table_from_tensor(
        mapping=mapping, default_value=default_value, name=name
    )
    return table.lookup(tensor)
