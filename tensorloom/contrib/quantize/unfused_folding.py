"""Batch normalizations of several operations are folded into the layers before them.

They are found by the names that `tf.contrib.layers` gives their operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope_state import get_variable_scope
from tensorloom.contrib.quantize.batch_norm_corrections import (
    BatchNorm,
    Corrections,
    clone_layer,
    corrections,
    per_filter,
)
from tensorloom.contrib.quantize.graph_facts import (
    InputToOps,
    batch_norm_groups,
    endpoint_activation_op,
    reroute_tensor,
    scope_of,
)
from tensorloom.framework.graph.graph import Graph, Operation, Tensor, device
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.space import batch_to_space_nd
from tensorloom.ops.math.binary import add, multiply


def fold_unfused_batch_norms(
    graph: Graph, is_training: bool, freeze_delay: int | None
) -> None:
    """Folds them in a graph.

    Args:
      graph: the graph, which is the default one.
      is_training: whether statistics of the batch are used.
      freeze_delay: the steps after which moving statistics are used in training.

    Raises:
      ValueError: what reads a normalization is not what was expected.
      KeyError: neither an activation nor an addition has the expected name.
    """
    readers = InputToOps(graph)
    for prefix in batch_norm_groups(graph):
        inner = f"{prefix}BatchNorm/batchnorm_1/"
        rsqrt = graph.get_operation_by_name(inner + "Rsqrt")
        # With gamma, the inverse deviation is multiplied by it alone.
        products = [op for op in readers.ConsumerOperations(rsqrt) if op.type == "Mul"]
        shifted = graph.get_operation_by_name(inner + "add_1")
        if not shifted.outputs[0].consumers():
            continue
        has_scaling = len(products) == 1
        folded = _folded(graph, prefix, has_scaling, is_training, freeze_delay)
        _reroute(graph, prefix, folded, shifted.outputs[0])


def _reroute(graph: Graph, prefix: str, folded: Tensor, old: Tensor) -> None:
    """Makes the activation, or the addition around the layer, read the folded layer."""
    reader = endpoint_activation_op(graph, prefix)
    if reader is None:
        # The addition is in the scope around the normalization's.
        around = scope_of(prefix.rstrip("/")) if prefix else ""
        reader = graph.get_operation_by_name(f"{around}/AddV2" if around else "AddV2")
    if reroute_tensor(folded, old, can_modify=[reader]) != 1:
        raise ValueError(f"Unexpected inputs to op: {reader.name}")


def _best_match(graph: Graph, suffix: str, context: str) -> Any:
    """The tensor of the name that ends so and shares most parts with the context.

    Scopes that are opened twice are once in the names of variables, and twice in those
    of operations.
    """
    parts = set(context.split("/"))
    shared = {
        op: len(parts.intersection(op.name.split("/")))
        for op in graph.get_operations()
        if op.name.endswith(suffix)
    }
    fitting = [op for op, count in shared.items() if count > 0 or not context]
    if not fitting:
        return None
    best = max(fitting, key=shared.__getitem__)
    return graph.get_tensor_by_name(f"{best.name}:0")


def _norm(graph: Graph, context: str, has_scaling: bool) -> BatchNorm:
    uses_resources = get_variable_scope().use_resource

    def find(suffix: str) -> Any:
        return _best_match(graph, f"BatchNorm/{suffix}", context)

    def variable(name: str, read: str) -> Any:
        return find(f"{name}/Read/ReadVariableOp" if uses_resources else name + read)

    moving_mean = variable("moving_mean", "/read")
    gamma = variable("gamma", "") if has_scaling else ones(moving_mean.shape)
    return BatchNorm(
        epsilon=find("batchnorm_1/add/y"),
        gamma=gamma,
        mean=find("moments/Squeeze"),
        variance=find("moments/Squeeze_1"),
        moving_mean=moving_mean,
        moving_variance=variable("moving_variance", "/read"),
        mean_decay=find("AssignMovingAvg/decay"),
        variance_decay=find("AssignMovingAvg_1/decay"),
    )


def _folded(
    graph: Graph,
    context: str,
    has_scaling: bool,
    is_training: bool,
    freeze_delay: int | None,
) -> Tensor:
    """The layer with the normalization folded in."""
    inner = f"{context}BatchNorm/batchnorm_1/"
    product = graph.get_operation_by_name(inner + ("mul_1" if has_scaling else "mul"))
    layer = product.inputs[0].op
    batch_to_space = None
    if layer.type == "BatchToSpaceND":
        batch_to_space, layer = layer, layer.inputs[0].op
    norm = _norm(graph, context, has_scaling)
    fixed = corrections(norm, context, freeze_delay) if is_training else None
    weights = _folded_weights(graph, context, has_scaling, product, layer, fixed)
    _check_weights(layer, layer.inputs[0], weights)
    output = clone_layer(layer, layer.inputs[0], weights, f"{layer.name}_Fold")
    if batch_to_space is not None:
        edges = batch_to_space.inputs[1], batch_to_space.inputs[2]
        name = f"{batch_to_space.name}_Fold"
        output = batch_to_space_nd(output, *edges, name=name)
    if fixed is not None:
        with device(output.op.device):
            output = multiply(fixed.recip, output, f"{context}post_conv_mul")
            output = add(output, fixed.offset, f"{context}correction_add")
    shifted = graph.get_operation_by_name(inner + "add_1")
    return _like(add, "add_fold", context, output, shifted.inputs[1])


def _folded_weights(
    graph: Graph,
    context: str,
    has_scaling: bool,
    product: Operation,
    layer: Operation,
    fixed: Corrections | None,
) -> Tensor:
    weights = layer.inputs[1]
    scale, factor = None if fixed is None else fixed.scale, product.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        name = "mul" if has_scaling else "Rsqrt"
        found = graph.get_operation_by_name(f"{context}BatchNorm/batchnorm_1/{name}")
        factor = per_filter(found.outputs[0], weights, f"{context}scale_reshape")
        if scale is not None:
            scale = per_filter(scale, weights, f"{context}correction_reshape")
    elif layer.type not in ("Conv2D", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    if scale is not None:
        with device(product.device):
            weights = multiply(scale, weights, f"{context}correction_mult")
    return _like(multiply, "mul_fold", context, weights, factor)


def _like(
    op: Callable[..., Tensor], name: str, context: str, first: Tensor, second: Tensor
) -> Tensor:
    """The operation of two tensors, whose result must have the shape of the first."""
    result = op(first, second, name=context + name)
    if not first.get_shape().is_compatible_with(result.get_shape()):
        raise ValueError(
            f"{name} should not change tensor shape: input {first.get_shape()}, "
            f"output {result.get_shape()}"
        )
    return result


def _check_weights(layer: Operation, inputs: Tensor, weights: Tensor) -> None:
    shapes = inputs.get_shape(), weights.get_shape()
    if layer.type == "MatMul":
        fits = len(shapes[0]) == len(shapes[1]) == 2 and shapes[0][1] == shapes[1][0]
    else:
        fits = len(shapes[0]) == len(shapes[1]) == 4 and shapes[0][3] == shapes[1][2]
    if not fits:
        raise ValueError(
            f"Incompatible shapes for op {layer.name} inputs: {shapes[0]} and "
            f"{shapes[1]}"
        )
