"""Predictors: a model in a session of its own, called with arrays by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.session.session import Session
from tensorloom.contrib.learn.estimators.model_fn_estimator import (
    Estimator as LearnEstimator,
)
from tensorloom.contrib.learn.utils import signature_choice
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph
from tensorloom.saved_model import constants, loader
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession


class Predictor:
    """A function of arrays by name, which gives arrays by name."""

    def __init__(
        self, graph: Any, session: Any, inputs: Mapping[str, str], outputs: Any
    ) -> None:
        """Makes a predictor.

        Args:
          graph: the model's graph.
          session: a session in it; the variables have their values.
          inputs: the names of the tensors that are fed, by the names of the arrays.
          outputs: the names of the tensors that are computed, by those of the results.

        Raises:
          KeyError: the graph has no such tensor.
        """
        self._graph, self._session = graph, session
        self._feed_tensors = _tensors(graph, inputs)
        self._fetch_tensors = _tensors(graph, outputs)

    @property
    def graph(self) -> Any:
        """The model's graph."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that it runs in."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """The tensors that are fed, by name."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """The tensors that are computed, by name."""
        return self._fetch_tensors

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and "
            f"fetch_tensors {self._fetch_tensors}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The results for some arrays.

        Args:
          input_dict: arrays by the names of `feed_tensors`; None: that one is not fed.

        Raises:
          ValueError: a name is not one of them.
        """
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: "
                f"{set(self._feed_tensors)}"
            )
        feed = {
            self._feed_tensors[key]: value
            for key, value in input_dict.items()
            if value is not None
        }
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feed)  # type: ignore[no-any-return]


class SavedModelPredictor(Predictor):
    """A predictor that runs a SavedModel."""

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: str | None = None,
        signature_def: Any = None,
        input_names: Mapping[str, str] | None = None,
        output_names: Mapping[str, str] | None = None,
        tags: str | None = None,
        graph: Any = None,
        config: Any = None,
    ) -> None:
        """Loads the model; see `from_saved_model`."""
        if (input_names is None) != (output_names is None):
            raise ValueError(
                "input_names and output_names must both be specified or both be "
                "unspecified."
            )
        given = (signature_def_key, signature_def, input_names)
        if sum(value is not None for value in given) > 1:
            raise ValueError(
                "You must specify at most one of signature_def_key OR signature_def OR"
                "(input_names AND output_names)."
            )
        graph = graph or Graph()
        with graph.as_default():
            session = Session(config=config)
            wanted = [tag.strip() for tag in (tags or "serve").split(",")]
            meta_graph_def = loader.load(session, wanted, export_dir)
        if input_names is None:
            if signature_def is None:
                signature_def = _signature(meta_graph_def, signature_def_key)
            input_names = _names(signature_def.inputs)
            output_names = _names(signature_def.outputs)
        super().__init__(graph, session, input_names, output_names)


class CoreEstimatorPredictor(Predictor):
    """A predictor that runs the model of a `tf.estimator.Estimator`."""

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Callable[[], Any],
        output_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ) -> None:
        """Makes the model; see `from_estimator`."""
        key = output_key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        graph = graph or Graph()
        with graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(
                receiver.features, None, ModeKeys.PREDICT, estimator.config
            )
            output = spec.export_outputs.get(key)
            if output is None:
                raise KeyError(
                    f"output_key must be one of {list(spec.export_outputs)}; got {key}"
                )
            signature = output.as_signature_def(receiver.receiver_tensors)
            creator = ChiefSessionCreator(
                config=config, checkpoint_dir=estimator.model_dir
            )
            session = MonitoredSession(session_creator=creator)
        inputs, outputs = _names(signature.inputs), _names(signature.outputs)
        super().__init__(graph, session, inputs, outputs)


class ContribEstimatorPredictor(Predictor):
    """A predictor that runs a model of `tf.contrib.learn`."""

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Callable[[], Any],
        input_alternative_key: str | None = None,
        output_alternative_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ) -> None:
        """Makes the model; see `from_contrib_estimator`."""
        graph = graph or Graph()
        with graph.as_default():
            input_ops = prediction_input_fn()
            model = estimator._get_predict_ops(input_ops.features)
            creator = ChiefSessionCreator(
                config=config,
                checkpoint_filename_with_path=latest_checkpoint(estimator.model_dir),
            )
            session = MonitoredSession(session_creator=creator)
        inputs, _ = signature_choice.get_input_alternatives(input_ops)
        default = signature_choice.DEFAULT_INPUT_ALTERNATIVE_KEY
        outputs, key = signature_choice.get_output_alternatives(
            model, output_alternative_key
        )
        fed = _tensor_names(inputs[input_alternative_key or default])
        super().__init__(graph, session, fed, _tensor_names(outputs[key][1]))


def _signature(meta_graph_def: Any, key: str | None) -> Any:
    key = key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    # What contrib.learn's estimators export has the second name.
    for name in (key, f"default_input_alternative:{key}"):
        if name in meta_graph_def.signature_def:
            return meta_graph_def.signature_def[name]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are '
        f"{sorted(meta_graph_def.signature_def)}."
    )


def _tensors(graph: Any, names: Mapping[str, str]) -> dict[str, Any]:
    return {key: graph.get_tensor_by_name(name) for key, name in names.items()}


def _names(infos: Mapping[str, Any]) -> dict[str, str]:
    """The names of the tensors of a signature's inputs or outputs."""
    return {key: info.name for key, info in infos.items()}


