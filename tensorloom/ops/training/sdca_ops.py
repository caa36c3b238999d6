"""Stochastic dual coordinate ascent for linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import no_outputs
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _fingerprint_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 1).dims_tuple
    assert dims is not None
    return TensorShape.of((dims[0], 2))


def _optimizer_shape(c: InferenceContext) -> list[TensorShape]:
    """The state of the examples [?, 4], and a change for each weight."""
    sparse, dense = c.attrs["num_sparse_features"], c.attrs["num_dense_features"]
    first = c.num_inputs - 1 - sparse - dense
    weights = [c.input_shape(first + index) for index in range(sparse + dense)]
    return [TensorShape.of((None, 4)), *weights]


register_op(
    "SdcaFprint",
    inputs=["input: string"],
    outputs=["output: int64"],
    shape_fn=_fingerprint_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The 128-bit fingerprints of strings.",
)

# The second version spells an attr right, and nothing else is new.
for _op, _flag in (("SdcaOptimizer", "adaptative"), ("SdcaOptimizerV2", "adaptive")):
    register_op(
        _op,
        inputs=[
            "sparse_example_indices: num_sparse_features * int64",
            "sparse_feature_indices: num_sparse_features * int64",
            "sparse_feature_values: num_sparse_features_with_values * float",
            "dense_features: num_dense_features * float",
            "example_weights: float",
            "example_labels: float",
            "sparse_indices: num_sparse_features * int64",
            "sparse_weights: num_sparse_features * float",
            "dense_weights: num_dense_features * float",
            "example_state_data: float",
        ],
        outputs=[
            "out_example_state_data: float",
            "out_delta_sparse_weights: num_sparse_features * float",
            "out_delta_dense_weights: num_dense_features * float",
        ],
        attrs=[
            "loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', "
            "'smooth_hinge_loss', 'poisson_loss'}",
            f"{_flag}: bool = false",
            "num_sparse_features: int >= 0",
            "num_sparse_features_with_values: int >= 0",
            "num_dense_features: int >= 0",
            "l1: float",
            "l2: float",
            "num_loss_partitions: int >= 1",
            "num_inner_iterations: int >= 1",
        ],
        shape_fn=_optimizer_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc="A round of dual coordinate ascent over a batch of examples.",
    )

register_op(
    "SdcaShrinkL1",
    inputs=["weights: num_features * Ref(float)"],
    attrs=["num_features: int >= 0", "l1: float", "l2: float"],
    shape_fn=no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    doc="Shrinks weights toward zero by the L1 penalty.",
)


@export("train.sdca_fprint")
def sdca_fprint(input: Any, name: str | None = None) -> Tensor:
    """The fingerprints [n, 2] of strings [n], 128 bits as two int64."""
    return apply_op("SdcaFprint", input=input, name=name)  # type: ignore[no-any-return]


@export("train.sdca_shrink_l1")
def sdca_shrink_l1(
    weights: Sequence[Any], l1: float, l2: float, name: str | None = None
) -> Operation:
    """Moves reference variables toward zero by l1 / l2."""
    return apply_op(  # type: ignore[no-any-return]
        "SdcaShrinkL1", weights=weights, l1=l1, l2=l2, name=name
    )


@export("train.sdca_optimizer")
def sdca_optimizer(
    sparse_example_indices: Sequence[Any],
    sparse_feature_indices: Sequence[Any],
    sparse_feature_values: Sequence[Any],
    dense_features: Sequence[Any],
    example_weights: Any,
    example_labels: Any,
    sparse_indices: Sequence[Any],
    sparse_weights: Sequence[Any],
    dense_weights: Sequence[Any],
    example_state_data: Any,
    loss_type: str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool = True,
    name: str | None = None,
) -> Any:
    """A round of stochastic dual coordinate ascent over a batch of n examples.

    Args:
      sparse_example_indices, sparse_feature_indices: for each group of sparse features
        int64 vectors: which example has which feature, examples ascending.
      sparse_feature_values: float vectors beside them; groups at the end that have none
        count as ones.
      dense_features: float [n, width] matrices.
      example_weights, example_labels: float [n].
      sparse_indices: the features that `sparse_weights` are for.
      sparse_weights, dense_weights: the weights.
      example_state_data: float [n, 4], zeros at first.
      loss_type: "logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss" or
        "poisson_loss".
      l1, l2: the regularization.
      num_loss_partitions: how many such rounds run at the same time elsewhere.
      num_inner_iterations: accepted; a call is one round.
      adaptative: whether examples that may help most come more often.
      name: of the operation.

    Returns:
      The new state of the examples, and what to add to the weights.
    """
    return apply_op(
        "SdcaOptimizer",
        sparse_example_indices=sparse_example_indices,
        sparse_feature_indices=sparse_feature_indices,
        sparse_feature_values=sparse_feature_values,
        dense_features=dense_features,
        example_weights=example_weights,
        example_labels=example_labels,
        sparse_indices=sparse_indices,
        sparse_weights=sparse_weights,
        dense_weights=dense_weights,
        example_state_data=example_state_data,
        loss_type=loss_type,
        l1=l1,
        l2=l2,
        num_loss_partitions=num_loss_partitions,
        num_inner_iterations=num_inner_iterations,
        adaptative=adaptative,
        name=name,
    )
