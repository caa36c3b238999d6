"""Labels, logits and weights of a head, checked: their shapes belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.estimator.function_arguments import argument_names, chosen_arguments
from tensorloom.feature_column.numeric import NumericColumn, numeric_column
from tensorloom.feature_column.sources import _LazyBuilder
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.debugging import check, check_rank
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import to_float
from tensorloom.ops.reductions.reductions import reduce_all, reduce_any


def check_labels(labels: Any, logits: Any, dimension: int) -> Any:
    """Dense labels of shape `[D0, ..., DN, dimension]`, as the logits have it.

    Labels with one dimension less get it.

    Raises:
      ValueError: there are none, they are sparse, or their last dimension differs.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting "
            "steps: Check that your data contains your label feature. Check that your "
            "input_fn properly parses and returns labels."
        )
    with name_scope(None, "labels", values=(labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of "
                "shape "
                f"[D0, D1, ..., DN, {dimension}], e.g. [batch_size, {dimension}]. "
                "Suggested Fix (1): Check the label feature in your data. Each example "
                f"must contain {dimension} value(s). If not, your choice of label was "
                "probably incorrect. Suggested Fix (2): In your input_fn, use "
                "tf.sparse_tensor_to_dense() to turn labels into a Tensor."
            )
        if _has_rank_below(labels, logits):
            labels = expand_dims(labels, -1)
        problem = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check "
            "your n_classes argument to the head and/or the shape of your label."
        )
        has_rank = check_rank.assert_rank_at_least(labels, 2, message=problem)
        with control_dependencies([has_rank]):
            if labels.shape.ndims is not None:
                found = labels.shape[-1].value
                if found is not None and found != dimension:
                    raise ValueError(
                        f"Mismatched label shape. Expected labels "
                        f"dimension={dimension}. "
                        f" Received {found}. Suggested Fix: If your classifier expects "
                        "one-hot encoding label, check your n_classes argument to the "
                        "estimator and/or the shape of your label. Otherwise, check "
                        "the "
                        "shape of your label."
                    )
            expected = concat([shape_of(logits)[:-1], [dimension]], axis=0)
            actual = shape_of(labels)
            fits = check.assert_equal(
                expected,
                actual,
                message=problem,
                data=["expected_labels_shape: ", expected, "labels_shape: ", actual],
            )
            with control_dependencies([fits]):
                return identity(labels, name=scope)


def check_logits(logits: Any, dimension: Any) -> Any:
    """Float logits of shape `[D0, ..., DN, dimension]`.

    Raises:
      ValueError: their last dimension is known to be another one.
    """
    problem = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "logits", values=(logits,)) as scope:
        logits = to_float(logits)
        actual = shape_of(logits)
        has_rank = check_rank.assert_rank_at_least(
            logits, 2, data=[actual], message=problem
        )
        with control_dependencies([has_rank]):
            static = logits.shape
            if static.ndims is not None and static[-1].value is not None:
                if isinstance(dimension, int) and static[-1].value != dimension:
                    raise ValueError(f"{problem}, got {static}.")
                return logits
            fits = check.assert_equal(
                dimension, actual[-1], data=[actual], message=problem
            )
            with control_dependencies([fits]):
                return identity(logits, name=scope)


def weights_of(
    features: Mapping[Any, Any],
    weight_column: Any,
    logits: Any,
    allow_per_logit_weights: bool = False,
) -> Any:
    """The weights of the examples, of shape `[D0, ..., DN, 1]`; 1.0 if there are none.

    Args:
      features: tensors by name; the weights are one of them.
      weight_column: its name, a numeric column, or None.
      logits: what the weights must fit.
      allow_per_logit_weights: weights may have the logits' shape, too.

    Raises:
      TypeError: the column is something else.
      ValueError: the weights are no numbers.
    """
    with name_scope(None, "weights", values=(*features.values(), logits)) as scope:
        if weight_column is None:
            return 1.0
        if isinstance(weight_column, str):
            weight_column = numeric_column(weight_column, shape=(1,))
        if not isinstance(weight_column, NumericColumn):
            raise TypeError(
                "Weight column must be either a string or NumericColumn. Given type: "
                f"{type(weight_column)}."
            )
        weights = weight_column._get_dense_tensor(_LazyBuilder(features))
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(
                "Weight column should be castable to float. Given dtype: "
                f"{weights.dtype}"
            )
        weights = to_float(weights, name="weights")
        return _fitting_weights(weights, logits, allow_per_logit_weights, scope)


