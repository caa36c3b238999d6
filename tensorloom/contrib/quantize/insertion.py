"""Rounding is put after weights, activations, and sums and products of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.program import program_log
from tensorloom.contrib.quantize.fake_quantization import (
    last_value_quantize,
    moving_avg_quantize,
)
from tensorloom.contrib.quantize.graph_facts import (
    InputToOps,
    name_in,
    quantization_step,
    reroute_tensor,
    scope_of,
)
from tensorloom.contrib.quantize.layer_matches import LayerMatch, find_layers
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    Operation,
    Tensor,
    get_name_scope,
)
from tensorloom.ops.math.comparison import greater_equal

_ACTIVATIONS = ("Relu", "Relu6", "Identity")
_RELUS = ("Relu", "Relu6")
_ROUNDING = (
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
)
_SUMS = ("Add", "AddV2", "Mul")
_PASSED_THROUGH = (
    "Reshape",
    "Identity",
    "BatchToSpaceND",
    "SpaceToBatchND",
    "MaxPool",
    "Max",
)


@dataclass(frozen=True)
class _Quantizer:
    """How, and where in the graph, values are rounded."""

    is_training: bool
    weight_bits: int
    activation_bits: int
    symmetric: bool
    ema_decay: float
    quant_delay: int | None
    vars_collection: str
    scope: str | None

    def weights(self, match: LayerMatch, readers: InputToOps, context: str) -> None:
        """Rounds the weights of a layer."""
        op = match.weight_tensor.op
        insert_quant_op(
            context,
            "weights_quant",
            op,
            readers.ConsumerOperations(op),
            self.is_training,
            moving_avg=False,
            quant_delay=self.quant_delay,
            narrow_range=True,
            vars_collection=self.vars_collection,
            bits=self.weight_bits,
            symmetric=self.symmetric,
            consumer_scope=self.scope,
        )

    def output(
        self,
        context: str,
        name: str,
        op: Operation,
        readers: InputToOps,
        both_in_scope: bool = False,
        **more: Any,
    ) -> None:
        """Rounds the output of an operation by a moving average of its range."""
        insert_quant_op(
            context,
            name,
            op,
            readers.ConsumerOperations(op),
            self.is_training,
            ema_decay=self.ema_decay,
            quant_delay=self.quant_delay,
            vars_collection=self.vars_collection,
            bits=self.activation_bits,
            producer_scope=self.scope,
            consumer_scope=self.scope if both_in_scope else None,
            **more,
        )


def quantize(
    graph: Graph,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Rounds the weights, activations and sums of the layers of a graph.

    Args:
      graph: the graph, which is the default one.
      is_training: whether ranges are learnt, or those that are kept are used.
      weight_bits, activation_bits: 2 to 8.
      symmetric: takes ranges about zero.
      ema_decay: the part of an average of ranges that stays with each step.
      quant_delay: the number of steps before which nothing is rounded.
      vars_collection: the collection of the variables of ranges.
      scope: leaves all other scopes as they are.
    """
    if scope and not scope.endswith("/"):
        scope += "/"
    quantizer = _Quantizer(
        *(is_training, weight_bits, activation_bits, symmetric, ema_decay),
        *(quant_delay, vars_collection, scope),
    )
    done: set[Operation] = set()
    readers = InputToOps(graph)
    for match in find_layers(graph):
        _quantize_layer(quantizer, match, readers, done)
    readers = InputToOps(graph)
    for op in graph.get_operations():
        if _sums_rounded_values(op, done):
            program_log.info(
                "Inserting fake quant op activation_%s_quant after %s", op.type, op.name
            )
            quantizer.output(op.name, f"activation_{op.type}_quant", op, readers)


def _quantize_layer(
    quantizer: _Quantizer, match: LayerMatch, readers: InputToOps, done: set[Operation]
) -> None:
    context = scope_of(match.layer_op.name)
    around = scope_of(context) if match.bypass_op is not None else context
    symmetric = quantizer.symmetric
    if match.weight_tensor is not None:
        quantizer.weights(match, readers, context)
    if match.activation_op is not None:
        op = match.activation_op
        more: dict[str, Any] = {"init_min": 0.0, "symmetric": symmetric}
        quantizer.output(around, "act_quant", op, readers, **more)
        done.add(op)
    if match.bypass_op is not None:
        op = match.bias_add_op
        quantizer.output(context, "conv_quant", op, readers, True, symmetric=symmetric)
        done.add(op)
        op = match.bypass_op
        if not _followed_by(op, _ACTIVATIONS, readers):
            name = "add_quant"
            quantizer.output(around, name, op, readers, True, symmetric=symmetric)
            done.add(op)
    if match.post_activation_bypass_op is not None:
        op = match.post_activation_bypass_op
        if not _followed_by(op, _RELUS, readers):
            name = "post_activation_bypass_quant"
            place = scope_of(op.name)
            quantizer.output(place, name, op, readers, symmetric=symmetric)
            done.add(op)


