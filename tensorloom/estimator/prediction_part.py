"""How an Estimator predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.checkpoints import latest_of
from tensorloom.estimator.estimator_base import EstimatorBase, check_hooks
from tensorloom.estimator.input_results import comes_to_an_end, parse_input_fn_result
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.graph.graph import Graph
from tensorloom.framework.runtime import random_seed
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession


class PredictionPart(EstimatorBase):
    """Prediction: what the model gives for each example."""

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions until the input ends.

        Nothing happens before the first one is asked for.

        Args:
          input_fn: gives features; labels are not looked at.
          predict_keys: a key, or keys, of the predictions that are wanted; all when
            None.
          hooks: hooks of the session.
          checkpoint_path: the checkpoint; the latest one when None; variables are
            initialized if there is none.
          yield_single_examples: an example at a time, not a batch.

        Raises:
          ValueError: predictions have different numbers of examples, or there are none
            of those keys.
        """
        all_hooks = check_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = latest_of(self._model_dir, "predict")
        with Graph().as_default() as graph:
            random_seed.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(
                input_fn, ModeKeys.PREDICT
            )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            # After the model's function: its variables are there by now.
            self._maybe_warm_start(checkpoint_path)
            predictions = self._extract_keys(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            all_hooks = [*input_hooks, *all_hooks, *spec.prediction_hooks]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if not yield_single_examples:
                        yield batch
                    elif isinstance(predictions, dict):
                        for row in range(self._extract_batch_length(batch)):
                            yield {key: value[row] for key, value in batch.items()}
                    else:
                        yield from batch

    def _get_features_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, list[Any]]:
        features, _, hooks = parse_input_fn_result(self._call_input_fn(input_fn, mode))
        self._validate_features_in_predict_input(features)
        return features, hooks

    def _validate_features_in_predict_input(self, features: Any) -> None:
        if not comes_to_an_end(features):
            program_log.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. "
                "That means predict yields forever. This is probably a mistake."
            )

    def _extract_keys(self, predictions: Any, predict_keys: Any) -> Any:
        """The predictions of those keys.

        Raises:
          ValueError: there are none, or the predictions have no keys.
        """
        if not predict_keys:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError(
                "predict_keys argument is not valid in case of non-dict predictions."
            )
        chosen = {key: predictions[key] for key in predictions if key in predict_keys}
        if not chosen:
            raise ValueError(
                f"Expected to run at least one output from {predictions.keys()}, "
                f"provided {predict_keys}."
            )
        return chosen

    def _extract_batch_length(self, preds_evaluated: Mapping[str, Any]) -> int:
        """How many examples the predictions have.

        Raises:
          ValueError: not all the same.
        """
        lengths = {key: value.shape[0] for key, value in preds_evaluated.items()}
        length = next(iter(lengths.values()))
        for key, other in lengths.items():
            if other != length:
                raise ValueError(
                    f"Batch length of predictions should be same. {key} has different "
                    f"batch length than others. Found {lengths}."
                )
        return int(length)
