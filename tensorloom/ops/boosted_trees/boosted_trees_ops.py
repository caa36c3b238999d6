"""Gradient boosted trees: ensembles as resources.

`tf.estimator`'s BoostedTrees models train with these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_VECTOR = TensorShape.of((None,))
_COLUMN = TensorShape.of((None, 1))


def with_ranks(c: InferenceContext, *ranks: int) -> None:
    """The inputs from the first on must have these ranks."""
    for index, rank in enumerate(ranks):
        c.with_rank(index, rank)


def _size(c: InferenceContext, index: int, axis: int) -> int | None:
    dims = c.input_shape(index).dims_tuple
    return None if dims is None else dims[axis]


def _aggregate_shape(c: InferenceContext) -> TensorShape:
    with_ranks(c, 1, 2, 2, 2)
    numbers = [_size(c, index, 1) for index in (1, 2)]
    total = None if None in numbers else sum(n for n in numbers if n is not None)
    return TensorShape.of(
        # In this order, which is not that of the values: it is TensorFlow's.
        (c.attrs["max_splits"], c.attrs["num_buckets"], _size(c, 3, 1), total)
    )


def _split_outputs(c: InferenceContext, features: bool) -> list[TensorShape]:
    if not features:
        return [_VECTOR] * 7  # of the contributions too, as TensorFlow says
    contribs = TensorShape.of((None, c.attrs["logits_dimension"]))
    return [*[_VECTOR] * 5, contribs, contribs, _VECTOR]


def _range_and_scalars(c: InferenceContext, scalars: int) -> None:
    c.merge(c.with_rank(0, 1), TensorShape.of((2,)))
    for index in range(c.num_inputs - scalars, c.num_inputs):
        c.with_rank(index, 0)


def _best_split_shape(c: InferenceContext) -> list[TensorShape]:
    _range_and_scalars(c, 4)
    c.with_rank(1, 4)
    return _split_outputs(c, features=False)


def _best_split_v2_shape(c: InferenceContext) -> list[TensorShape]:
    _range_and_scalars(c, 4)
    count = c.attrs["num_features"]
    for index in range(1, count + 1):
        c.with_rank(index, 4)
    _ = c.with_rank(count + 1, 1), c.with_rank(count + 2, 1)
    return _split_outputs(c, features=True)


def _sparse_best_split_shape(c: InferenceContext) -> list[TensorShape]:
    _range_and_scalars(c, 4)
    for index, rank in ((1, 2), (2, 1), (3, 1)):
        c.with_rank(index, rank)
    return _split_outputs(c, features=False)


def _best_gains_shape(c: InferenceContext) -> list[TensorShape]:
    _range_and_scalars(c, 4)
    count = c.attrs["num_features"]
    for index in range(1, count + 1):
        c.with_rank(index, 3)
    return [*[_VECTOR] * (3 * count), *[_COLUMN] * (2 * count)]


def _center_bias_shape(c: InferenceContext) -> TensorShape:
    c.merge(c.with_rank(1, 2), c.with_rank(2, 2))
    for index in (0, 3, 4):
        c.with_rank(index, 0)
    return SCALAR


def create_shape(c: InferenceContext) -> list[TensorShape]:
    """Of an op that makes a resource of a handle and two scalars: no outputs."""
    with_ranks(c, 0, 0, 0)
    return []


def _debug_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((_examples(c, 1),))


def _examples(c: InferenceContext, first: int) -> int | None:
    """The number of examples, on which all features agree, as the last one says."""
    for index in range(first, c.num_inputs):
        c.with_rank_at_least(index, 1)
        c.merge_dim(_size(c, index, 0), _size(c, first, 0))
    return _size(c, c.num_inputs - 1, 0)


def _predict_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((_examples(c, 1), c.attrs["logits_dimension"]))


def _training_predict_shape(c: InferenceContext) -> list[TensorShape]:
    rows = _size(c, c.num_inputs - 1, 0)
    ids = TensorShape.of((rows,))
    for index in (1, 2):
        c.merge(c.with_rank(index, 1), ids)
    return [TensorShape.of((rows, c.attrs["logits_dimension"])), ids, ids]


def _states_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return [SCALAR, SCALAR, SCALAR, SCALAR, TensorShape.of((2,))]


def _stats_summary_shape(c: InferenceContext) -> TensorShape:
    with_ranks(c, 1, 2, 2)
    count = c.attrs["num_features"]
    for index in range(count):
        c.merge(c.with_rank(3 + index, 1), c.input_shape(0))
    return TensorShape.of((count, c.attrs["max_splits"], c.attrs["num_buckets"], 2))


def _serialize_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return [SCALAR, SCALAR]


def _sparse_aggregate_shape(c: InferenceContext) -> list[TensorShape]:
    with_ranks(c, 1, 2, 2, 2, 1, 1)
    return [TensorShape.of((None, 4)), _VECTOR, TensorShape.of((4,))]


def _update_shape(c: InferenceContext) -> list[TensorShape]:
    with_ranks(c, 0, 1)
    for feature in range(c.attrs["num_features"]):
        _merge_candidates(c, 2 + feature, columns=2, matrices=2)
    return []


def _update_v2_shape(c: InferenceContext) -> list[TensorShape]:
    with_ranks(c, 0, 1)
    return []


def _merge_candidates(
    c: InferenceContext, first: int, *, columns: int, matrices: int
) -> None:
    """The lists of one feature, from its node ids on, have as many rows."""
    rows = c.with_rank(first, 1)
    count = c.attrs["num_features"]
    for place in range(1, columns + 1):
        c.merge(c.with_rank(first + place * count, 1), rows)
    wide = TensorShape.of((_size(c, first, 0), 1))
    for place in range(columns + 1, columns + matrices + 1):
        c.merge(c.with_rank(first + place * count, 2), wide)


def initialized_shape(c: InferenceContext) -> TensorShape:
    """Of an op that says of a handle whether its resource is there."""
    c.with_rank(0, 0)
    return SCALAR


# --- ops ---------------------------------------------------------------------

_PENALTIES = [
    "l1: float",
    "l2: float",
    "tree_complexity: float",
    "min_node_weight: float",
]
_BEST_SPLITS = [
    "node_ids: int32",
    "gains: float",
    "feature_dimensions: int32",
    "thresholds: int32",
    "left_node_contribs: float",
    "right_node_contribs: float",
    "split_with_default_directions: string",
]

register_op(
    "BoostedTreesAggregateStats",
    inputs=["node_ids: int32", "gradients: float", "hessians: float", "feature: int32"],
    outputs=["stats_summary: float"],
    attrs=["max_splits: int >= 1", "num_buckets: int >= 1"],
    shape_fn=_aggregate_shape,
    doc="Sums of gradients and hessians by node, feature dimension and bucket.",
)

register_op(
    "BoostedTreesCalculateBestFeatureSplit",
    inputs=[
        "node_id_range: int32",
        "stats_summary: float",
        *_PENALTIES,
    ],
    outputs=_BEST_SPLITS,
    attrs=[
        "logits_dimension: int >= 1",
        "split_type: {'inequality', 'equality'} = 'inequality'",
    ],
    shape_fn=_best_split_shape,
    doc="The best split of a feature at each node.",
)

register_op(
    "BoostedTreesCalculateBestFeatureSplitV2",
    inputs=[
        "node_id_range: int32",
        "stats_summaries_list: num_features * float",
        "split_types: string",
        "candidate_feature_ids: int32",
        *_PENALTIES,
    ],
    outputs=[
        "node_ids: int32",
        "gains: float",
        "feature_ids: int32",
        "feature_dimensions: int32",
        "thresholds: int32",
        "left_node_contribs: float",
        "right_node_contribs: float",
        "split_with_default_directions: string",
    ],
    attrs=["num_features: int >= 1", "logits_dimension: int >= 1"],
    shape_fn=_best_split_v2_shape,
    doc="The best split among several features at each node.",
)

register_op(
    "BoostedTreesCalculateBestGainsPerFeature",
    inputs=[
        "node_id_range: int32",
        "stats_summary_list: num_features * float",
        *_PENALTIES,
    ],
    outputs=[
        "node_ids_list: num_features * int32",
        "gains_list: num_features * float",
        "thresholds_list: num_features * int32",
        "left_node_contribs_list: num_features * float",
        "right_node_contribs_list: num_features * float",
    ],
    attrs=["max_splits: int >= 1", "num_features: int >= 1"],
    shape_fn=_best_gains_shape,
    doc="The best split of each feature at each node, of one class.",
)

register_op(
    "BoostedTreesCenterBias",
    inputs=[
        "tree_ensemble_handle: resource",
        "mean_gradients: float",
        "mean_hessians: float",
        "l1: float",
        "l2: float",
    ],
    outputs=["continue_centering: bool"],
    shape_fn=_center_bias_shape,
    stateful=True,
    doc="Puts the mean of the labels into the first tree.",
)

register_op(
    "BoostedTreesCreateEnsemble",
    inputs=[
        "tree_ensemble_handle: resource",
        "stamp_token: int64",
        "tree_ensemble_serialized: string",
    ],
    shape_fn=create_shape,
    stateful=True,
    doc="Makes an ensemble from its serialized form.",
)

register_op(
    "BoostedTreesDeserializeEnsemble",
    inputs=[
        "tree_ensemble_handle: resource",
        "stamp_token: int64",
        "tree_ensemble_serialized: string",
    ],
    shape_fn=create_shape,
    stateful=True,
    doc="Replaces an ensemble by a serialized one.",
)

register_op(
    "BoostedTreesEnsembleResourceHandleOp",
    outputs=["resource: resource"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The handle of an ensemble of trees.",
)

register_op(
    "BoostedTreesExampleDebugOutputs",
    inputs=[
        "tree_ensemble_handle: resource",
        "bucketized_features: num_bucketized_features * int32",
    ],
    outputs=["examples_debug_outputs_serialized: string"],
    attrs=["num_bucketized_features: int >= 1", "logits_dimension: int"],
    shape_fn=_debug_shape,
    stateful=True,
    doc="How each example comes to its logit, as serialized DebugOutput.",
)

register_op(
    "BoostedTreesGetEnsembleStates",
    inputs=["tree_ensemble_handle: resource"],
    outputs=[
        "stamp_token: int64",
        "num_trees: int32",
        "num_finalized_trees: int32",
        "num_attempted_layers: int32",
        "last_layer_nodes_range: int32",
    ],
    shape_fn=_states_shape,
    stateful=True,
    doc="Stamp and sizes of an ensemble.",
)

register_op(
    "BoostedTreesMakeStatsSummary",
    inputs=[
        "node_ids: int32",
        "gradients: float",
        "hessians: float",
        "bucketized_features_list: num_features * int32",
    ],
    outputs=["stats_summary: float"],
    attrs=["max_splits: int >= 1", "num_buckets: int >= 1", "num_features: int >= 1"],
    shape_fn=_stats_summary_shape,
    doc="Sums of gradients and hessians by feature, node and bucket.",
)

register_op(
    "BoostedTreesPredict",
    inputs=[
        "tree_ensemble_handle: resource",
        "bucketized_features: num_bucketized_features * int32",
    ],
    outputs=["logits: float"],
    attrs=["num_bucketized_features: int >= 1", "logits_dimension: int"],
    shape_fn=_predict_shape,
    stateful=True,
    doc="The logits of the ensemble.",
)

register_op(
    "BoostedTreesSerializeEnsemble",
    inputs=["tree_ensemble_handle: resource"],
    outputs=["stamp_token: int64", "tree_ensemble_serialized: string"],
    shape_fn=_serialize_shape,
    stateful=True,
    doc="Stamp and serialized form of an ensemble.",
)

register_op(
    "BoostedTreesSparseAggregateStats",
    inputs=[
        "node_ids: int32",
        "gradients: float",
        "hessians: float",
        "feature_indices: int32",
        "feature_values: int32",
        "feature_shape: int32",
    ],
    outputs=[
        "stats_summary_indices: int32",
        "stats_summary_values: float",
        "stats_summary_shape: int32",
    ],
    attrs=["max_splits: int >= 1", "num_buckets: int >= 1"],
    shape_fn=_sparse_aggregate_shape,
    doc="Sums of gradients and hessians of a sparse feature.",
)

register_op(
    "BoostedTreesSparseCalculateBestFeatureSplit",
    inputs=[
        "node_id_range: int32",
        "stats_summary_indices: int32",
        "stats_summary_values: float",
        "stats_summary_shape: int32",
        *_PENALTIES,
    ],
    outputs=_BEST_SPLITS,
    attrs=["logits_dimension: int >= 1", "split_type: {'inequality'} = 'inequality'"],
    shape_fn=_sparse_best_split_shape,
    doc="The best split of a sparse feature at each node.",
)

register_op(
    "BoostedTreesTrainingPredict",
    inputs=[
        "tree_ensemble_handle: resource",
        "cached_tree_ids: int32",
        "cached_node_ids: int32",
        "bucketized_features: num_bucketized_features * int32",
    ],
    outputs=["partial_logits: float", "tree_ids: int32", "node_ids: int32"],
    attrs=["num_bucketized_features: int >= 1", "logits_dimension: int"],
    shape_fn=_training_predict_shape,
    stateful=True,
    doc="The change of the logits since the cached tree and node.",
)

register_op(
    "BoostedTreesUpdateEnsemble",
    inputs=[
        "tree_ensemble_handle: resource",
        "feature_ids: int32",
        "node_ids: num_features * int32",
        "gains: num_features * float",
        "thresholds: num_features * int32",
        "left_node_contribs: num_features * float",
        "right_node_contribs: num_features * float",
        "max_depth: int32",
        "learning_rate: float",
    ],
    attrs=["pruning_mode: int >= 0", "num_features: int >= 0"],
    shape_fn=_update_shape,
    stateful=True,
    doc="Adds a layer of splits to the growing tree.",
)

register_op(
    "BoostedTreesUpdateEnsembleV2",
    inputs=[
        "tree_ensemble_handle: resource",
        "feature_ids: int32",
        "dimension_ids: num_features * int32",
        "node_ids: num_features * int32",
        "gains: num_features * float",
        "thresholds: num_features * int32",
        "left_node_contribs: num_features * float",
        "right_node_contribs: num_features * float",
        "split_types: num_features * string",
        "max_depth: int32",
        "learning_rate: float",
        "pruning_mode: int32",
    ],
    attrs=["num_features: int >= 0"],
    shape_fn=_update_v2_shape,
    stateful=True,
    doc="Adds a layer of splits, of any kind, to the growing tree.",
)

register_op(
    "IsBoostedTreesEnsembleInitialized",
    inputs=["tree_ensemble_handle: resource"],
    outputs=["is_initialized: bool"],
    shape_fn=initialized_shape,
    stateful=True,
    doc="True when the ensemble was made.",
)
