"""An Estimator's model, built for each replica of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.distribution.thread_modes import get_loss_reduction
from tensorloom.client.variables.variable_lists import (
    global_variables,
    report_uninitialized_variables,
)
from tensorloom.estimator.input_results import (
    DatasetInitializerHook,
    parse_iterator_result,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_default_graph,
)
from tensorloom.framework.types import nest
from tensorloom.metrics.averages import mean
from tensorloom.ops.array import array_ops
from tensorloom.train import training_util
from tensorloom.train.sessions.scaffold import Scaffold

LOSS = "loss"


def training_spec(
    estimator: Any, strategy: Any, input_fn: Callable[..., Any]
) -> tuple[EstimatorSpec, list[Any], Any]:
    """What all replicas train by, the hooks of the input, and the global step.

    Args:
      estimator: whose model it is. The strategy's scope is open.
      input_fn: makes the batches of the replicas.
    """
    elements, input_hooks = _next_elements(
        estimator, strategy, input_fn, ModeKeys.TRAIN
    )
    global_step = estimator._create_and_assert_global_step(get_default_graph())
    add_to_collection(
        training_util._GLOBAL_STEP_READ_KEY, strategy.extended.read_var(global_step)
    )
    grouped = _for_each_replica(estimator, strategy, elements(), ModeKeys.TRAIN)
    loss = strategy.reduce(_loss_reduction(), grouped.loss, axis=None)
    spec = EstimatorSpec(
        mode=grouped.mode,
        loss=loss,
        train_op=strategy.group(grouped.train_op),
        scaffold=_one_scaffold(grouped.scaffold, strategy),
        training_hooks=_of_first(strategy, grouped.training_hooks),
        training_chief_hooks=_of_first(strategy, grouped.training_chief_hooks),
    )
    return spec, input_hooks, global_step


def evaluation_parts(
    estimator: Any, strategy: Any, input_fn: Callable[..., Any]
) -> tuple[Any, list[Any], list[Any], dict[str, Any]]:
    """The scaffold, hooks of the model and of the input, and the metrics by name.

    Args:
      estimator: whose model it is. The strategy's scope is open.
      input_fn: makes the batches of the replicas.
    """
    elements, input_hooks = _next_elements(estimator, strategy, input_fn, ModeKeys.EVAL)
    grouped = _for_each_replica(estimator, strategy, elements(), ModeKeys.EVAL)
    check_metric_names(grouped.eval_metric_ops)
    loss = strategy.extended.call_for_each_replica(mean, args=(grouped.loss,))
    metrics = {
        name: (value, strategy.group(update))
        for name, (value, update) in [*grouped.eval_metric_ops.items(), (LOSS, loss)]
    }
    scaffold = _one_scaffold(grouped.scaffold, strategy)
    hooks = _of_first(strategy, grouped.evaluation_hooks)
    return scaffold, hooks, input_hooks, metrics


def _next_elements(
    estimator: Any, strategy: Any, input_fn: Callable[..., Any], mode: str
) -> tuple[Callable[[], Any], list[Any]]:
    iterator = strategy.make_input_fn_iterator(
        lambda context: estimator._call_input_fn(input_fn, mode, context)
    )
    return iterator.get_next, [DatasetInitializerHook(iterator)]


def _for_each_replica(estimator: Any, strategy: Any, elements: Any, mode: str) -> Any:
    """The specs of all replicas, in one."""
    features, labels = parse_iterator_result(elements)
    return strategy.extended.call_for_each_replica(
        estimator._call_model_fn, args=(features, labels, mode, estimator.config)
    )


def _loss_reduction() -> ReduceOp:
    """How the loss is reported: a sum, unless the optimizer scaled it."""
    if getattr(get_default_graph(), "_is_loss_scaled_by_optimizer", False):
        return get_loss_reduction()
    return ReduceOp.SUM


def _of_first(strategy: Any, hooks: Any) -> list[Any]:
    return [strategy.experimental_local_results(hook)[0] for hook in hooks]


def _one_scaffold(grouped: Any, strategy: Any) -> Scaffold:
    """A scaffold that does what those of all replicas do."""
    scaffolds = strategy.experimental_local_results(grouped)

    def given(name: str) -> list[Any]:
        found = (getattr(scaffold, name) for scaffold in scaffolds)
        return [value for value in found if value is not None]

    def all_of(name: str) -> Any:
        return strategy.group(given(name)) if given(name) else None

    def for_each(function: Callable[[Any], Any]) -> Any:
        value = strategy.extended.call_for_each_replica(function, args=(grouped,))
        return None if value is None else _joined(strategy, value)

    feeds, init_fns, savers = (
        given(name) for name in ("init_feed_dict", "_user_init_fn", "saver")
    )
    return Scaffold(
        init_op=all_of("init_op"),
        init_feed_dict=feeds[0] if feeds else None,
        init_fn=init_fns[0] if init_fns else None,
        ready_op=for_each(lambda scaffold: scaffold.ready_op),
        ready_for_local_init_op=for_each(_ready_for_local_init_op),
        local_init_op=all_of("local_init_op"),
        summary_op=all_of("summary_op"),
        saver=savers[0] if savers else None,
    )


def _joined(strategy: Any, value: Any) -> Any:
    """The names that several replicas report, in one vector."""
    parts = nest.flatten(strategy.experimental_local_results(value))
    return parts[0] if len(parts) == 1 else array_ops.concat(parts, 0)


def _ready_for_local_init_op(scaffold: Any) -> Any:
    if scaffold.ready_for_local_init_op is not None:
        return scaffold.ready_for_local_init_op
    return Scaffold.get_or_default(
        "ready_for_local_init_op",
        GraphKeys.READY_FOR_LOCAL_INIT_OP,
        lambda: report_uninitialized_variables(global_variables()),
    )


def check_metric_names(metrics: dict[str, Any]) -> None:
    """Raises ValueError if a metric has a name that the Estimator needs itself."""
    for name in (LOSS, GraphKeys.GLOBAL_STEP):
        if name in metrics:
            raise ValueError(
                f'Metric with name "{name}" is not allowed, because Estimator already '
                "defines a default metric with the same name."
            )
