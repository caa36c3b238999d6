"""The steps of feature lists in SequenceExample messages of protobuf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing import example_columns as columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.types.dtypes import DType

_LISTS = {dtypes.float32: "float_list", dtypes.int64: "int64_list"}


def pick(features: Any, key: bytes) -> Any:
    """The Feature or FeatureList of a key in a protobuf map, None if it has none."""
    name = key.decode(errors="replace")
    # Looking up a missing key in a protobuf map would create it.
    return features[name] if name in features else None  # noqa: SIM401


def is_of(feature: Any, dtype: DType) -> bool:
    """Whether a Feature has values of a dtype, or none."""
    kind = feature.WhichOneof("kind")
    return kind is None or kind == _LISTS.get(dtype, "bytes_list")


@dataclass
class Steps:
    """A feature list of all messages: a column of steps, of which messages have some.

    `column` has a row for each step of each message; `counts` tells how many steps each
    message has.
    """

    column: columns.Column
    counts: NDArray[np.int64]


def steps_of(
    lists: Sequence[Any], dtype: DType, mismatch: Callable[[int, int, Any], Exception]
) -> Steps:
    """The steps of FeatureLists, None for a missing one.

    Args:
      mismatch: the error for a step of another dtype, from message, step and Feature.
    """
    features = []
    for row, found in enumerate(lists):
        for step, feature in enumerate([] if found is None else found.feature):
            if not is_of(feature, dtype):
                raise mismatch(row, step, feature)
            features.append(feature)
    counts = [0 if found is None else len(found.feature) for found in lists]
    column = columns.message_column(features, dtype, lambda row: "")
    return Steps(column, np.array(counts, np.int64))
