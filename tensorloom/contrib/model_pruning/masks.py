"""Weights with masks over them."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    add_to_collection,
    get_collection,
    get_collection_ref,
)
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.state.initializers import Ones, Zeros

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


@export("contrib.model_pruning.apply_mask")
def apply_mask(x: Any, scope: Any = "") -> Any:
    """The weights times a mask, which keeps all of them at first.

    Args:
      x: the weights.
      scope: the variable scope of the variables `mask` and `threshold`.
    """
    with variable_scope(scope):
        mask = get_variable(
            "mask", x.get_shape(), initializer=Ones(), trainable=False, dtype=x.dtype
        )
    with variable_scope(scope):
        threshold = get_variable(
            "threshold", [], initializer=Zeros(), trainable=False, dtype=x.dtype
        )
    masked = multiply(mask, x, MASKED_WEIGHT_NAME)
    if not is_known(mask):
        collect(mask, threshold, masked, x)
    return masked


def is_known(mask: Any) -> bool:
    """Whether a mask is in the default graph's collection."""
    return any(known is mask for known in get_collection_ref(MASK_COLLECTION))


def collect(mask: Any, threshold: Any, masked: Any, weights: Any) -> None:
    """Adds masked weights to the collections that `Pruning` reads."""
    add_to_collection(THRESHOLD_COLLECTION, threshold)
    add_to_collection(MASK_COLLECTION, mask)
    add_to_collection(MASKED_WEIGHT_COLLECTION, masked)
    add_to_collection(WEIGHT_COLLECTION, weights)


def add_layer_mask(layer: Any, shape: Any) -> Any:
    """The mask of a layer's weights: a variable that keeps all at first."""
    return _add_untrained(layer, "mask", shape, Ones())


def mask_layer_weights(layer: Any, mask: Any, weights: Any) -> tuple[Any, Any]:
    """(threshold, masked weights) of a layer that has a mask."""
    threshold = _add_untrained(layer, "threshold", [], Zeros())
    # The name is where quantization looks for weights.
    return threshold, multiply(mask, weights, MASKED_WEIGHT_NAME)


def _add_untrained(layer: Any, name: str, shape: Any, initializer: Any) -> Any:
    return layer.add_weight(
        name, shape, initializer=initializer, trainable=False, dtype=layer.dtype
    )


@export("contrib.model_pruning.get_masked_weights")
def get_masked_weights() -> list[Any]:
    """All masked weights of the default graph."""
    return get_collection(MASKED_WEIGHT_COLLECTION)


@export("contrib.model_pruning.get_masks")
def get_masks() -> list[Any]:
    """All masks of the default graph."""
    return get_collection(MASK_COLLECTION)


@export("contrib.model_pruning.get_thresholds")
def get_thresholds() -> list[Any]:
    """All thresholds of the default graph: smaller weights are set to zero."""
    return get_collection(THRESHOLD_COLLECTION)


@export("contrib.model_pruning.get_weights")
def get_weights() -> list[Any]:
    """All weights of the default graph that have masks."""
    return get_collection(WEIGHT_COLLECTION)


@export("contrib.model_pruning.get_weight_sparsity")
def get_weight_sparsity() -> list[Any]:
    """For each mask of the default graph the share of weights that it sets to zero."""
    return [zero_fraction(mask) for mask in get_masks()]
