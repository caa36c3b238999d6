"""`tf.contrib.learn.SKCompat`: a model with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.learn.estimators.input_arguments import get_input_fn
from tensorloom.contrib.learn.sklearn_names import BaseEstimator
from tensorloom.framework.export import export
from tensorloom.train.hooks.feeding import FeedFnHook


@export("contrib.learn.SKCompat")
class SKCompat(BaseEstimator):  # type: ignore[misc]
    """Trains, scores and predicts with arrays.

    Args:
      estimator: a model of `tf.contrib.learn`.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> SKCompat:
        """Trains with arrays, in random order and without end unless steps are given.

        Args:
          x: features: an array, an iterator of examples, or a dict of arrays.
          y: labels.
          batch_size: examples in a batch.
          steps: how many steps more.
          max_steps: or up to which step.
          monitors: monitors, or hooks of the session.
        """
        input_fn, feed_fn = get_input_fn(
            x,
            y,
            input_fn=None,
            feed_fn=None,
            batch_size=batch_size,
            shuffle=True,
            epochs=None,
        )
        hooks = [FeedFnHook(feed_fn)] if feed_fn else []
        self._estimator.fit(
            input_fn=input_fn,
            steps=steps,
            max_steps=max_steps,
            monitors=hooks + list(monitors or []),
        )
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
    ) -> Any:
        """Evaluates with arrays; gives the metrics by their names.

        Raises:
          ValueError: `metrics` is no dict.
        """
        input_fn, feed_fn = get_input_fn(
            x,
            y,
            input_fn=None,
            feed_fn=None,
            batch_size=batch_size,
            shuffle=False,
            epochs=1,
        )
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        results, global_step = self._estimator._evaluate_model(
            input_fn=input_fn,
            feed_fn=feed_fn,
            steps=steps,
            metrics=metrics,
            name=name,
        )
        if results is not None:
            results.update({"global_step": global_step})
        return results

    def predict(self, x: Any, batch_size: int | None = 128, outputs: Any = None) -> Any:
        """The predictions of arrays: an array, or a dict of arrays.

        Args:
          x: features.
          batch_size: examples in a batch.
          outputs: keys of the predictions that are wanted; all when None.
        """
        input_fn, feed_fn = get_input_fn(
            x,
            None,
            input_fn=None,
            feed_fn=None,
            batch_size=batch_size,
            shuffle=False,
            epochs=1,
        )
        batches = list(
            self._estimator._infer_model(
                input_fn=input_fn,
                feed_fn=feed_fn,
                outputs=outputs,
                as_iterable=True,
                iterate_batches=True,
            )
        )
        if not isinstance(batches[0], dict):
            return np.concatenate(batches, axis=0)
        return {
            key: np.concatenate([batch[key] for batch in batches], axis=0)
            for key in batches[0]
        }
