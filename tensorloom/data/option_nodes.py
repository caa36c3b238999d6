"""The nodes that a pipeline's options stand for in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.data import transformations
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.data.options import Options, StatsAggregatorV1
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
    if chosen:
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
