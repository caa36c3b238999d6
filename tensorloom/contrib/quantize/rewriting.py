"""The rewrites of whole graphs: `create_training_graph` and its kin."""

from __future__ import annotations

import re
from typing import Any

from tensorloom.contrib.quantize.fused_folding import fold_fused_batch_norms
from tensorloom.contrib.quantize.insertion import quantize
from tensorloom.contrib.quantize.unfused_folding import fold_unfused_batch_norms
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, get_default_graph

# Updates by optimizers: gradients are there, and would not know of the rounding.
_TRAINING = re.compile(
    "(Resource)?(Sparse)?Apply(Adagrad|AdagradDA|CenteredRMSProp|Ftrl|FtrlV2|Momentum|"
    "ProximalAdagrad|ProximalGradientDescent|RMSProp)"
    "|(Resource)?Apply(Adam|AddSign|GradientDescent|PowerSign)"
    "|(ResourceSparse|Resource|Sparse)ApplyAdadelta"
)


def fold_batch_norms(
    graph: Graph, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Folds batch normalizations into the layers before them.

    Args:
      graph: the graph, which is the default one.
      is_training: whether statistics of the batch are used.
      freeze_batch_norm_delay: the steps after which moving statistics are used in
        training; None: never.

    Raises:
      ValueError: what reads a normalization is not what was expected.
    """
    fold_fused_batch_norms(graph, freeze_batch_norm_delay)
    fold_unfused_batch_norms(graph, is_training, freeze_batch_norm_delay)


def _rewrite(
    graph: Graph | None,
    is_training: bool,
    freeze_bn_delay: int | None = None,
    **options: Any,
) -> None:
    graph = get_default_graph() if graph is None else graph
    types = {op.type for op in graph.get_operations()}
    training = {name for name in types if _TRAINING.fullmatch(name)}
    if training:
        raise ValueError(f"Training op found in graph, exiting {training}")
    with graph.as_default():
        fold_batch_norms(graph, is_training, freeze_bn_delay)
        quantize(graph, is_training, **options)


@export("contrib.quantize.create_training_graph")
def create_training_graph(
    input_graph: Graph | None = None, quant_delay: int = 0
) -> None:
    """Rewrites a graph, in place, to be trained with rounding to 8 bits.

    To be called before gradients are built. Batch normalizations are folded into the
    layers before them; weights, activations and sums are rounded to the levels of
    ranges that are kept in new variables.

    Args:
      input_graph: the graph; the default one when None.
      quant_delay: the number of steps before which nothing is rounded: 0 to go on with
        a trained model, else about as many as it takes to train it.

    Raises:
      ValueError: the graph has updates of an optimizer.
    """
    _rewrite(input_graph, is_training=True, quant_delay=quant_delay)


@export("contrib.quantize.create_eval_graph")
def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Rewrites a graph for evaluation, in place, as `create_training_graph` does.

    Ranges are those that were kept.

    Args:
      input_graph: the graph; the default one when None.

    Raises:
      ValueError: the graph has updates of an optimizer.
    """
    _rewrite(input_graph, is_training=False)


@export("contrib.quantize.experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with more to choose.

    Args:
      input_graph: the graph; the default one when None.
      weight_bits, activation_bits: 2 to 8.
      symmetric: takes ranges about zero.
      quant_delay: the number of steps before which nothing is rounded.
      freeze_bn_delay: the number of steps after which batch normalizations use moving
        statistics, and update them no longer; None: never.
      scope: leaves layers of all other scopes as they are.

    Raises:
      ValueError: the graph has updates of an optimizer.
    """
    _rewrite(
        input_graph,
        is_training=True,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        symmetric=symmetric,
        quant_delay=quant_delay,
        freeze_bn_delay=freeze_bn_delay,
        scope=scope,
    )


@export("contrib.quantize.experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with more to choose.

    Args:
      input_graph: the graph; the default one when None.
      weight_bits, activation_bits: 2 to 8.
      symmetric: takes ranges about zero.
      quant_delay: the number of steps before which nothing is rounded.
      scope: leaves layers of all other scopes as they are.

    Raises:
      ValueError: the graph has updates of an optimizer.
    """
    _rewrite(
        input_graph,
        is_training=False,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        symmetric=symmetric,
        quant_delay=quant_delay,
        scope=scope,
    )
