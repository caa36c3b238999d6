"""How a forest grows: what its ops' attribute `params` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from tensorloom.protos.tensor_forest_params_pb2 import (
        DepthDependentParam,
        TensorForestParams,
    )


class Parameters(NamedTuple):
    """The settings that the kernels read."""

    proto: TensorForestParams
    outputs: int
    is_regression: bool
    is_sparse: bool

    def split_after(self, depth: int) -> int:
        """How much weight a leaf of this depth must see before it is split."""
        return int(at_depth(self.proto.split_after_samples, depth))

    def splits(self, depth: int) -> int:
        """How many splits a leaf of this depth considers."""
        return int(at_depth(self.proto.num_splits_to_consider, depth))


def parse(serialized: bytes) -> Parameters:
    """Reads a TensorForestParams message.

    Raises:
      errors.InvalidArgumentError: it is none.
      errors.UnimplementedError: it asks for a strategy that is not there.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos import tensor_forest_params_pb2 as pb

    try:
        proto = pb.TensorForestParams.FromString(serialized)
    except DecodeError:
        raise invalid_argument("Unable to parse the forest's params.") from None
    kinds = {
        (pb.MODEL_DENSE_CLASSIFICATION, pb.STATS_DENSE_GINI),
        (pb.MODEL_SPARSE_CLASSIFICATION, pb.STATS_SPARSE_GINI),
        (pb.MODEL_REGRESSION, pb.STATS_LEAST_SQUARES_REGRESSION),
    }
    if (proto.leaf_type, proto.stats_type) not in kinds:
        _missing("this pair of leaf_type and stats_type (model_name)")
    if proto.collection_type != pb.COLLECTION_BASIC:
        _missing("a collection_type other than COLLECTION_BASIC")
    return Parameters(
        proto,
        proto.num_outputs,
        proto.leaf_type == pb.MODEL_REGRESSION,
        proto.leaf_type == pb.MODEL_SPARSE_CLASSIFICATION,
    )


def _missing(what: str) -> None:
    raise errors.UnimplementedError(None, None, f"tensor_forest has no {what}.")


def at_depth(param: DepthDependentParam, depth: int) -> float:
    """The value of a setting for nodes of a depth.

    Raises:
      errors.InvalidArgumentError: the setting has no value.
    """
    kind = param.WhichOneof("ParamType")
    if kind is None:
        raise invalid_argument("A setting of the forest has no value.")
    its: Any = getattr(param, kind)
    if kind == "constant_value":
        return float(its)
    if kind == "linear":
        value = depth * its.slope + its.y_intercept
        return float(np.float32(min(max(value, its.min_val), its.max_val)))
    if kind == "exponential":
        power = its.base ** (its.depth_multiplier * depth)
        return float(np.float32(its.bias + its.multiplier * power))
    return float(its.on_value if depth >= its.threshold else its.off_value)