def _fitting_weights(weights: Any, logits: Any, per_logit: bool, scope: str) -> Any:
    problem = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        problem = (
            "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or "
            "[D0, D1, ... DN, logits_dimension]"
        )
    actual = shape_of(weights, name="weights_shape")
    logits_shape = shape_of(logits, name="logits_shape")
    data = ["logits_shape: ", logits_shape, "weights_shape: ", actual]
    if _has_rank_below(weights, logits):
        fits = check.assert_equal(logits_shape[:-1], actual, message=problem, data=data)
        with control_dependencies([fits]):
            return expand_dims(weights, -1, name=scope)
    expected = concat([logits_shape[:-1], [1]], axis=0)
    if per_logit:
        is_one = reduce_any(
            [
                reduce_all(math_ops.equal(logits_shape, actual)),
                reduce_all(math_ops.equal(expected, actual)),
            ]
        )
        fits = Assert(condition=is_one, data=[problem, *data])
    else:
        fits = check.assert_equal(expected, actual, message=problem, data=data)
    with control_dependencies([fits]):
        return identity(weights, name=scope)


def _has_rank_below(tensor: Any, logits: Any) -> bool:
    """Whether a tensor lacks the last dimension of the logits."""
    rank, logits_rank = tensor.shape.ndims, logits.shape.ndims
    return rank is not None and logits_rank is not None and rank == logits_rank - 1


def check_label_range(labels: Any, n_classes: Any, message: str | None = None) -> Any:
    """Labels that are in `[0, n_classes)` when they are used."""
    with name_scope(None, "assert_range", values=(labels,)):
        last = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        below = check.assert_less_equal(
            labels, last, message=message or "Labels must be <= n_classes - 1"
        )
        above = check.assert_non_negative(
            labels, message=message or "Labels must be >= 0"
        )
        with control_dependencies((below, above)):
            return identity(labels)


def check_n_classes(n_classes: Any) -> Any:
    """The number of classes, more than two.

    Raises:
      ValueError: there are fewer, or none is given.
    """
    if n_classes is None:
        raise ValueError("n_classes cannot be None")
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    check.assert_greater(
        convert_to_tensor(n_classes), 2, message="n_classes must be greater than 2"
    )
    return n_classes


def check_vocabulary(label_vocabulary: Any, error: type[Exception]) -> None:
    """Raises the error if names of labels are no list."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
        raise error(
            "label_vocabulary should be a list or a tuple. Given type: "
            f"{type(label_vocabulary)}"
        )


def check_thresholds(thresholds: Iterable[float] | None) -> tuple[float, ...]:
    """Thresholds of probabilities, in (0, 1).

    Raises:
      ValueError: one is not.
    """
    thresholds = tuple(thresholds or ())
    if not all(0.0 < threshold < 1.0 for threshold in thresholds):
        raise ValueError(f"thresholds not in (0, 1): {(thresholds,)}.")
    return thresholds


def check_loss_fn(loss_fn: Callable[..., Any] | None, *extra: str) -> None:
    """Checks the arguments of a program's loss function.

    Raises:
      ValueError: `labels` or `logits` is missing, or another one is unknown.
    """
    if not loss_fn:
        return
    names = argument_names(loss_fn)
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(
                f"loss_fn must contain argument: {required}. Given arguments: {names}"
            )
    unknown = sorted(set(names) - {"labels", "logits", "features", *extra})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")


def call_loss_fn(
    loss_fn: Callable[..., Any],
    labels: Any,
    logits: Any,
    features: Mapping[Any, Any],
    dimension: int = 1,
) -> Any:
    """What a program's loss function gives, of shape `[D0, ..., DN, dimension]`."""
    options = chosen_arguments(loss_fn, {"features": features})
    values = [labels, logits, *features.values()]
    with name_scope(None, "call_loss_fn", values=values):
        loss = loss_fn(labels=labels, logits=logits, **options)
        logits_shape = shape_of(logits, name="logits_shape")
        expected = concat(
            [logits_shape[:-1], [dimension]], axis=0, name="expected_loss_shape"
        )
        actual = shape_of(loss, name="loss_shape")
        fits = Assert(
            reduce_all(math_ops.equal(actual, expected)),
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. ",
                "logits_shape: ",
                logits_shape,
                "loss_shape: ",
                actual,
            ],
            name="check_loss_shape",
        )
        with control_dependencies([fits]):
            return identity(loss)
