"""`tf.nn.ctc_*`: losses, decoders, and label sequences."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.shape import axis_size
from tensorloom.ops.math import math_ops


@export("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """-log of the labels' probability, [batch].

    Args:
      labels: an int32 SparseTensor [batch, length].
      inputs: logits [time, batch, classes] ([batch, time, classes] unless
        `time_major`); the last class is blank.
      sequence_length: int32 [batch].
      preprocess_collapse_repeated: equal labels next to each other become one.
      ctc_merge_repeated: equal classes next to each other stand for one label.
      ignore_longer_outputs_than_inputs: such rows have loss 0 instead of an error.

    Raises:
      TypeError: the labels are not sparse.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = either("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    loss, _ = apply_op(
        "CTCLoss",
        inputs=inputs,
        labels_indices=labels.indices,
        labels_values=labels.values,
        sequence_length=sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss  # type: ignore[no-any-return]


@export("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """-log of the labels' probability, [batch].

    Args:
      labels: int [batch, length] with `label_length` labels each; or a SparseTensor.
      logits: [time, batch, classes], or [batch, time, classes].
      label_length, logit_length: int [batch].
      unique: what `ctc_unique_labels` gives; not needed.
      blank_index: which class is blank, the first by default.

    Raises:
      ValueError: labels are sparse and there is no `blank_index`.
    """
    del unique  # the sums over equal labels need no help here
    if isinstance(labels, SparseTensor):
        return _sparse_loss(
            labels, logits, logit_length, logits_time_major, blank_index
        )
    values = [logits, labels, label_length, logit_length]
    with name_scope(name, "ctc_loss_dense", values):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        if not logits_time_major:
            logits = array_ops.transpose(logits, perm=[1, 0, 2])
        if blank_index:
            logits, labels = _blank_first(logits, labels, blank_index)
        indices, flat = _without_padding(labels, label_length)
        loss, _ = apply_op(
            "CTCLossV2",
            inputs=logits,
            labels_indices=indices,
            labels_values=flat,
            sequence_length=math_ops.cast(logit_length, dtypes.int32),
        )
        return loss  # type: ignore[no-any-return]


def _blank_first(logits: Tensor, labels: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    if blank < 0:
        blank += axis_size(logits, 2)
    parts = [logits[:, :, blank : blank + 1], logits[:, :, :blank]]
    logits = array_ops.concat([*parts, logits[:, :, blank + 1 :]], axis=2)
    return logits, array_ops.where(labels < blank, labels + 1, labels)


def _without_padding(labels: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """(indices, values) of the labels within their lengths."""
    mask = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(labels)[1])
    indices = array_ops.where(mask)
    values = array_ops.boolean_mask(labels, mask)
    return indices, math_ops.cast(values, dtypes.int32)


def _sparse_loss(
    labels: SparseTensor,
    logits: Any,
    logit_length: Any,
    time_major: bool,
    blank: int | None,
) -> Tensor:
    if blank is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    logits = convert_to_tensor(logits, name="logits")
    classes = axis_size(logits, 2)
    if blank < 0:
        blank += classes
    if blank != classes - 1:
        parts = [logits[:, :, :blank], logits[:, :, blank + 1 :]]
        logits = array_ops.concat([*parts, logits[:, :, blank : blank + 1]], axis=2)
        values = labels.values
        values = array_ops.where(values < blank, values, values - 1)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
    return ctc_loss(
        labels=labels,
        inputs=logits,
        sequence_length=logit_length,
        time_major=time_major,
    )


# --- decoders ----------------------------------------------------------------


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> Any:
    """([decoded SparseTensor], minus the sum of the logits [batch, 1])."""
    indices, values, shape, log_probability = apply_op(
        "CTCGreedyDecoder",
        inputs=inputs,
        sequence_length=sequence_length,
        merge_repeated=merge_repeated,
    )
    return [SparseTensor(indices, values, shape)], log_probability


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> Any:
    """([decoded SparseTensor of each path], log probabilities [batch, top_paths])."""
    indices, values, shapes, log_probability = apply_op(
        "CTCBeamSearchDecoder",
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    paths = zip(indices, values, shapes, strict=True)
    return [SparseTensor(*path) for path in paths], log_probability


@export("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> Any:
    """`ctc_beam_search_decoder` that keeps repeated classes in its results."""
    return ctc_beam_search_decoder(
        inputs, sequence_length, beam_width, top_paths, merge_repeated=False
    )


# --- labels ------------------------------------------------------------------


@export("nn.collapse_repeated")
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> Any:
    """(labels without repetitions [batch, new length], new lengths [batch])."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = array_ops.ones_like(labels[:, :1], dtypes.bool)
        changed = math_ops.not_equal(labels[:, 1:], labels[:, :-1])
        kept = array_ops.concat([first, changed], axis=1)
        inside = array_ops.sequence_mask(seq_length, maxlen=axis_size(labels, 1))
        kept = math_ops.logical_and(kept, inside)
        lengths = math_ops.reduce_sum(math_ops.cast(kept, dtypes.int32), axis=1)
        longest = math_ops.reduce_max(lengths)
        places = array_ops.sequence_mask(lengths, maxlen=longest)
        flat_places = array_ops.reshape(places, [-1])
        index = math_ops.range(axis_size(flat_places, 0))
        flat = array_ops.scatter_nd(
            indices=array_ops.expand_dims(
                array_ops.boolean_mask(index, flat_places), axis=1
            ),
            updates=array_ops.boolean_mask(
                array_ops.reshape(labels, [-1]), array_ops.reshape(kept, [-1])
            ),
            shape=array_ops.shape(flat_places),
        )
        result = array_ops.reshape(flat, [axis_size(labels, 0), longest])
        return result, math_ops.cast(lengths, seq_length.dtype)
