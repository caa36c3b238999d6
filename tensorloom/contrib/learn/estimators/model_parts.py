"""What training, evaluation and prediction of a model share."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.contrib.learn import tensor_signatures as signatures
from tensorloom.contrib.learn.sklearn_names import NotFittedError
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint


class ModelParts(abc.ABC):
    """A model's directory and settings, and what its subclasses say."""

    _config: Any
    _session_config: Any
    _model_dir: Any
    _device_fn: Any
    _graph: Any
    # The signatures of what the model was trained with.
    _features_info: Any
    _labels_info: Any

    def _latest_checkpoint(self) -> str:
        path = latest_checkpoint(self._model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    # --- what subclasses say ----------------------------------------------------------

    @abc.abstractmethod
    def _get_train_ops(self, features: Any, labels: Any) -> Any:
        """The `ModelFnOps` for training."""

    @abc.abstractmethod
    def _get_predict_ops(self, features: Any) -> Any:
        """The `ModelFnOps` for prediction."""

    @abc.abstractmethod
    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> Any:
        """The `ModelFnOps` for evaluation."""

    # --- inputs that are known --------------------------------------------------------

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        """The features that the model was trained with, parsed out of Examples."""
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return signatures.create_example_parser_from_signatures(
            self._features_info, examples_batch
        )

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Raises ValueError if they do not fit what came before."""
        self._features_info = _known_signatures(
            "Features", features, self._features_info
        )
        if labels is not None:
            self._labels_info = _known_signatures("Labels", labels, self._labels_info)


def _known_signatures(what: str, tensors: Any, known: Any) -> Any:
    if known is None:
        return signatures.create_signatures(tensors)
    if not signatures.tensors_compatible(tensors, known):
        raise ValueError(
            f"{what} are incompatible with given information. Given "
            f"{what.lower()}: {tensors}, required signatures: {known}."
        )
    return known
