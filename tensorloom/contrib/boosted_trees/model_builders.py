"""The model functions of Estimators of trees: of examples, and of pairs of them."""

from __future__ import annotations

import copy
from typing import Any, Final

from tensorloom.contrib.boosted_trees.resources.ensemble_variable import (
    tree_ensemble_variable,
)
from tensorloom.contrib.boosted_trees.spec_conversion import (
    estimator_spec_to_model_fn_ops,
)
from tensorloom.contrib.boosted_trees.trainer_hooks import StopAfterNTrees
from tensorloom.contrib.boosted_trees.tree_model import (
    LEAF_INDEX,
    PREDICTIONS,
    GradientBoostedDecisionTreeModel,
)
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train import training_util


class ModelBuilderOutputType:
    """What a model function gives."""

    MODEL_FN_OPS: Final = 0  # `tf.contrib.learn.ModelFnOps`
    ESTIMATOR_SPEC: Final = 1  # `tf.estimator.EstimatorSpec`


def _initial_ensemble(learner_config: Any) -> bytes:
    """A serialized ensemble with the tree that each tree begins as, if there is one."""
    from tensorloom.protos.gradient_trees_pb2 import DecisionTreeEnsembleConfig

    ensemble = DecisionTreeEnsembleConfig()
    if learner_config.each_tree_start.nodes:
        if learner_config.each_tree_start_num_layers <= 0:
            raise ValueError("You must provide each_tree_start_num_layers.")
        ensemble.trees.add().CopyFrom(learner_config.each_tree_start)
        ensemble.tree_weights.append(0.1)
        ensemble.tree_metadata.add(
            num_tree_weight_updates=1,
            num_layers_grown=learner_config.each_tree_start_num_layers,
        )
    return ensemble.SerializeToString()


class _Builder:
    """What both kinds of models have in common.

    Args:
      features: tensors by their names, or one tensor.
      labels: of the examples.
      mode: a `ModeKeys`.
      params: what `model_builder` is given.
      config: a `RunConfig`.
      ensemble: serialized trees to begin with.

    Raises:
      ValueError: there are no features or no config.
    """

    def __init__(
        self,
        features: Any,
        labels: Any,
        mode: str,
        params: dict[str, Any],
        config: Any,
        ensemble: bytes,
    ) -> None:
        if features is None:
            raise ValueError("At least one feature must be specified.")
        if config is None:
            raise ValueError("Missing estimator RunConfig.")
        if isinstance(features, Tensor):
            features = {features.name: features}
        self.features, self._labels, self._mode = features, labels, mode
        self._params, self._config = params, config
        self.head = params["head"]
        self._step = training_util.get_global_step()
        with device(self._step.device):
            self._handle = tree_ensemble_variable(
                stamp_token=0, tree_ensemble_config=ensemble, name="ensemble_model"
            )

    def training_features(self) -> dict[str, Any]:
        """The features without the weights."""
        features: dict[str, Any] = copy.copy(self.features)
        features.pop(self._params["weight_column_name"], None)
        return features

    def model(
        self, features: dict[str, Any], quantiles_too: bool = True
    ) -> GradientBoostedDecisionTreeModel:
        """A model of such features."""
        params = self._params
        more = {"num_quantiles": params["num_quantiles"]} if quantiles_too else {}
        return GradientBoostedDecisionTreeModel(
            is_chief=self._config.is_chief,
            num_ps_replicas=self._config.num_ps_replicas,
            ensemble_handle=self._handle,
            center_bias=params["center_bias"],
            examples_per_layer=params["examples_per_layer"],
            learner_config=params["learner_config"],
            feature_columns=params["feature_columns"],
            logits_dimension=self.head.logits_dimension,
            features=features,
            use_core_columns=params["use_core_libs"],
            output_leaf_index=params["output_leaf_index"],
            **more,
        )

    def modified(self, logits: Any) -> Any:
        """The logits as the program's function changes them."""
        function = self._params["logits_modifier_function"]
        return function(logits, self.features, self._mode) if function else logits

    def results(
        self,
        model: GradientBoostedDecisionTreeModel,
        predicted: dict[str, Any],
        logits: Any,
        output_type: int,
        spec_has_leaves: bool,
    ) -> Any:
        """What the model function gives.

        Args:
          model: that is trained.
          predicted: of its `predict`.
          logits: what the head gets.
          output_type: a `ModelBuilderOutputType`.
          spec_has_leaves: whether an EstimatorSpec tells leaves, too.
        """

        def train_op_fn(loss: Any) -> Any:
            update = model.train(loss, predicted, self._labels)
            with control_dependencies([update]), colocate_with(self._step):
                return assign_add(self._step, 1).op

        arguments = {
            "features": self.features,
            "mode": self._mode,
            "labels": self._labels,
            "train_op_fn": train_op_fn,
            "logits": logits,
        }
        makes_spec = callable(getattr(self.head, "create_estimator_spec", None))
        hooks = self._hooks(model)
        if output_type == ModelBuilderOutputType.ESTIMATOR_SPEC:
            if not makes_spec:
                raise ValueError(
                    f"The head {type(self.head).__name__} makes no EstimatorSpec; use "
                    "one of tf.estimator or tf.contrib.estimator."
                )
            spec = self.head.create_estimator_spec(**arguments)
            if spec_has_leaves:
                self._add_leaves(spec.predictions, predicted)
            return spec._replace(training_hooks=hooks + list(spec.training_hooks))
        if self._params["use_core_libs"] and makes_spec:
            made = estimator_spec_to_model_fn_ops(
                self.head.create_estimator_spec(**arguments)
            )
        else:
            made = self.head.create_model_fn_ops(**arguments)
        self._add_leaves(made.predictions, predicted)
        made.training_hooks.extend(hooks)
        return made

    def _add_leaves(self, predictions: Any, predicted: dict[str, Any]) -> None:
        if self._params["output_leaf_index"] and LEAF_INDEX in predicted:
            predictions[LEAF_INDEX] = predicted[LEAF_INDEX]

    def _hooks(self, model: GradientBoostedDecisionTreeModel) -> list[Any]:
        trees = self._params["num_trees"]
        if not trees:
            return []
        if self._params["center_bias"]:
            trees += 1  # the bias is a tree
        finalized, attempted = model.get_number_of_trees_tensor()
        override = self._params.get("override_global_step_value")
        return [StopAfterNTrees(trees, attempted, finalized, override)]


