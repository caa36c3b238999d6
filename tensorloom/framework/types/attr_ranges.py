"""Attrs that kernels and shape functions read as 32-bit integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import Node

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
        "min_after_dequeue",
        "min_count",
        "new_axis_mask",
        "new_vocab_offset",
        "ngram_widths",
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
        "quality",
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


# Stages and maps have 64 bits for theirs.
_WITH_INT32_CAPACITY: Final = frozenset(
    f"{kind}Queue{version}"
    for kind in ("FIFO", "PaddingFIFO", "Priority", "RandomShuffle")
    for version in ("", "V2")
)
_CONVOLUTIONS: Final = """
Conv2D Conv3D QuantizedConv2D QuantizedConv2DAndRelu
QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize
QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu
QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize
QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu
QuantizedConv2DWithBiasSumAndReluAndRequantize
"""
_DEPTHWISE: Final = """
DepthwiseConv2dNative QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias
QuantizedDepthwiseConv2DWithBiasAndRelu
QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize
"""
_POOLS: Final = """
AvgPool AvgPool3D MaxPool MaxPool3D MaxPool3DGradGrad MaxPoolGradGrad
MaxPoolGradGradWithArgmax MaxPoolWithArgmax QuantizedAvgPool QuantizedMaxPool
"""
# By op, in TensorFlow's order: what its shape function reads, so that the node cannot
# be made. The others are refused when the step is compiled.
_READ_FOR_SHAPES: Final = {
    op: attrs.split()
    for attrs, ops in (
        ("axis", "OneHot"),
        ("batch_dims", "ResourceGather"),
        ("block_size", "BatchToSpace DepthToSpace SpaceToBatch SpaceToDepth"),
        ("channels", "DecodeAndCropJpeg DecodeBmp DecodeJpeg DecodePng"),
        ("dct_coefficient_count", "Mfcc"),
        ("desired_channels desired_samples", "DecodeWav"),
        ("ksize strides", _POOLS),
        ("ksizes strides", "ExtractVolumePatches"),
        ("ksizes strides rates", "ExtractImagePatches"),
        ("logits_dimension", "BoostedTreesPredict BoostedTreesTrainingPredict"),
        ("num_elements", "TensorListStack"),
        ("strides", _DEPTHWISE),
        ("strides dilations", _CONVOLUTIONS),
        ("strides rates", "Dilation2D"),
        ("window_size stride", "AudioSpectrogram"),
    )
    for op in ops.split()
}
# Read once the rank of the first input is known.
_READ_BY_RANK: Final = {"Pack": "axis", "Unpack": "axis", "GatherV2": "batch_dims"}


def unreadable_for_shapes(
    op: str, attrs: Mapping[str, Any], first_rank: int | None
) -> str | None:
    """What TensorFlow's shape function says of an attr that it cannot read, if any."""
    names: Sequence[str] = _READ_FOR_SHAPES.get(op, ())
    if first_rank is not None and op in _READ_BY_RANK:
        names = (_READ_BY_RANK[op],)
    for name in names:
        if problem := _problem(name, attrs[name]):
            return problem
    return None


def check_attrs(node: Node) -> None:
    """Refuses integers that TensorFlow's kernels could not read.

    Raises:
      InvalidArgumentError: an attr of `INT32_ATTRS` is out of range.
    """
    names = INT32_ATTRS.intersection(node.attrs)
    if node.op in _WITH_INT32_CAPACITY:
        names |= {"capacity"}
    for name in names:
        if problem := _problem(name, node.attrs[name]):
            raise errors.InvalidArgumentError(None, None, problem)


def _problem(name: str, value: Any) -> str | None:
    for number in value if isinstance(value, list | tuple) else (value,):
        if isinstance(number, int) and not -(2**31) <= number < 2**31:
            return f"Attr {name} has value {number} out of range for an int32"
    return None
