"""Random forests that grow from streams of examples: trees and what their leaves saw.

`tf.contrib.tensor_forest` trains with these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.shape_inference import InferenceContext

_VECTOR: Final = TensorShape.of((None,))
_DATA: Final = (
    "input_data: float",
    "sparse_input_indices: int64",
    "sparse_input_values: float",
    "sparse_input_shape: int64",
)
_TREE, _STATS = "tree_handle: resource", "stats_handle: resource"
_PARAMS, _SPEC = "params: string", "input_spec: string"
# TensorFlow says of these, but not of the others, that they have no gradient.
_NOT_DIFFERENTIABLE: Final = {
    "FeatureUsageCounts",
    "FertileStatsDeserialize",
    "FertileStatsSerialize",
    "FinalizeTree",
    "GrowTreeV4",
    "ProcessInputV4",
    "TreeDeserialize",
    "TreePredictionsV4",
    "TreeSerialize",
    "TreeSize",
}


def _nothing(c: InferenceContext) -> list[TensorShape]:
    return []


def _vector(c: InferenceContext) -> TensorShape:
    return _VECTOR


def _examples(c: InferenceContext) -> int | None:
    """The number of examples; unknown where the dense input is empty."""
    dims = c.input_shape(1).dims_tuple
    return (dims[0] or None) if dims else None


def _prediction_shapes(c: InferenceContext) -> list[TensorShape]:
    return [TensorShape.of((_examples(c), None)), _VECTOR]


def _leaf_ids_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((_examples(c),))


def _handle(name: str, what: str) -> None:
    register_op(
        name,
        outputs=["resource: resource"],
        attrs=["container: string = ''", "shared_name: string = ''"],
        shape_fn=scalar_shape,
        stateful=True,
        doc=f"The handle of {what}.",
    )


def _op(
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    attrs: tuple[str, ...],
    shape_fn: Callable[[InferenceContext], Any],
    doc: str,
) -> None:
    register_op(
        name,
        inputs=inputs,
        outputs=outputs,
        attrs=attrs,
        shape_fn=shape_fn,
        gradient=NOT_DIFFERENTIABLE if name in _NOT_DIFFERENTIABLE else None,
        stateful=True,
        doc=doc,
    )


_handle("DecisionTreeResourceHandleOp", "a decision tree")
_handle("FertileStatsResourceHandleOp", "what the leaves of a tree have seen")

_op(
    "TreeIsInitializedOp",
    (_TREE,),
    ("is_initialized: bool",),
    (),
    scalar_shape,
    "Whether a decision tree was created.",
)
_op(
    "CreateTreeVariable",
    (_TREE, "tree_config: string"),
    (),
    (_PARAMS,),
    _nothing,
    "Creates a decision tree, unless it is there.",
)
_op(
    "TreeSerialize",
    (_TREE,),
    ("tree_config: string",),
    (),
    scalar_shape,
    "A decision tree as a serialized message.",
)
_op(
    "TreeDeserialize",
    (_TREE, "tree_config: string"),
    (),
    (_PARAMS,),
    _nothing,
    "Replaces a decision tree by a serialized one.",
)
_op(
    "TreeSize",
    (_TREE,),
    ("tree_size: int32",),
    (),
    scalar_shape,
    "How many nodes a decision tree has, leaves and others.",
)
_op(
    "TreePredictionsV4",
    (_TREE, *_DATA),
    ("predictions: float", "tree_paths: string"),
    (_SPEC, _PARAMS),
    _prediction_shapes,
    "What the leaves of the examples say, and the ways to them.",
)
_op(
    "TraverseTreeV4",
    (_TREE, *_DATA),
    ("leaf_ids: int32",),
    (_SPEC, _PARAMS),
    _leaf_ids_shape,
    "The leaf of each example.",
)
_op(
    "UpdateModelV4",
    (_TREE, "leaf_ids: int32", "input_labels: float", "input_weights: float"),
    (),
    (_PARAMS,),
    _nothing,
    "Counts examples in their leaves.",
)
_op(
    "FeatureUsageCounts",
    (_TREE,),
    ("feature_counts: int32",),
    (_PARAMS,),
    _vector,
    "How many nodes split by each feature.",
)
_op(
    "FertileStatsIsInitializedOp",
    (_STATS,),
    ("is_initialized: bool",),
    (),
    scalar_shape,
    "Whether a tree's statistics were created.",
)
_op(
    "CreateFertileStatsVariable",
    (_STATS, "stats_config: string"),
    (),
    (_PARAMS,),
    _nothing,
    "Creates a tree's statistics, unless they are there.",
)
_op(
    "FertileStatsSerialize",
    (_STATS,),
    ("stats_config: string",),
    (_PARAMS,),
    scalar_shape,
    "A tree's statistics as a serialized message.",
)
_op(
    "FertileStatsDeserialize",
    (_STATS, "stats_config: string"),
    (),
    (_PARAMS,),
    _nothing,
    "Replaces a tree's statistics by serialized ones.",
)
_op(
    "GrowTreeV4",
    (_TREE, _STATS, "finished_nodes: int32"),
    (),
    (_PARAMS,),
    _nothing,
    "Splits the leaves that have seen enough.",
)
_op(
    "ProcessInputV4",
    (
        _TREE,
        _STATS,
        *_DATA,
        "input_labels: float",
        "input_weights: float",
        "leaf_ids: int32",
    ),
    ("finished_nodes: int32",),
    ("random_seed: int", _SPEC, _PARAMS),
    _vector,
    "Adds examples to the statistics of their leaves; the leaves that saw enough.",
)
_op(
    "FinalizeTree",
    (_TREE, _STATS),
    (),
    (_PARAMS,),
    _nothing,
    "Nothing for regression; TensorFlow disabled it for classification.",
)
_op(
    "ReinterpretStringToFloat",
    ("input_data: string",),
    ("output_data: float",),
    (),
    lambda c: c.input_shape(0),
    "A number for each string, equal where the strings are.",
)
_op(
    "ScatterAddNdim",
    ("input: Ref(float)", "indices: int32", "deltas: float"),
    (),
    (),
    _nothing,
    "input[index vectors] += deltas.",
)
