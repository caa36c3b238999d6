"""Batch normalizations in one operation are folded into the layers before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tensorloom.contrib.quantize.batch_norm_corrections import (
    BatchNorm,
    clone_layer,
    corrections,
    per_filter,
)
from tensorloom.contrib.quantize.graph_facts import reroute_tensor
from tensorloom.contrib.quantize.graph_patterns import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
)
from tensorloom.framework.graph.graph import Graph, Operation, get_default_graph
from tensorloom.framework.registry.gradient_registry import (
    GRADIENT_OP_TYPE_ATTR,
    RegisterGradient,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.shape import size
from tensorloom.ops.math.binary import add, multiply, subtract
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import rsqrt

_GRADIENT = "FoldFusedBatchNormGrad"


@dataclass(frozen=True)
class _FusedMatch:
    """A layer and the batch normalization after it."""

    layer_op: Operation
    bn_op: Operation
    output: Any  # what is read of the two
    inputs: Any  # of the layer
    weights: Any
    beta: Any
    norm: BatchNorm
    batch_to_space: Any  # what rearranges the output of a dilated convolution


class _Patterns:
    def __init__(self) -> None:
        any_op = OpTypePattern
        self.inputs, self.weights = any_op("*"), any_op("*")
        self.gamma, self.beta = any_op("*"), any_op("*")
        self.mean, self.variance = any_op("*"), any_op("*")
        self.layer = OpTypePattern(
            "Conv2D|DepthwiseConv2dNative|MatMul", inputs=[self.inputs, self.weights]
        )
        self.batch_to_space = OpTypePattern(
            "BatchToSpaceND", inputs=[self.layer, "*", "*"]
        )
        kept = OpTypePattern(
            "Identity", inputs=[OneofPattern([self.batch_to_space, self.layer])]
        )
        output = OneofPattern([kept, self.layer, self.batch_to_space])
        # A product has two axes, and is reshaped to four for its normalization.
        reshaped = OpTypePattern("Reshape", inputs=[output, "*"])
        self.norm = OpTypePattern(
            "FusedBatchNorm|FusedBatchNormV3",
            inputs=[
                OneofPattern([reshaped, output]),
                *(self.gamma, self.beta, self.mean, self.variance),
            ],
        )
        self.reshaped_back = OpTypePattern("Reshape", inputs=[self.norm, "*"])
        self.average, self.decay = any_op("*"), any_op("*")
        self.change = OpTypePattern("Sub", inputs=[self.average, self.norm])
        self.update = OpTypePattern("Mul", inputs=[self.change, self.decay])


def fold_fused_batch_norms(graph: Graph, freeze_delay: int | None) -> None:
    """Folds them in a graph.

    New weights are the old ones times gamma / sqrt(variance + epsilon).

    Args:
      graph: the graph, which is the default one.
      freeze_delay: the steps after which moving statistics are used in training.

    Raises:
      ValueError: nothing reads a normalization.
    """
    for match in list(_find(graph)):
        _fold(graph, match, freeze_delay)


def _fold(graph: Graph, match: _FusedMatch, freeze_delay: int | None) -> None:
    scope, slash, _ = match.layer_op.name.rpartition("/")
    scope += slash
    norm, weights, fixed = match.norm, match.weights, None
    is_depthwise = match.layer_op.type == "DepthwiseConv2dNative"
    with graph.as_default(), graph.name_scope(scope):
        with graph.name_scope(f"{scope}BatchNorm_Fold{slash}"):
            factor = norm.gamma * rsqrt(norm.variance + norm.epsilon)
            bias = subtract(match.beta, norm.mean * factor, name="bias")
            scale = None
            if match.bn_op.get_attr("is_training"):
                fixed = corrections(norm, "", freeze_delay)
                scale = fixed.scale
            if is_depthwise:
                factor = per_filter(factor, weights, "scale_reshape")
                if scale is not None:
                    scale = per_filter(scale, weights, "correction_reshape")
        if scale is not None:
            weights = multiply(scale, weights, name="correction_mult")
        weights = multiply(weights, factor, name="mul_fold")
        name = match.layer_op.name.rpartition("/")[2] + "_Fold"
        output = clone_layer(
            match.layer_op, match.inputs, weights, name, match.batch_to_space
        )
        if fixed is not None:
            output = multiply(fixed.recip, output, name="post_conv_mul")
            output = add(output, fixed.offset, "correction_add")
        output = add(output, bias, name="add_fold")
        if not reroute_tensor(output, match.output):
            raise ValueError(
                f"Folding batch norms failed, {match.output.name} had no outputs."
            )


def _find(graph: Graph) -> Iterator[_FusedMatch]:
    patterns = _Patterns()
    # TensorFlow first looks for an Identity of two inputs, which there is none of.
    wanted = OneofPattern([patterns.reshaped_back, patterns.norm])
    seen: set[Operation] = set()
    for found in list(GraphMatcher(wanted).match_graph(graph)):
        match = _match_of(graph, patterns, found)
        if match is not None and match.layer_op not in seen:
            seen.add(match.layer_op)
            yield match


def _match_of(
    graph: Graph, patterns: _Patterns, found: MatchResult
) -> _FusedMatch | None:
    layer, bn = found.get_op(patterns.layer), found.get_op(patterns.norm)
    output = bn.outputs[0]
    if layer.type == "MatMul":
        reshaped = found.get_op(patterns.reshaped_back)
        if reshaped is None:
            return None  # the match of the Reshape is another one
        output = reshaped.outputs[0]
    if not output.consumers():
        return None
    if bn.get_attr("is_training"):
        norm = _training_norm(graph, patterns, found)
    else:
        norm = BatchNorm(
            bn.get_attr("epsilon"),
            found.get_tensor(patterns.gamma),
            found.get_tensor(patterns.mean),
            found.get_tensor(patterns.variance),
        )
    return _FusedMatch(
        layer_op=layer,
        bn_op=bn,
        output=output,
        inputs=found.get_tensor(patterns.inputs),
        weights=found.get_tensor(patterns.weights),
        beta=found.get_tensor(patterns.beta),
        norm=norm,
        batch_to_space=found.get_op(patterns.batch_to_space),
    )


def _training_norm(graph: Graph, patterns: _Patterns, found: MatchResult) -> BatchNorm:
    """In training the normalization finds mean and variance, and they are averaged."""
    bn = found.get_op(patterns.norm)
    # Its own gradient takes no gradients of the mean and the variance.
    bn._set_attr(GRADIENT_OP_TYPE_ATTR, _GRADIENT.encode())
    mean = bn.outputs[1]
    scope, slash, _ = bn.name.rpartition("/")
    default = get_default_graph()
    with default.as_default(), default.name_scope(scope + slash):
        # The variance that comes out is Bessel's: of n - 1 values.
        values = size(found.get_tensor(patterns.layer))
        n = cast(values / size(mean), dtypes.float32)
        name = "Undo_Bessel_Correction"
        variance = multiply(bn.outputs[2], (n - 1) / n, name=name)
    averages: dict[str, tuple[Any, Any]] = {}
    for update in GraphMatcher(patterns.update).match_graph(graph):
        change = update.get_op(patterns.change)
        averages[change.inputs[1].name] = (
            change.inputs[0],
            update.get_tensor(patterns.decay),
        )
    moving_mean, mean_decay = averages.get(mean.name, (None, None))
    moving_variance, variance_decay = averages.get(bn.outputs[2].name, (None, None))
    return BatchNorm(
        bn.get_attr("epsilon"),
        found.get_tensor(patterns.gamma),
        mean,
        variance,
        moving_mean,
        moving_variance,
        mean_decay,
        variance_decay,
    )


@RegisterGradient(_GRADIENT)
def _fold_fused_batch_norm_grad(op: Operation, *grads: Any) -> Any:
    """The gradient of a folded normalization: of its mean and its variance alone."""
    x = op.inputs[0]
    _, mean_grad, variance_grad = grads[:3]
    n = cast(size(x) / size(mean_grad), dtypes.float32)
    of_mean = mean_grad / n
    of_variance = 2 * variance_grad * (x - op.outputs[1]) / (n - 1)
    return of_mean + of_variance, None, None, None, None
