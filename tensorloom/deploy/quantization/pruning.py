"""Weights that are small become zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensorloom.deploy import optimizing
from tensorloom.deploy.quantization.layers import layers_of
from tensorloom.framework import errors
from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel


def pruned(model: FrozenModel, share: float) -> FrozenModel:
    """A model in which a share of each layer's weights is zero: the smallest.

    The file of the model compresses better then; it is as large as before.

    Raises:
      errors.InvalidArgumentError: the share is not from 0 to 1, or there is no layer.
    """
    if not 0.0 <= share < 1.0:
        raise errors.InvalidArgumentError(
            None, None, f"a share of {share} of the weights; expected one from 0 to 1"
        )
    model = optimizing.transformed(model)
    chosen = {nodes.node_of(layer.product.input[1]) for layer in layers_of(model)}
    if not chosen:
        raise errors.InvalidArgumentError(
            None, None, "the model has no layer with constant weights to prune"
        )
    made = []
    for node in model.graph_def.node:
        if node.name in chosen:
            values = nodes.value_of(node)
            count = int(share * values.size)
            order = np.argsort(np.abs(values), axis=None, kind="stable")
            left = values.reshape(-1).copy()
            left[order[:count]] = 0
            node = nodes.constant(node.name, left.reshape(values.shape))
        made.append(node)
    return model.with_graph(nodes.with_nodes(model.graph_def, made))
