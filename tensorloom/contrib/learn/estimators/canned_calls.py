"""What classifiers and regressors predict unless told otherwise, and export."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.layers.columns.parsing import (
    parse_feature_columns_from_examples,
)
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.keys import PredictionKey
from tensorloom.contrib.learn.metric_specs import MetricSpec
from tensorloom.contrib.learn.utils import export as exports


class CannedModel(Estimator):
    """A model with columns."""

    _feature_columns: Any

    def _one_output(
        self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        found = super().predict(
            x=x,
            input_fn=input_fn,
            batch_size=batch_size,
            outputs=[key],
            as_iterable=as_iterable,
        )
        return (one[key] for one in found) if as_iterable else found[key]

    def _exported(self, signature_fn: Any, input_fn: Any, **options: Any) -> Any:
        def parsed(unused_estimator: Any, examples: Any) -> Any:
            return parse_feature_columns_from_examples(examples, self._feature_columns)

        return Estimator.export(
            self, input_fn=input_fn or parsed, signature_fn=signature_fn, **options
        )


class Classifier(CannedModel):
    """Predicts classes."""

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes, or the outputs that are named; see `BaseEstimator.predict`."""
        if not outputs:
            return self.predict_classes(
                x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable
            )
        return super().predict(
            x=x,
            input_fn=input_fn,
            batch_size=batch_size,
            outputs=outputs,
            as_iterable=as_iterable,
        )

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example.

        Args:
          x: features as arrays; or `input_fn`.
          input_fn: gives features as tensors.
          batch_size: of `x`.
          as_iterable: whether a generator comes, or an array.
        """
        key = PredictionKey.CLASSES
        return self._one_output(key, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of all classes, for each example.

        Args:
          x: features as arrays; or `input_fn`.
          input_fn: gives features as tensors.
          batch_size: of `x`.
          as_iterable: whether a generator comes, or an array.
        """
        key = PredictionKey.PROBABILITIES
        return self._one_output(key, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Exports probabilities; see `BaseEstimator.export`."""
        return self._exported(
            signature_fn or exports.classification_signature_fn_with_prob,
            input_fn,
            export_dir=export_dir,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            prediction_key=PredictionKey.PROBABILITIES,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class Regressor(CannedModel):
    """Predicts numbers."""

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The numbers, or the outputs that are named; see `BaseEstimator.predict`."""
        if not outputs:
            return self.predict_scores(
                x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable
            )
        return super().predict(
            x=x,
            input_fn=input_fn,
            batch_size=batch_size,
            outputs=outputs,
            as_iterable=as_iterable,
        )

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The numbers of each example.

        Args:
          x: features as arrays; or `input_fn`.
          input_fn: gives features as tensors.
          batch_size: of `x`.
          as_iterable: whether a generator comes, or an array.
        """
        key = PredictionKey.SCORES
        return self._one_output(key, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Exports the numbers; see `BaseEstimator.export`."""
        return self._exported(
            signature_fn or exports.regression_signature_fn,
            input_fn,
            export_dir=export_dir,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            prediction_key=PredictionKey.SCORES,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class DeepRegressor(Regressor):
    """A regressor whose metrics without keys are of the numbers that it predicts."""

    def evaluate(  # type: ignore[override]
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        """Evaluates a checkpoint; see `BaseEstimator.evaluate`."""
        keyed = {
            key
            if isinstance(metric, MetricSpec) or isinstance(key, tuple)
            else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()
        }
        return super().evaluate(
            x=x,
            y=y,
            input_fn=input_fn,
            feed_fn=feed_fn,
            batch_size=batch_size,
            steps=steps,
            metrics=keyed,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
        )
