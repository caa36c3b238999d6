"""`tf.contrib.learn.MetricSpec`: which metric of which label and prediction."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.framework.export import export

# What metrics call their arguments; the first is what TensorFlow's call it.
_LABELS: Final = ("labels", "label", "targets", "target")
_PREDICTIONS: Final = ("predictions", "prediction", "logits", "logit")
_WEIGHTS: Final = ("weights", "weight")


def _arguments(function: Any) -> tuple[str, ...]:
    """The arguments of a metric, without those that a partial binds by name."""
    if isinstance(function, functools.partial):
        bound = set(function.keywords)
        return tuple(name for name in _arguments(function.func) if name not in bound)
    if hasattr(function, "func") and hasattr(function, "keywords"):
        bound = set(function.keywords)
        return tuple(name for name in _arguments(function.func) if name not in bound)
    return tuple(inspect.getfullargspec(inspect.unwrap(function)).args)


def _name(function: Any) -> str:
    inner = getattr(function, "func", None)
    return str(getattr(function, "__name__", getattr(inner, "__name__", function)))


def _matching(
    name: str,
    arguments: tuple[str, ...],
    candidates: tuple[str, ...],
    required: bool = False,
) -> str | None:
    """The one argument that is called like that, if there is one."""
    found = [candidate for candidate in candidates if candidate in arguments]
    if len(found) > 1:
        raise ValueError(
            f"Ambiguous arguments {set(found)}, must provide only one of "
            f"{set(candidates)}."
        )
    if not found:
        if required:
            raise ValueError(f"{set(candidates)} missing from {name}({arguments}).")
        return None
    if found[0] != candidates[0]:
        program_log.warning(
            "Canonical arg %s missing from %s(%s), using %s.",
            candidates[0],
            name,
            arguments,
            found[0],
        )
    return found[0]


def _adapted(
    function: Callable[..., Any], name: str, label_needed: bool, weight_needed: bool
) -> Callable[..., Any]:
    """The metric as a function of `labels`, `predictions` and `weights`."""
    arguments = _arguments(function)
    labels_name = _matching(name, arguments, _LABELS, label_needed)
    predictions_name = _matching(name, arguments, _PREDICTIONS)
    weights_name = _matching(name, arguments, _WEIGHTS, weight_needed)

    def metric_fn(
        _sentinel: Any = None,
        labels: Any = None,
        predictions: Any = None,
        weights: Any = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError(
                "`metric_fn` requires named args: `labels`, `predictions`, and "
                "optionally `weights`."
            )
        by_place: list[Any] = []
        by_name: dict[str, Any] = {}
        if labels_name and not predictions_name and labels_name == arguments[0]:
            by_place = [labels, predictions]
        else:
            if predictions_name:
                by_name[predictions_name] = predictions
            else:
                by_place = [predictions]
            if labels_name:
                by_name[labels_name] = labels
        if weights is not None:
            assert weights_name is not None, f"{name} takes no weights"
            by_name[weights_name] = weights
        return function(*by_place, **by_name)

    return metric_fn


def _chosen(name: str, value: Any, key: str | None) -> Any:
    """What a dict has under the key, or its only value, or what is no dict."""
    if key:
        if not isinstance(value, dict):
            raise ValueError(
                f"MetricSpec with {name}_key specified requires {name}s dict, got "
                f"{value}.\nYou must not provide a {name}_key if you only have a "
                f"single Tensor as {name}s."
            )
        if key not in value:
            raise KeyError(f"Key '{key}' missing from {value.keys()}.")
        return value[key]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(
            f"MetricSpec without specified {name}_key requires {name}s tensor or "
            f"single element dict, got {value}"
        )
    return next(iter(value.values()))


@export("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric, and which of the model's tensors it is of.

    Args:
      metric_fn: the metric. It finds its arguments by their names: `labels`, `label`,
        `targets` or `target`; `predictions`, `prediction`, `logits` or `logit`;
        `weights` or `weight`. Otherwise predictions are its first one, and it takes no
        labels.
      prediction_key: the key of the prediction; None where there is only one.
      label_key: the key of the label; None where there is only one.
      weight_key: the key of the feature that has the weights; None for none.

    Raises:
      ValueError: the metric takes no labels or weights although a key is given, or has
        several arguments of such names.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._metric_fn_name = _name(metric_fn)
        self._metric_fn = _adapted(
            metric_fn,
            self._metric_fn_name,
            label_needed=label_key is not None,
            weight_needed=weight_key is not None,
        )
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self) -> str | None:
        """The key of the prediction."""
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        """The key of the label."""
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        """The key of the feature that has the weights."""
        return self._weight_key

    @property
    def metric_fn(self) -> Callable[..., Any]:
        """The metric by `labels`, `predictions` and `weights`, given by name."""
        return self._metric_fn

    def __str__(self) -> str:
        """The metric and its keys."""
        return (
            f"MetricSpec(metric_fn={self._metric_fn_name}, "
            f"prediction_key={self.prediction_key}, label_key={self.label_key}, "
            f"weight_key={self.weight_key})"
        )

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Adds the metric to the graph.

        Args:
          inputs: features by their keys; for the weights.
          labels: a tensor, or a dict of tensors.
          predictions: a tensor, or a dict of tensors.

        Returns:
          What the metric gives: (value, update) as a rule.

        Raises:
          ValueError: a key is given for what is no dict, or none for a dict of several.
          KeyError: a dict does not have the key.
        """
        prediction = _chosen("prediction", predictions, self.prediction_key)
        label = _chosen("label", labels, self.label_key)
        try:
            return self.metric_fn(
                labels=label,
                predictions=prediction,
                weights=inputs[self.weight_key] if self.weight_key else None,
            )
        except Exception as error:
            program_log.error("Could not create metric ops for %s, %s.", self, error)
            raise