def model_builder(
    features: Any,
    labels: Any,
    mode: str,
    params: dict[str, Any],
    config: Any,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Any:
    """The model function of trees.

    Args:
      features: tensors by their names, or one tensor.
      labels: of the examples.
      mode: a `ModeKeys`.
      params: `head`, `learner_config`, `examples_per_layer`, `feature_columns`,
        `weight_column_name`, `num_trees`, `center_bias`, `use_core_libs`,
        `logits_modifier_function`, `output_leaf_index`, `num_quantiles` and maybe
        `override_global_step_value`, as the Estimators take them.
      config: a `RunConfig`.
      output_type: a `ModelBuilderOutputType`.

    Raises:
      ValueError: there are no features, or they do not fit.
    """
    ensemble = _initial_ensemble(params["learner_config"])
    builder = _Builder(features, labels, mode, params, config, ensemble)
    model = builder.model(builder.training_features())
    with name_scope("gbdt", "gbdt_optimizer"):
        predicted = model.predict(mode)
        logits = builder.modified(predicted[PREDICTIONS])
    return builder.results(model, predicted, logits, output_type, spec_has_leaves=True)


def _pair(features: dict[str, Any], keys: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of the left and of the right example.

    Raises:
      ValueError: there are not two keys, or a feature is of neither.
    """
    if len(keys) != 2:
        raise ValueError("You must provide keys for ranking.")
    if None in keys:
        raise ValueError("Both pair keys should be provided for ranking.")
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    for name, feature in features.items():
        if name.startswith(keys[0] + "."):
            left[name[2:]] = feature
        elif name.startswith(keys[1] + "."):
            right[name[2:]] = feature
        else:
            raise ValueError(f"Feature {name!r} begins with neither of {keys}.")
    if not right:
        raise ValueError("Features for ranking must be specified.")
    return left, right


def ranking_model_builder(
    features: Any,
    labels: Any,
    mode: str,
    params: dict[str, Any],
    config: Any,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Any:
    """The model function of trees that learn from pairs which example ranks higher.

    Args:
      features: tensors by their names, or one tensor; for training and evaluation of
        pairs: their names begin with a key of the left or the right example.
      labels: of the pairs.
      mode: a `ModeKeys`.
      params: as those of `model_builder`, and `ranking_model_pair_keys`.
      config: a `RunConfig`.
      output_type: a `ModelBuilderOutputType`.

    Raises:
      ValueError: there are no features, or they do not fit.
    """
    builder = _Builder(features, labels, mode, params, config, b"")
    main = builder.training_features()
    other: dict[str, Any] = {}
    if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
        main, other = _pair(main, params["ranking_model_pair_keys"])
    model = builder.model(main)
    with name_scope("gbdt", "gbdt_optimizer"):
        if mode == ModeKeys.INFER:
            predicted = model.predict(mode)
            logits = builder.modified(predicted[PREDICTIONS])
        else:
            second = builder.model(other, quantiles_too=False)
            predicted = model.predict(mode)
            of_second = second.predict(mode)[PREDICTIONS]
            logits = builder.modified(predicted[PREDICTIONS] - of_second)
            predicted[PREDICTIONS] = logits
    return builder.results(model, predicted, logits, output_type, spec_has_leaves=False)
