"""The nodes that a pipeline's options stand for in the graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.data import transformations
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import arg_types
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.data.options import Options, StatsAggregatorV1
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def applied(options: Options, variant: Tensor, structure: dict[str, Any]) -> Tensor:
    """A dataset's variant tensor behind the nodes of its options.

    Args:
      structure: the attrs output_types and output_shapes.
    """
    variant = _optimized(_threaded(variant, options, structure), options, structure)
    return _measured(variant, options, structure)


def _threaded(variant: Tensor, options: Options, structure: dict[str, Any]) -> Tensor:
    threading = options.experimental_threading
    for op, name in (
        ("MaxIntraOpParallelismDataset", "max_intra_op_parallelism"),
        ("PrivateThreadPoolDataset", "private_threadpool_size"),
    ):
        number = getattr(threading, name)
        if number is not None:
            argument = name.replace("private_threadpool_size", "num_threads")
            inputs: dict[str, Any] = {
                "input_dataset": variant,
                argument: transformations.int64(number, argument),
            }
            variant = apply_op(op, **inputs, **structure)
    return variant


def _optimized(variant: Tensor, options: Options, structure: dict[str, Any]) -> Tensor:
    optimization = options.experimental_optimization
    chosen = options._static_optimizations()
    if chosen and _captures_references(variant):
        warnings.warn(
            "tf.data static optimizations are not compatible with tf.Variable. The "
            f"following optimizations will be disabled: {', '.join(chosen)}. To enable "
            "optimizations, use resource variables instead by calling "
            "`tf.enable_resource_variables()` at the start of the program.",
            stacklevel=2,
        )
    elif chosen:
        variant = apply_op(
            "OptimizeDataset",
            input_dataset=variant,
            optimizations=transformations.tensor(
                chosen, dtypes.string, "optimizations"
            ),
            optimization_configs=options._static_optimization_configs(),
            **structure,
        )
    if optimization.autotune is not False:
        variant = apply_op(
            "ModelDataset",
            input_dataset=variant,
            algorithm=optimization.autotune_algorithm or 0,
            cpu_budget=optimization.autotune_cpu_budget or 0,
            **structure,
        )
    return variant


def _captures_references(variant: Tensor) -> bool:
    """Whether a function of the pipeline reads a reference variable that it captures.

    Static optimizations make a pipeline anew from its graph, in which such a variable
    has no value: TensorFlow leaves them out then.
    """
    seen: set[Operation] = set()
    datasets = [variant._op]
    captured: list[Tensor] = []
    while datasets:
        op = datasets.pop()
        if op in seen:
            continue
        seen.add(op)
        captured += _captured(op)
        datasets += [t._op for t in op._inputs if t._dtype is dtypes.variant]
    return _reach_references(captured)


def _captured(op: Operation) -> Iterator[Tensor]:
    """The inputs of a dataset's op that its functions capture."""
    at = 0
    for arg in op._op_def.inputs:
        count = len(arg_types(arg, op._attrs))
        if "other_arg" in arg.name:
            yield from op._inputs[at : at + count]
        at += count


def _reach_references(tensors: list[Tensor]) -> bool:
    """Whether one of the tensors, or what they are computed of, is a reference."""
    seen: set[Tensor] = set()
    while tensors:
        tensor = tensors.pop()
        if tensor._dtype._is_ref_dtype:
            return True
        if tensor not in seen:
            seen.add(tensor)
            tensors += tensor._op._inputs
    return False


def _measured(variant: Tensor, options: Options, structure: dict[str, Any]) -> Tensor:
    stats = options.experimental_stats
    if stats.aggregator is None:
        return variant
    return measured(
        variant, stats.aggregator, stats.prefix, stats.counter_prefix, structure
    )


def measured(
    variant: Tensor,
    aggregator: StatsAggregatorV1,
    prefix: Any,
    counter_prefix: Any,
    structure: dict[str, Any],
) -> Tensor:
    """A dataset's variant tensor, whose statistics go to an aggregator."""
    string = dtypes.string
    made: Tensor = apply_op(
        "SetStatsAggregatorDataset",
        input_dataset=variant,
        stats_aggregator=aggregator._resource,
        tag=transformations.tensor(prefix, string, "tag"),
        counter_prefix=transformations.tensor(counter_prefix, string, "counter_prefix"),
        **structure,
    )
    return made
