"""`tf.contrib.learn.Estimator`: a model by its function."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_str_any
from tensorloom.client.session.session import Session
from tensorloom.client.variables.variable_lists import (
    _all_saveable_objects,
    local_variables_initializer,
    tables_initializer,
)
from tensorloom.contrib.learn import tensor_signatures as signatures
from tensorloom.contrib.learn.estimators.base_estimator import BaseEstimator
from tensorloom.contrib.learn.estimators.metric_arguments import make_metrics_ops
from tensorloom.contrib.learn.keys import (
    COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS,
    MetricKey,
    ModeKeys,
)
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.contrib.learn.utils import signature_choice
from tensorloom.estimator.export.directories import (
    get_temp_export_dir,
    get_timestamped_export_dir,
)
from tensorloom.estimator.function_arguments import argument_names
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.metrics.averages import mean
from tensorloom.ops.control_flow.builders import group
from tensorloom.saved_model.builder import SavedModelBuilder
from tensorloom.saved_model.constants import SERVING
from tensorloom.storage.files import gfile
from tensorloom.train import training_util
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.sessions import resources

GraphRewriteSpec = namedtuple("GraphRewriteSpec", ["tags", "transforms"])


def _identity(features: Any, labels: Any) -> tuple[Any, Any]:
    return features, labels


@export("contrib.learn.Estimator")
class Estimator(BaseEstimator):
    """A model that a function makes.

    Args:
      model_fn: takes `features` and `labels`, and by their names, if it wants them,
        `mode`, `params`, `config` and `model_dir`. It gives a `ModelFnOps`, or
        (predictions, loss, train_op).
      model_dir: where checkpoints and events go; a temporary directory when None.
      config: a `RunConfig`.
      params: what the function gets as `params`.
      feature_engineering_fn: from (features, labels) of the input to those of the
        model.

    Raises:
      ValueError: the function takes no `params` although some are given.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            takes_params = "params" in argument_names(model_fn)
            if params is not None and not takes_params:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params "
                    f"argument, but params ({params}) were passed to the Estimator's "
                    "constructor."
                )
            if params is None and takes_params:
                program_log.warning(
                    "Estimator's model_fn (%s) includes params argument, but params "
                    "are not passed to Estimator.",
                    model_fn,
                )
        self._model_fn: Any = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or _identity

    def _call_model_fn(
        self,
        features: Any,
        labels: Any,
        mode: str,
        metrics: Any = None,
        config: Any = None,
    ) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        names = argument_names(self._model_fn)
        available = {
            "mode": mode,
            "params": self.params,
            "config": config or self.config,
            "model_dir": self.model_dir,
        }
        chosen = {key: value for key, value in available.items() if key in names}
        result = self._model_fn(features, labels, **chosen)
        if not isinstance(result, ModelFnOps):
            if len(result) != 3:
                raise ValueError(
                    "Unrecognized value returned by model_fn, please return ModelFnOps."
                )
            predictions, loss, train_op = result
            result = ModelFnOps(
                mode=mode, predictions=predictions, loss=loss, train_op=train_op
            )
        if metrics:
            result.eval_metric_ops.update(
                make_metrics_ops(metrics, features, labels, result.predictions)
            )
        return result

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        model = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in model.eval_metric_ops:
            model.eval_metric_ops[MetricKey.LOSS] = mean(model.loss)
        return model

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        labels = signatures.create_placeholders_from_signatures(self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any] | None,
        default_output_alternative_key: Any = None,
        assets_extra: dict[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Sequence[Any] = (GraphRewriteSpec((SERVING,), ()),),
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Exports a checkpoint as a SavedModel.

        Args:
          export_dir_base: where directories named after the time go.
          serving_input_fn: gives an `InputFnOps`.
          default_output_alternative_key: which of several outputs is the default.
          assets_extra: files that are copied: their names in `assets.extra`, and paths.
          as_text: whether it is written as text.
          checkpoint_path: the checkpoint; the latest when None.
          graph_rewrite_specs: tags of the graph; the first one has no transforms.
          strip_default_attrs: whether attrs of default values are left out.

        Returns:
          The directory of the export.

        Raises:
          ValueError: there is no input function; the first spec has transforms; or
            there are several outputs and none is the default.
          NotFittedError: there is no checkpoint.
          UnimplementedError: a later spec has transforms.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        checkpoint_path = checkpoint_path or self._latest_checkpoint()
        _check_rewrites(graph_rewrite_specs)
        export_dir = get_timestamped_export_dir(export_dir_base)
        temporary = get_temp_export_dir(export_dir)
        builder = SavedModelBuilder(temporary)
        with Graph().as_default() as graph:
            training_util.create_global_step(graph)
            model, signature_map = self._served_model(
                serving_input_fn(), default_output_alternative_key
            )
            init_op = group(
                local_variables_initializer(),
                resources.initialize_resources(resources.shared_resources()),
                tables_initializer(),
            )
            with Session("") as session:
                saver = getattr(model.scaffold, "saver", None)
                saveables = _all_saveable_objects()
                if saver is None and saveables:
                    saver = Saver(saveables, sharded=True)
                if saver is not None:
                    saver.restore(session, checkpoint_path)
                builder.add_meta_graph_and_variables(
                    session,
                    graph_rewrite_specs[0].tags,
                    signature_def_map=signature_map,
                    assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                    main_op=init_op,
                    strip_default_attrs=strip_default_attrs,
                )
                for spec in graph_rewrite_specs[1:]:
                    builder.add_meta_graph(
                        spec.tags,
                        signature_def_map=signature_map,
                        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                        main_op=init_op,
                        strip_default_attrs=strip_default_attrs,
                    )
        _copy_extra_assets(as_str_any(temporary), assets_extra or {})
        builder.save(as_text)
        gfile.rename(temporary, export_dir)
        return export_dir

    def _served_model(
        self, input_ops: Any, default_output_alternative_key: Any
    ) -> tuple[ModelFnOps, dict[str, Any]]:
        """The model of a serving graph, and the signatures."""
        inputs, features = signature_choice.get_input_alternatives(input_ops)
        for key in input_ops.features:
            add_to_collection(COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS, key)
        model = self._call_model_fn(features, None, ModeKeys.INFER)
        outputs, default = signature_choice.get_output_alternatives(
            model, default_output_alternative_key
        )
        return model, signature_choice.build_all_signature_defs(
            inputs, outputs, default
        )


def _check_rewrites(specs: Sequence[Any]) -> None:
    if not specs or specs[0].transforms:
        raise ValueError(
            "The first element of graph_rewrite_specs must specify no transforms."
        )
    asked = [spec.transforms for spec in specs[1:] if spec.transforms]
    if asked:
        raise errors.UnimplementedError(
            None,
            None,
            f"The graph transforms {asked} of graph_rewrite_specs are not available: "
            "tensorloom optimizes a graph when it runs it. Export without transforms.",
        )


def _copy_extra_assets(directory: str, assets: dict[str, Any]) -> None:
    for name, source in assets.items():
        target = os.path.join(directory, "assets.extra", as_str_any(name))
        gfile.makedirs(os.path.dirname(target))
        gfile.copy(source, target)
