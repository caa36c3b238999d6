"""How a model predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorloom.contrib.learn.estimators.input_arguments import (
    get_input_fn,
    verify_input_args,
)
from tensorloom.contrib.learn.estimators.model_parts import ModelParts
from tensorloom.contrib.learn.estimators.sk_compat import SKCompat
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
)
from tensorloom.framework.runtime import random_seed
from tensorloom.framework.types.sparse_tensor import SparseTensorValue
from tensorloom.train import training_util
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession


class PredictionPart(ModelParts):
    """Prediction: what the latest checkpoint says of examples."""

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions of the latest checkpoint, as a generator of examples.

        Args:
          x: features as arrays; or `input_fn`.
          input_fn: gives features as tensors.
          batch_size: of `x`.
          outputs: keys of the predictions that are wanted; all when None.
          as_iterable: False: all predictions of `x`, or the first batch of `input_fn`.
          iterate_batches: whether batches come in place of examples.

        Raises:
          ValueError: both inputs are given, or none, or there is no such output.
          NotFittedError: there is no checkpoint.
        """
        verify_input_args(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size)
        input_fn, feed_fn = get_input_fn(x, None, input_fn, None, batch_size)
        return self._infer_model(
            input_fn=input_fn,
            feed_fn=feed_fn,
            outputs=outputs,
            as_iterable=as_iterable,
            iterate_batches=iterate_batches,
        )

    def _infer_model(
        self,
        input_fn: Any,
        feed_fn: Any = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        checkpoint_path = self._latest_checkpoint()
        with Graph().as_default() as graph:
            random_seed.set_random_seed(self._config.tf_random_seed)
            training_util.create_global_step(graph)
            features = self._get_features_from_input_fn(input_fn)
            model = self._get_predict_ops(features)
            predictions = _chosen(model.predictions, outputs)
            session = MonitoredSession(
                session_creator=ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint_path,
                    scaffold=model.scaffold,
                    config=self._session_config,
                )
            )
        if as_iterable:
            return self._predict_generator(
                session, predictions, feed_fn, iterate_batches
            )
        with session:
            if not session.should_stop():
                return session.run(predictions, feed_fn() if feed_fn else None)
        return None

    def _predict_generator(
        self, session: Any, predictions: Any, feed_fn: Any, iterate_batches: bool
    ) -> Iterator[Any]:
        with session:
            while not session.should_stop():
                batch = session.run(predictions, feed_fn() if feed_fn else None)
                if iterate_batches:
                    yield batch
                elif not isinstance(predictions, dict):
                    yield from batch
                else:
                    yield from _examples(batch)
                if self._is_input_constant(feed_fn, session.graph):
                    return

    def _is_input_constant(self, feed_fn: Any, graph: Graph) -> bool:
        """Whether each step would predict the same again."""
        return feed_fn is None and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)

    def _get_features_from_input_fn(self, input_fn: Any) -> Any:
        result = input_fn()
        return result[0] if isinstance(result, list | tuple) else result


def _chosen(predictions: Any, outputs: Any) -> Any:
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(
            "outputs argument is not valid in case of non-dict predictions."
        )
    chosen = {key: value for key, value in predictions.items() if key in outputs}
    if not chosen:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided "
            f"{outputs}."
        )
    return chosen


def _examples(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    first = next(iter(batch.values()))
    sparse = isinstance(first, SparseTensorValue)
    count = first.dense_shape[0] if sparse else first.shape[0]
    for index in range(count):
        yield {key: value[index] for key, value in batch.items()}
