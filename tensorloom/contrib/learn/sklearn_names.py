"""What scikit-learn's interface asks of a model, and a few of its functions.

Where the variable `TENSORFLOW_SKLEARN` is set, these are scikit-learn's own.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tensorloom.framework.export import export


class _BaseEstimator:
    """Parameters of a model: its attributes that do not begin with `_`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names.

        Args:
          deep: those of models in it as well, as `model__parameter`.
        """
        found: dict[str, Any] = {}
        for key, value in vars(self).items():
            if key.startswith("_") or callable(value):
                continue
            if deep and hasattr(value, "get_params"):
                inner = value.get_params()
                found.update({f"{key}__{name}": one for name, one in inner.items()})
            found[key] = value
        return found

    def set_params(self, **params: Any) -> Any:
        """Sets parameters, those of models in it as `model__parameter`.

        Raises:
          ValueError: it has no such parameter.
        """
        known = self.get_params(deep=True)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name} for estimator {type(self).__name__}. "
                    "Check the list of available parameters with "
                    "`estimator.get_params().keys()`."
                )
            if inner:
                known[name].set_params(**{inner: value})
            else:
                setattr(self, key, value)
        return self

    def __repr__(self) -> str:
        """The class and its parameters."""
        params = self.get_params(deep=False).items()
        return (
            f"{type(self).__name__}"
            f"({', '.join(f'{key}={value}' for key, value in params)})"
        )


class _ClassifierMixin:
    """Marks classifiers."""


class _RegressorMixin:
    """Marks regressors."""


class _TransformerMixin:
    """Marks transformers."""


@export("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """A model is used before it was trained."""


def _accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """Which part of the predictions is right."""
    return np.average(y_true == y_pred)


def _mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squared differences."""
    if len(y_true.shape) > 1:
        y_true = np.squeeze(y_true)
    if len(y_pred.shape) > 1:
        y_pred = np.squeeze(y_pred)
    return np.average((y_true - y_pred) ** 2)


def _train_test_split(*args: Any, **options: Any) -> tuple[Any, ...]:
    """Each array in two random parts: `train_size` of its rows, three quarters if
    nothing is said, and the rest.
    """
    test_size = options.pop("test_size", None)
    train_size = options.pop("train_size", None)
    random_state = options.pop("random_state", None)
    if train_size is None:
        train_size = 0.75 if test_size is None else 1 - test_size
    rows = args[0].shape[0]
    np.random.seed(random_state)
    order = np.random.permutation(rows)
    count = int(train_size * rows)
    parts = (order[:count], order[count:])
    return tuple(array.take(part, axis=0) for array in args for part in parts)


BaseEstimator: Any = _BaseEstimator
ClassifierMixin: Any = _ClassifierMixin
RegressorMixin: Any = _RegressorMixin
TransformerMixin: Any = _TransformerMixin
accuracy_score: Any = _accuracy_score
log_loss: Any = None
mean_squared_error: Any = _mean_squared_error
train_test_split: Any = _train_test_split

if os.environ.get("TENSORFLOW_SKLEARN"):
    from sklearn import base, metrics, model_selection

    BaseEstimator = base.BaseEstimator
    ClassifierMixin = base.ClassifierMixin
    RegressorMixin = base.RegressorMixin
    TransformerMixin = base.TransformerMixin
    accuracy_score = metrics.accuracy_score
    log_loss = metrics.log_loss
    mean_squared_error = metrics.mean_squared_error
    train_test_split = model_selection.train_test_split
