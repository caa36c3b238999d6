"""The specs of all towers in one: sums of losses, predictions one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.estimator.tower_optimizer import sum_on_device
from tensorloom.estimator.export.outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from tensorloom.framework.graph.graph import (
    GraphKeys,
    control_dependencies,
    device,
    get_collection,
)
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.array.stack import stack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.state.reference_variable import assign, assign_add

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec


def train_spec(
    tower_specs: Sequence[EstimatorSpec],
    train_op: Any,
    aggregation_device: str,
    aggregated_loss_name: str = "loss",
) -> EstimatorSpec:
    """What trains all towers.

    The rest is the last tower's: its optimizer is the one that applied gradients, which
    hooks may look for.
    """
    loss = _summed_loss(tower_specs, aggregation_device, aggregated_loss_name)
    return tower_specs[-1]._replace(train_op=train_op, loss=loss)


def eval_spec(
    tower_specs: Sequence[EstimatorSpec],
    aggregation_device: str,
    aggregated_loss_name: str = "loss",
) -> EstimatorSpec:
    """What evaluates all towers; the rest is the first tower's."""
    loss = _summed_loss(tower_specs, aggregation_device, aggregated_loss_name)
    updates = [
        update for spec in tower_specs for _, update in spec.eval_metric_ops.values()
    ]
    with control_dependencies(updates):
        reduced = reduce_metric_variables(len(tower_specs))
    metrics = {
        name: (value, reduced)
        for name, (value, _) in tower_specs[0].eval_metric_ops.items()
    }
    return tower_specs[0]._replace(loss=loss, eval_metric_ops=metrics)


def _summed_loss(tower_specs: Sequence[EstimatorSpec], where: str, name: str) -> Any:
    return sum_on_device([spec.loss for spec in tower_specs], where, name)


def reduce_metric_variables(number_of_towers: int) -> Any:
    """Adds the metrics' variables of all towers to the first one's.

    Those of the others are then zero, so that a second call adds nothing.

    Raises:
      ValueError: the towers have different metrics.
    """
    if number_of_towers == 1:
        return no_op(name="no_eval_metric_reduction")
    variables = get_collection(GraphKeys.METRIC_VARIABLES)
    a_tower, rest = divmod(len(variables), number_of_towers)
    if rest:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. "
            f"Expected {a_tower * number_of_towers} local variables, but got "
            f"{len(variables)} instead."
        )
    emptied = []
    for index, first in enumerate(variables[:a_tower]):
        others = variables[index + a_tower :: a_tower]
        added = assign_add(first, add_n(others))
        with control_dependencies([added]):
            emptied += [
                assign(other, zeros(shape_of(other), dtype=other.dtype))
                for other in others
            ]
    return group(*emptied)


def predict_spec(
    tower_specs: Sequence[EstimatorSpec], aggregation_device: str
) -> EstimatorSpec:
    """The predictions of all towers; the rest is the first tower's."""
    with device(aggregation_device):
        predictions = concat_tensor_dicts(*(spec.predictions for spec in tower_specs))
        outputs = _by_name(*(spec.export_outputs for spec in tower_specs))
        exports = {name: _one_output(found) for name, found in outputs.items()}
    return tower_specs[0]._replace(
        predictions=predictions,
        export_outputs={name: made for name, made in exports.items() if made},
    )


def _one_output(outputs: Sequence[Any]) -> Any:
    """One export output of those of all towers; None for a kind of a program's own."""
    first = outputs[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(concat_tensor_dicts(*(one.outputs for one in outputs)))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(concat([one.value for one in outputs], axis=0))
    if isinstance(first, ClassificationOutput):
        scores = classes = None
        if first.scores is not None:
            scores = concat([one.scores for one in outputs], axis=0)
        if first.classes is not None:
            # As in TensorFlow: a dimension of towers before that of examples.
            classes = stack([one.classes for one in outputs], axis=0)
        return ClassificationOutput(scores=scores, classes=classes)
    return None


def concat_tensor_dicts(*tensor_dicts: Mapping[str, Any]) -> dict[str, Any]:
    """By name: the tensors of all dicts, one after the other."""
    return {
        name: concat(tensors, axis=0, name=name)
        for name, tensors in _by_name(*tensor_dicts).items()
    }


def _by_name(*dicts: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in dicts:
        for name, value in (one or {}).items():
            found.setdefault(name, []).append(value)
    return found
