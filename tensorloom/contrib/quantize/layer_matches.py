"""The layers whose weights and activations are to be rounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.contrib.quantize.graph_patterns import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
    Pattern,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADD = "Add|AddV2"


@dataclass(frozen=True)
class LayerMatch:
    """A layer with what follows it."""

    layer_op: Operation  # the convolution or product
    weight_tensor: Any  # what it multiplies by, if it comes from a variable or a fold
    activation_op: Any  # whose output is rounded
    bypass_op: Any = None  # an addition before the activation
    post_activation_bypass_op: Any = None  # an addition after it
    bias_add_op: Any = None  # the addition of the bias


def _either_order(op_type: str, *inputs: Pattern | str) -> OpTypePattern:
    return OpTypePattern(op_type, inputs=inputs, ordered_inputs=False)


def _any() -> OpTypePattern:
    return OpTypePattern("*")


class _Patterns:
    """A layer from its weights to what is added after its activation."""

    def __init__(self) -> None:
        variable = OpTypePattern("Variable|VariableV2")
        read = OpTypePattern("Identity", inputs=[variable])
        joined = OpTypePattern("ConcatV2", inputs=[read, "*", "*"])
        self.weights = (
            OpTypePattern("Identity", inputs=[OneofPattern([read, joined, variable])]),
            OpTypePattern("ReadVariableOp"),
            OpTypePattern("Mul"),  # weights with a batch normalization folded in
        )
        self.layer = _either_order(_LAYERS, _any(), OneofPattern(self.weights))
        # A dilated convolution is one of a rearranged image.
        batch_to_space = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        output = OneofPattern([batch_to_space, self.layer])
        # A separable convolution is two, with no activation between them.
        self.separable = _either_order(_LAYERS, OneofPattern([output]), _any())
        corrected = _either_order(_ADD, _either_order("Mul", _any(), output), _any())
        self.folded_bias = _either_order(_ADD, corrected, _any())
        updated = OpTypePattern("Identity", inputs=[self.folded_bias])
        self.bias = _either_order("Add|AddV2|BiasAdd", output, "*")
        biased = [self.bias, self.folded_bias, updated]
        self.bypass = _either_order(_ADD, OneofPattern(biased), "*")
        self.activation = OpTypePattern(
            "Relu|Relu6|Identity",
            inputs=[OneofPattern([*biased, self.bypass, self.layer])],
        )
        self.post_bypass = _either_order(_ADD, "*", self.activation)

    def weight_tensor(self, found: MatchResult) -> Any:
        """What the layer multiplies by, None where the pattern did not say."""
        tensors = (found.get_tensor(weights) for weights in self.weights)
        return next((tensor for tensor in tensors if tensor is not None), None)

    def added_bias(self, found: MatchResult) -> Any:
        """The addition of the bias, None where there is none."""
        op = found.get_op(self.bias)
        return found.get_op(self.folded_bias) if op is None else op


def _candidates(graph: Graph) -> Iterator[LayerMatch]:
    """All matches, those that take in most first."""
    patterns = _Patterns()

    def search(pattern: Pattern) -> Iterator[tuple[MatchResult, Any, Any]]:
        for found in GraphMatcher(pattern).match_graph(graph):
            yield found, found.get_op(patterns.layer), patterns.weight_tensor(found)

    for pattern in (patterns.post_bypass, patterns.activation):
        for found, layer, weights in search(pattern):
            activation = found.get_op(patterns.activation)
            after = found.get_op(patterns.post_bypass)
            if after is None and _leads_to_batch_norm(activation):
                continue
            yield LayerMatch(
                layer,
                weights,
                activation,
                found.get_op(patterns.bypass),
                after,
                patterns.added_bias(found),
            )
    # The last layer may have no activation: its output is what the bias is added to.
    for found, layer, weights in search(
        OneofPattern([patterns.bias, patterns.folded_bias])
    ):
        yield LayerMatch(layer, weights, patterns.added_bias(found))
    for _, layer, weights in search(patterns.separable):
        folded = weights is not None and weights.op.type == "Mul"
        yield LayerMatch(layer, None if folded else weights, layer)


def find_layers(graph: Graph) -> list[LayerMatch]:
    """The layers of a graph, each once, with as much of what follows as there is."""
    layers: dict[Operation, LayerMatch] = {}
    for match in _candidates(graph):
        layers.setdefault(match.layer_op, match)
    return list(layers.values())


def _leads_to_batch_norm(activation: Operation) -> bool:
    """Whether an Identity leads to a batch normalization that was folded.

    What is left of that one only finds the mean and the variance.
    """
    if activation.type != "Identity" or len(activation.outputs) != 1:
        return False
    consumers = activation.outputs[0].consumers()
    if len(consumers) != 1 or not consumers[0].type.startswith("FusedBatchNorm"):
        return False
    if consumers[0].type not in ("FusedBatchNorm", "FusedBatchNormV3"):
        return False
    program_log.info(
        "Skipping quantizing %s, because it is the output of a conv/fc "
        "followed by a identity, feeding a fused batch norm.",
        activation.name,
    )
    return True
