"""Stochastic dual coordinate ascent for linear models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.shape_inference import no_outputs
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext


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
