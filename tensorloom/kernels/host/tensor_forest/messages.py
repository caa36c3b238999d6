"""Values, leaves and splits as messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.tensor_forest.inputs import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tensorloom.protos.decision_trees_pb2 import BinaryNode, SparseVector, Vector


def write_values(
    vector: Vector, values: Iterable[Any], keep_zeros: bool = True
) -> None:
    """Adds numbers to a vector; without `keep_zeros` zeros are values of no kind."""
    for value in values:
        added = vector.value.add()
        if keep_zeros or value:
            added.float_value = float(value)


def write_sparse(vector: SparseVector, values: Iterable[Any]) -> None:
    """Sets the numbers of a sparse vector that are not zero."""
    for index, value in enumerate(values):
        if value:
            vector.sparse_value[index].float_value = float(value)


def read_values(holder: Any, dense: str, sparse: str, count: int) -> Any:
    """The numbers, float32 [count], of a message with a dense or a sparse vector."""
    result = np.zeros(count, np.float32)
    if holder.HasField(dense):
        given = [value.float_value for value in getattr(holder, dense).value][:count]
        result[: len(given)] = given
    else:
        for index, value in getattr(holder, sparse).sparse_value.items():
            if 0 <= index < count:
                result[index] = value.float_value
    return result


def write_split(node: BinaryNode, feature: int, test: int, threshold: float) -> None:
    """Sets the test that leads to the left child."""
    from tensorloom.protos.decision_trees_pb2 import MatchingValuesTest

    if test == EQUAL:
        matching = MatchingValuesTest()
        matching.feature_id.id.value = str(feature)
        matching.value.add().float_value = threshold
        node.custom_left_child_test.Pack(matching)
        return
    inequality = node.inequality_left_child_test
    inequality.feature_id.id.value = str(feature)
    inequality.threshold.float_value = threshold
    inequality.type = test  # type: ignore[assignment]


def read_split(node: BinaryNode) -> tuple[int, int, float]:
    """(feature, test, threshold).

    Raises:
      errors.InvalidArgumentError: a split of another kind.
    """
    from tensorloom.protos.decision_trees_pb2 import MatchingValuesTest

    if node.HasField("inequality_left_child_test"):
        its = node.inequality_left_child_test
        if its.HasField("feature_id"):
            feature = _number(its.feature_id.id.value)
            return feature, int(its.type), its.threshold.float_value
    matching = MatchingValuesTest()
    if node.HasField("custom_left_child_test") and (
        node.custom_left_child_test.Unpack(matching)
        and len(matching.value) == 1
        and not matching.inverse
    ):
        value = matching.value[0].float_value
        return _number(matching.feature_id.id.value), EQUAL, value
    raise invalid_argument(
        "A tree splits neither by one feature's threshold nor by one of its values."
    )


def _number(text: str) -> int:
    if not text.isdecimal():
        raise invalid_argument(f"Invalid feature ID: [{text}]")
    return int(text)
