"""Sums of gradients by leaf and feature, and the splits that they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.gradient_trees.ensemble import (
    NEXT_STAMP,
    STAMP,
    VECTOR,
    first_inputs,
    handle_op,
    stateful_op,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.shape_inference import InferenceContext

_HANDLE: Final = "stats_accumulator_handle: resource"
_UPDATES: Final = "num_updates: int64"
_SLOTS: Final = (
    "partition_ids: int32",
    "feature_ids: int64",
    "gradients: float",
    "hessians: float",
)
_OUTPUT_SLOTS: Final = tuple(f"output_{slot}" for slot in _SLOTS)
_UNKNOWN: Final = TensorShape(None)


def _rows_agree(c: InferenceContext, first: int, least_rank: int, exact: bool) -> None:
    """Partition ids, feature ids and two kinds of derivatives have as many rows.

    Args:
      c: of the op.
      first: the input with the partition ids; the others follow `step` apart.
      least_rank: of the derivatives.
      exact: whether they must have just that rank.
    """
    step = c.attrs.get("num_resource_handles", 1)
    rows = c.with_rank(first, 1).dims_tuple
    c.with_rank(first + step, 2)
    for index in (first + 2 * step, first + 3 * step):
        if exact:
            shape = c.with_rank(index, least_rank)
        else:
            shape = c.with_rank_at_least(index, least_rank)
        if shape.dims_tuple is not None and rows is not None:
            c.merge_dim(rows[0], shape.dims_tuple[0])


def _add_shape(scalar: bool) -> Callable[[InferenceContext], list[TensorShape]]:
    def shapes(c: InferenceContext) -> list[TensorShape]:
        count = c.attrs["num_resource_handles"]
        c.with_rank(count, 0)
        for index in range(count):
            c.with_rank(index, 0)
            _rows_agree(c, count + index + 1, 1 if scalar else 2, scalar)
        return []

    return shapes


def _deserialize_shape(scalar: bool) -> Callable[[InferenceContext], list[TensorShape]]:
    def shapes(c: InferenceContext) -> list[TensorShape]:
        for index in range(3):
            c.with_rank(index, 0)
        _rows_agree(c, 3, 1 if scalar else 2, scalar)
        return []

    return shapes


def _register(kind: str, scalar: bool) -> None:
    """The ops of accumulators of numbers, or of vectors and matrices."""
    slots = (VECTOR, _UNKNOWN, *((VECTOR,) * 2 if scalar else (_UNKNOWN,) * 2))
    name = f"StatsAccumulator{kind}"
    handle_op(f"{name}ResourceHandleOp", "sums of gradients")
    stateful_op(
        f"{name}IsInitialized",
        (_HANDLE,),
        ("is_initialized: bool",),
        lambda c: SCALAR,
        "Whether sums of gradients were created.",
    )
    shapes = () if scalar else ("gradient", "hessian")
    stateful_op(
        f"CreateStatsAccumulator{kind}",
        (_HANDLE, STAMP, *(f"per_slot_{what}_shape: int64" for what in shapes)),
        (),
        first_inputs(0, 0, *(1 for _ in shapes)),
        "Creates sums of gradients, unless they are there.",
    )
    many = "num_resource_handles * "
    stateful_op(
        f"{name}Add",
        (
            f"stats_accumulator_handles: {many}resource",
            STAMP,
            *(slot.replace(": ", f": {many}") for slot in _SLOTS),
        ),
        (),
        _add_shape(scalar),
        "Adds gradients to their leaf and feature, where the stamp is the newest.",
        ("num_resource_handles: int >= 1",),
    )
    stateful_op(
        f"{name}Flush",
        (_HANDLE, STAMP, NEXT_STAMP),
        (_UPDATES, *_OUTPUT_SLOTS),
        first_inputs(0, 0, 0, outputs=(SCALAR, *slots)),
        "The sums, which then begin anew.",
    )
    stateful_op(
        f"{name}Deserialize",
        (_HANDLE, STAMP, _UPDATES, *_SLOTS),
        (),
        _deserialize_shape(scalar),
        "Replaces the sums.",
    )
    stateful_op(
        f"{name}Serialize",
        (_HANDLE,),
        (STAMP, _UPDATES, *_OUTPUT_SLOTS),
        first_inputs(0, outputs=(SCALAR, SCALAR, *slots)),
        "The sums and their stamp.",
    )
    register_op(
        f"{name}MakeSummary",
        inputs=_SLOTS,
        outputs=_OUTPUT_SLOTS,
        shape_fn=lambda c: [_UNKNOWN] * 4,
        doc="Adds up the gradients of each leaf and feature.",
    )


_register("Scalar", True)
_register("Tensor", False)


def _splits_shape(boundaries: bool) -> Callable[[InferenceContext], list[TensorShape]]:
    def shapes(c: InferenceContext) -> list[TensorShape]:
        c.with_rank(0, 0)
        _rows_agree(c, 1, 1, False)
        if boundaries:
            c.with_rank(5, 1)
        return [VECTOR] * 3

    return shapes


def _splits_op(name: str, features: str, extra: tuple[bool, ...], doc: str) -> None:
    """An op that finds the best split of each leaf by one feature column.

    Args:
      name: of the op.
      features: what the ids of features are called.
      extra: whether it has boundaries, a bias feature and a kind of weak learner.
      doc: of the op.
    """
    boundaries, bias, learner = extra
    register_op(
        name,
        inputs=[
            "num_minibatches: int64",
            "partition_ids: int32",
            f"{features}: int64",
            "gradients: float",
            "hessians: float",
            *(["bucket_boundaries: float"] if boundaries else []),
            "class_id: int32",
            "feature_column_group_id: int32",
            *(["bias_feature_id: int64"] if bias else []),
            "l1_regularization: float",
            "l2_regularization: float",
            "tree_complexity_regularization: float",
            "min_node_weight: float",
            "multiclass_strategy: int32",
            *(["weak_learner_type: int32"] if learner else []),
        ],
        outputs=["output_partition_ids: int32", "gains: float", "split_infos: string"],
        shape_fn=_splits_shape(boundaries),
        doc=doc,
    )


_splits_op(
    "BuildDenseInequalitySplits",
    "bucket_ids",
    (True, False, True),
    "The best split of each leaf by a dense feature.",
)
_splits_op(
    "BuildSparseInequalitySplits",
    "bucket_ids",
    (True, True, False),
    "The best split of each leaf by a sparse feature, and where it is missing.",
)
_splits_op(
    "BuildCategoricalEqualitySplits",
    "feature_ids",
    (False, True, True),
    "The best split of each leaf by one category.",
)
