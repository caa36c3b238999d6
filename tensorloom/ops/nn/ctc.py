"""Connectionist temporal classification (Graves et al. 2006): ops and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _loss_shape(c: InferenceContext) -> list[TensorShape]:
    inputs = c.with_rank(0, 3)
    indices = c.with_rank(1, 2).dims_tuple
    values = c.with_rank(2, 1).dims_tuple
    lengths = c.with_rank(3, 1).dims_tuple
    assert indices is not None
    assert values is not None
    assert lengths is not None
    c.merge_dim(indices[0], values[0])
    dims = inputs.dims_tuple
    assert dims is not None
    batch = c.merge_dim(dims[1], lengths[0])
    return [
        TensorShape.of((batch,)),
        TensorShape.of((dims[0], batch, dims[2])),
    ]


def _batch_size(c: InferenceContext) -> int | None:
    inputs, lengths = c.with_rank(0, 3).dims_tuple, c.with_rank(1, 1).dims_tuple
    assert inputs is not None
    assert lengths is not None
    return c.merge_dim(inputs[1], lengths[0])


def _greedy_shape(c: InferenceContext) -> list[TensorShape]:
    batch = _batch_size(c)
    return [
        TensorShape.of((None, 2)),
        TensorShape.of((None,)),
        TensorShape.of((2,)),
        TensorShape.of((batch, 1)),
    ]


def _beam_search_shape(c: InferenceContext) -> list[TensorShape]:
    batch, paths = _batch_size(c), c.attrs["top_paths"]
    return [
        *[TensorShape.of((None, 2))] * paths,
        *[TensorShape.of((None,))] * paths,
        *[TensorShape.of((2,))] * paths,
        TensorShape.of((batch, paths)),
    ]


# --- gradient ----------------------------------------------------------------


def _loss_grad(op: Operation, grad: Tensor, _: Tensor | None) -> list[Tensor | None]:
    """The op computes its gradient beside the loss; there is no second one."""
    computed = array_ops.prevent_gradient(
        op.outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss "
        "due to the fused implementation's interaction with tf.gradients()",
    )
    scale = array_ops.expand_dims(array_ops.expand_dims(grad, -1), 0)
    # [batch] -> [1, batch, 1]
    return [scale * computed, None, None, None]


# --- ops ---------------------------------------------------------------------

_OPTIONS = [
    "preprocess_collapse_repeated: bool = false",
    "ctc_merge_repeated: bool = true",
    "ignore_longer_outputs_than_inputs: bool = false",
]
_LABELS = ["labels_indices: int64", "labels_values: int32", "sequence_length: int32"]
_FLOATS = "T: {float, double} = DT_FLOAT"

register_op(
    "CTCLoss",
    inputs=["inputs: T", *_LABELS],
    outputs=["loss: T", "gradient: T"],
    attrs=[*_OPTIONS, _FLOATS],
    shape_fn=_loss_shape,
    gradient=_loss_grad,
    doc="-log of the labels' probability, and its gradient; the last class is blank.",
)

register_op(
    "CTCLossV2",
    inputs=["inputs: float", *_LABELS],
    outputs=["loss: float", "gradient: float"],
    attrs=_OPTIONS,
    shape_fn=_loss_shape,
    gradient=_loss_grad,
    doc="CTCLoss whose blank is the first class; there may be no labels.",
)

register_op(
    "CTCGreedyDecoder",
    inputs=["inputs: T", "sequence_length: int32"],
    outputs=[
        "decoded_indices: int64",
        "decoded_values: int64",
        "decoded_shape: int64",
        "log_probability: T",
    ],
    attrs=[
        "merge_repeated: bool = false",
        _FLOATS,
        # Of TensorFlow 2; see `newer_attrs.ADDED`.
        "blank_index: int = -1",
    ],
    shape_fn=_greedy_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The most likely class of each step, without blanks.",
)

register_op(
    "CTCBeamSearchDecoder",
    inputs=["inputs: T", "sequence_length: int32"],
    outputs=[
        "decoded_indices: top_paths * int64",
        "decoded_values: top_paths * int64",
        "decoded_shape: top_paths * int64",
        "log_probability: T",
    ],
    attrs=[
        "beam_width: int >= 1",
        "top_paths: int >= 1",
        "merge_repeated: bool = true",
        _FLOATS,
    ],
    shape_fn=_beam_search_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The most likely sequences of classes, found by a beam search.",
)