def _tensor_names(tensors: Mapping[str, Any]) -> dict[str, str]:
    return {key: tensor.name for key, tensor in tensors.items()}


@export("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> SavedModelPredictor:
    """A predictor that runs a SavedModel.

        predict = tf.contrib.predictor.from_saved_model("/tmp/export/1")
        predict({"x": rows})["scores"]

    Args:
      export_dir: the directory.
      signature_def_key: the signature; "serving_default" when None.
      signature_def: or a `SignatureDef` message.
      input_names: or names of tensors, by any names,
      output_names: with those of the results.
      tags: of the MetaGraph, with commas between them; "serve" when None.
      graph: where the model is loaded; a new graph when None.
      config: a `ConfigProto` for the session.

    Raises:
      ValueError: more than one of these says what is run, or there is no such
        signature.
      RuntimeError: there is no MetaGraph with these tags.
      OSError: there is no SavedModel.
    """
    return SavedModelPredictor(
        export_dir,
        signature_def_key,
        signature_def,
        input_names,
        output_names,
        tags,
        graph,
        config,
    )


@export("contrib.predictor.from_estimator")
def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> CoreEstimatorPredictor:
    """A predictor that runs an Estimator's model, with its latest checkpoint.

    Args:
      estimator: a `tf.estimator.Estimator`.
      serving_input_receiver_fn: makes what is fed, and the features of it.
      output_key: one of the model's `export_outputs`; "serving_default" when None.
      graph: where the model is made; a new graph when None.
      config: a `ConfigProto` for the session.

    Raises:
      TypeError: it is no such Estimator.
      KeyError: the model has no such output.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.estimator.Estimator, but got type "
            f"{type(estimator).__name__}."
        )
    return CoreEstimatorPredictor(
        estimator, serving_input_receiver_fn, output_key, graph, config
    )


@export("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> ContribEstimatorPredictor:
    """A predictor that runs a model of `tf.contrib.learn`, with its latest checkpoint.

    Args:
      estimator: a `tf.contrib.learn.Estimator`.
      prediction_input_fn: gives an `InputFnOps`: what is fed, and the features of it.
      input_alternative_key: which of several inputs.
      output_alternative_key: which of several outputs.
      graph: where the model is made; a new graph when None.
      config: a `ConfigProto` for the session.

    Raises:
      TypeError: it is no such model.
      ValueError: there is no such output, or several and none is named.
    """
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            f"{type(estimator).__name__}. You likely want to call from_estimator."
        )
    if not isinstance(estimator, LearnEstimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            f"{type(estimator).__name__}."
        )
    return ContribEstimatorPredictor(
        estimator,
        prediction_input_fn,
        input_alternative_key,
        output_alternative_key,
        graph,
        config,
    )