def _followed_by(op: Operation, types: tuple[str, ...], readers: InputToOps) -> bool:
    """Whether an activation follows, which runs in one with the sum before it."""
    if any(reader.type in types for reader in readers.ConsumerOperations(op)):
        program_log.info("Skipping %s, because its followed by an activation.", op.name)
        return True
    return False


def _sums_rounded_values(op: Operation, done: set[Operation]) -> bool:
    """Whether the operation adds or multiplies something that is rounded."""
    if op in done or op.type not in _SUMS:
        return False
    if len(op.outputs) == 1:
        consumers = op.outputs[0].consumers()
        if len(consumers) == 1 and consumers[0].type in _RELUS:
            program_log.info("Skipping quant after %s", op.name)
            return False
    return any(_is_rounded(tensor.op, done) for tensor in op.inputs)


def _is_rounded(op: Operation, done: set[Operation]) -> bool:
    while op.type in _PASSED_THROUGH:
        op = op.inputs[0].op
    if op.type == "FakeQuantWithMinMaxVars" or _is_delayed(op):
        return True
    return op.type in _SUMS and any(
        _sums_rounded_values(tensor.op, done) for tensor in op.inputs
    )


def _is_delayed(op: Operation) -> bool:
    """Whether it chooses between a value and the rounded value."""
    last = "delayed_quant/Merge" if op.type == "Merge" else "delayed_quant"
    return op.type in ("Merge", "If", "StatelessIf") and op.name.find(last) > 0


def _followed_by_fake_quant(tensor: Tensor) -> bool:
    waiting = list(tensor.consumers())
    while waiting:
        op = waiting.pop()
        if op.type in _ROUNDING:
            return True
        if op.type in ("Reshape", "Identity"):
            waiting += [reader for t in op.outputs for reader in t.consumers()]
    return False


def _out_of_scope(
    what: str, ops: Iterable[Operation], scope: str | None, place: str
) -> bool:
    for op in ops:
        if scope and not op.name.startswith(scope):
            program_log.info(
                '_InsertQuantOp ignores %s because %s "%s" is not in scope "%s"',
                *(place, what, op.name, scope),
            )
            return True
    return False


def insert_quant_op(
    context: str,
    name: str,
    producer: Operation,
    consumers: Iterable[Operation],
    is_training: bool,
    moving_avg: bool = True,
    init_min: float = -6.0,
    init_max: float = 6.0,
    bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = GraphKeys.GLOBAL_VARIABLES,
    narrow_range: bool = False,
    producer_scope: str | None = None,
    consumer_scope: str | None = None,
) -> None:
    """Makes what reads an operation read its output rounded, unless it is already.

    Args:
      context: the scope of the layer.
      name: of the new operations in it.
      producer: the operation.
      consumers: what reads it.
      is_training: whether the range is learnt.
      moving_avg: takes an average of ranges, not the last one.
      init_min, init_max: the range before the first step.
      bits: 2 to 8.
      symmetric: takes a range about zero.
      ema_decay: the part of the average that stays with each step.
      quant_delay: the number of steps before which nothing is rounded.
      vars_collection: the collection of the variables of the range.
      narrow_range: leaves the lowest level out.
      producer_scope: does nothing if the operation is not in this scope.
      consumer_scope: does nothing if an operation that reads it is not in this scope.

    Raises:
      ValueError: an operation does not read it.
    """
    consumers = list(consumers)
    place = name_in(context, name)
    if _out_of_scope("producer", [producer], producer_scope, place) or _out_of_scope(
        "consumer", consumers, consumer_scope, place
    ):
        return
    # The variables are made in the scope that is open: its name is not said twice.
    open_scope = get_name_scope()
    prefix = place.removeprefix(f"{open_scope}/") if open_scope else place
    inputs = producer.outputs[0]
    # Matches can overlap in what is added.
    if _followed_by_fake_quant(inputs):
        return
    options: dict[str, Any] = {
        "init_min": init_min,
        "init_max": init_max,
        "is_training": is_training,
        "num_bits": bits,
        "symmetric": symmetric,
        "narrow_range": narrow_range,
        "vars_collection": vars_collection,
        "name_prefix": prefix,
    }
    if moving_avg:
        rounded = moving_avg_quantize(inputs, ema_decay=ema_decay, **options)
    else:
        rounded = last_value_quantize(inputs, **options)
    if quant_delay and quant_delay > 0:
        rounded = _delayed(rounded, inputs, quant_delay, prefix)
    if consumers:
        count = reroute_tensor(rounded, inputs, can_modify=consumers)
        if count < len(consumers):
            names = ", ".join(op.name for op in consumers)
            raise ValueError(f"No inputs quantized for ops: [{names}]")


def _delayed(rounded: Tensor, inputs: Tensor, steps: int, prefix: str) -> Any:
    late = greater_equal(quantization_step(), steps, name=f"{prefix}/activate_quant")
    return cond(late, lambda: rounded, lambda: inputs, name=f"{prefix}/delayed_quant")
