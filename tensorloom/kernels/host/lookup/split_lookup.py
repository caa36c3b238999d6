"""Host kernel that looks words up without making strings of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing.example_columns import ragged_indices, sparse_shape
from tensorloom.kernels.host.strings.split import Split, SplitV2

if TYPE_CHECKING:
    from tensorloom.kernels.host.lookup.resource import LookupTable


@host_kernel("_SplitAndFind", large=True)
def split_and_find(c: OpKernelConstruction) -> Compute:
    """Values of words; the words' places."""
    is_old, value_type = c["split"] == b"StringSplit", c["Tout"]
    split: Split | SplitV2
    split = Split(c["skip_empty"]) if is_old else SplitV2(c["maxsplit"])

    def compute(
        table: LookupTable, value: Any, separator: Any, default: Any
    ) -> tuple[Any, Any, Any]:
        spans = split.spans(value, separator)
        if spans is not None:
            table.check_types(dtypes.string, value_type)
            found = table.find_words(spans, default)
            if found is not None:
                counts = spans.counts
                return found, ragged_indices(counts), sparse_shape(counts)
        indices, words, shape = split.sparse(value, separator)
        table.check_types(dtypes.string, value_type)
        return table.find(words, default), indices, shape

    return compute
