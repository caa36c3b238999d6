"""Attrs that kernels read as 32-bit integers, refused where they do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import Node

# A NodeDef holds 64 bits. Seeds and the like use them all; these do not.
INT32_ATTRS: Final = frozenset(
    {
        "allowed_batch_sizes",
        "axis",
        "batch_dim",
        "batch_dims",
        "batch_size",
        "batch_timeout_micros",
        "beam_width",
        "begin_mask",
        "block_size",
        "channels",
        "compression",
        "dct_coefficient_count",
        "desired_channels",
        "desired_samples",
        "dilations",
        "ellipsis_mask",
        "end_mask",
        "filterbank_channel_count",
        "grad_timeout_micros",
        "group_key",
        "group_size",
        "instance_key",
        "k",
        "ksize",
        "ksizes",
        "logits_dimension",
        "max_attempts",
        "max_batch_size",
        "max_enqueued_batches",
        "max_splits",
        "maxsplit",
        "min_count",
        "new_axis_mask",
        "new_vocab_offset",
        "num_batch_threads",
        "num_bits",
        "num_inner_iterations",
        "num_loss_partitions",
        "num_new_vocab",
        "num_sampled",
        "num_true",
        "old_vocab_size",
        "precision",
        "preferred_shard",
        "rates",
        "ratio",
        "replacement_char",
        "seq_dim",
        "shrink_axis_mask",
        "skip_header_lines",
        "squeeze_dims",
        "stride",
        "strides",
        "subdiv_offsets",
        "summarize",
        "timeout_micros",
        "width",
        "window_size",
        "x_density",
        "y_density",
    }
)


def check_attrs(node: Node) -> None:
    """Refuses integers that TensorFlow's kernels could not read.

    Raises:
      InvalidArgumentError: an attr of `INT32_ATTRS` is out of range.
    """
    for name in INT32_ATTRS.intersection(node.attrs):
        value: Any = node.attrs[name]
        for number in value if isinstance(value, list | tuple) else (value,):
            if isinstance(number, int) and not -(2**31) <= number < 2**31:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Attr {name} has value {number} out of range for an int32",
                )
