"""Ensembles of gradient boosted trees as resources: made, saved, grown, followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.shape_inference import InferenceContext

VECTOR: Final = TensorShape.of((None,))
HANDLE: Final = "tree_ensemble_handle: resource"
STAMP, NEXT_STAMP = "stamp_token: int64", "next_stamp_token: int64"
_FEATURES: Final = (
    "dense_float_features: num_dense_float_features * float",
    "sparse_float_feature_indices: num_sparse_float_features * int64",
    "sparse_float_feature_values: num_sparse_float_features * float",
    "sparse_float_feature_shapes: num_sparse_float_features * int64",
    "sparse_int_feature_indices: num_sparse_int_features * int64",
    "sparse_int_feature_values: num_sparse_int_features * int64",
    "sparse_int_feature_shapes: num_sparse_int_features * int64",
)
_COUNTS: Final = (
    "num_dense_float_features: int >= 0",
    "num_sparse_float_features: int >= 0",
    "num_sparse_int_features: int >= 0",
    "use_locking: bool = false",
)
_PREDICTION_ATTRS: Final = (
    "learner_config: string",
    *_COUNTS,
    "apply_dropout: bool",
    "apply_averaging: bool",
    "center_bias: bool",
    "reduce_dim: bool",
)
# TensorFlow says of these, but not of the others, that they have no gradient.
_NOT_DIFFERENTIABLE: Final = {"TreeEnsembleSerialize", "TreeEnsembleDeserialize"}


def first_inputs(
    *ranks: int, outputs: tuple[TensorShape, ...] = ()
) -> Callable[[InferenceContext], list[TensorShape]]:
    """A shape function: the first inputs have these ranks, the outputs these shapes."""

    def shapes(c: InferenceContext) -> list[TensorShape]:
        for index, rank in enumerate(ranks):
            c.with_rank(index, rank)
        return list(outputs)

    return shapes


def handle_op(name: str, what: str) -> None:
    """Registers the op that gives the handle of a resource."""
    register_op(
        name,
        outputs=["resource: resource"],
        attrs=["container: string = ''", "shared_name: string = ''"],
        shape_fn=lambda c: SCALAR,
        stateful=True,
        doc=f"The handle of {what}.",
    )


def stateful_op(
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shape_fn: Callable[[InferenceContext], Any],
    doc: str,
    attrs: tuple[str, ...] = (),
) -> None:
    """Registers an op that reads or changes a resource."""
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


def _used_handlers_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return [SCALAR, TensorShape.of((c.attrs["num_all_handlers"],))]


def _classes(c: InferenceContext) -> int | None:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

    try:
        config = LearnerConfig.FromString(c.attrs["learner_config"])
    except DecodeError:  # the kernel says so
        return None
    return int(config.num_classes) - int(c.attrs["reduce_dim"])


def _prediction_shapes(c: InferenceContext) -> list[TensorShape]:
    return [TensorShape.of((None, _classes(c))), TensorShape(None)]


def _verbose_prediction_shapes(c: InferenceContext) -> list[TensorShape]:
    return [*_prediction_shapes(c), TensorShape.of((None, None))]


handle_op("DecisionTreeEnsembleResourceHandleOp", "an ensemble of trees")

stateful_op(
    "TreeEnsembleIsInitializedOp",
    (HANDLE,),
    ("is_initialized: bool",),
    first_inputs(0, outputs=(SCALAR,)),
    "Whether an ensemble of trees was created.",
)
stateful_op(
    "CreateTreeEnsembleVariable",
    (HANDLE, STAMP, "tree_ensemble_config: string"),
    (),
    first_inputs(0, 0, 0),
    "Creates an ensemble of trees, unless it is there.",
)
stateful_op(
    "TreeEnsembleStampToken",
    (HANDLE,),
    (STAMP,),
    first_inputs(0, outputs=(SCALAR,)),
    "The stamp of an ensemble, which changes whenever it does.",
)
stateful_op(
    "TreeEnsembleSerialize",
    (HANDLE,),
    (STAMP, "tree_ensemble_config: string"),
    first_inputs(0, outputs=(SCALAR, SCALAR)),
    "The stamp of an ensemble, and its trees as a serialized message.",
)
stateful_op(
    "TreeEnsembleDeserialize",
    (HANDLE, STAMP, "tree_ensemble_config: string"),
    (),
    first_inputs(0, 0, 0),
    "Replaces an ensemble by a serialized one.",
)
stateful_op(
    "TreeEnsembleUsedHandlers",
    (HANDLE, STAMP),
    ("num_used_handlers: int64", "used_handlers_mask: bool"),
    _used_handlers_shape,
    "How many handlers have split a node, and which.",
    ("num_all_handlers: int >= 0",),
)
stateful_op(
    "GradientTreesPrediction",
    (HANDLE, "seed: int64", *_FEATURES),
    ("predictions: float", "drop_out_tree_indices_weights: float"),
    _prediction_shapes,
    "The logits of examples, and the trees that dropout left out.",
    _PREDICTION_ATTRS,
)
stateful_op(
    "GradientTreesPredictionVerbose",
    (HANDLE, "seed: int64", *_FEATURES),
    (
        "predictions: float",
        "drop_out_tree_indices_weights: float",
        "leaf_index: int32",
    ),
    _verbose_prediction_shapes,
    "As GradientTreesPrediction; with the leaf of each tree too.",
    _PREDICTION_ATTRS,
)
stateful_op(
    "GradientTreesPartitionExamples",
    (HANDLE, *_FEATURES),
    ("partition_ids: int32",),
    lambda c: VECTOR,
    "The leaf of each example in the tree that grows.",
    _COUNTS,
)
stateful_op(
    "CenterTreeEnsembleBias",
    (HANDLE, STAMP, NEXT_STAMP, "delta_updates: float"),
    ("continue_centering: bool",),
    first_inputs(0, 0, 0, 1, outputs=(SCALAR,)),
    "Moves the bias of an ensemble; whether it should be moved again.",
    ("learner_config: string", "centering_epsilon: float = 0.01"),
)
stateful_op(
    "GrowTreeEnsemble",
    (
        HANDLE,
        STAMP,
        NEXT_STAMP,
        "learning_rate: float",
        "dropout_seed: int64",
        "max_tree_depth: int32",
        "weak_learner_type: int32",
        "partition_ids: num_handlers * int32",
        "gains: num_handlers * float",
        "splits: num_handlers * string",
    ),
    (),
    first_inputs(0, 0, 0, 0, 0, 0),
    "Adds a layer to the tree that grows, or begins a tree.",
    ("learner_config: string", "num_handlers: int >= 0", "center_bias: bool"),
)
stateful_op(
    "TreeEnsembleStats",
    (HANDLE, STAMP),
    (
        "num_trees: int64",
        "num_layers: int64",
        "active_tree: int64",
        "active_layer: int64",
        "attempted_trees: int64",
        "attempted_layers: int64",
    ),
    first_inputs(0, 0, outputs=(SCALAR,) * 6),
    "How many trees and layers an ensemble has, and how many were tried.",
)
