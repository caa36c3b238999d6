"""The model function of linear and deep models that are trained together."""

from __future__ import annotations

import math
from typing import Any, Final

from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.training_step import optimize_loss
from tensorloom.contrib.learn import columns
from tensorloom.contrib.learn.estimators.hidden_layers import (
    deep_logits,
    layer_summaries,
    optimizer_of,
)
from tensorloom.framework.graph.graph import (
    colocate_with,
    control_dependencies,
    get_collection,
)
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train import training_util
from tensorloom.train.optimizers.sync_replicas import SyncReplicasOptimizer

_DNN_LEARNING_RATE: Final = 0.05
_LINEAR_LEARNING_RATE: Final = 0.2
_MIN_SLICE_SIZE: Final = 64 << 20
NO_COLUMNS: Final = (
    "Either linear_feature_columns or dnn_feature_columns must be defined."
)


def _checked_optimizer(spec: Any) -> Any:
    optimizer = optimizer_of(spec)
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you "
            "want to use this optimizer, please use either DNN or Linear model."
        )
    return optimizer


def combined_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """The model function: the logits of both models are added.

    Args:
      features: tensors by their keys, or a tensor.
      labels: labels as the head takes them.
      mode: a `ModeKeys`.
      params: what `DNNLinearCombinedEstimator` is given.
      config: a `RunConfig`; variables are cut for its parameter servers.

    Raises:
      ValueError: there are no columns, deep ones without `dnn_hidden_units`, or an
        optimizer waits for replicas.
    """
    head = params["head"]
    linear_columns = params.get("linear_feature_columns")
    deep_columns = params.get("dnn_feature_columns")
    if not linear_columns and not deep_columns:
        raise ValueError(NO_COLUMNS)
    features = columns.as_dict(features)
    linear_optimizer = _checked_optimizer(params.get("linear_optimizer") or "Ftrl")
    deep_optimizer = _checked_optimizer(params.get("dnn_optimizer") or "Adagrad")
    servers = config.num_ps_replicas if config else 0
    deep = linear = None
    input_scope = ""
    if deep_columns:
        deep, input_scope = _deep(features, deep_columns, head, mode, params, servers)
    if linear_columns:
        linear = _linear(features, linear_columns, head, params, servers)
    if deep is not None and linear is not None:
        logits = deep + linear
    else:
        logits = linear if deep is None else deep
    # Programs count on steps that are counted twice, unless they ask otherwise.
    counts_once = params.get("fix_global_step_increment_bug", True)

    def train_op_fn(loss: Any) -> Any:
        global_step = training_util.get_global_step()
        common = {
            "loss": loss,
            "global_step": global_step,
            "clip_gradients": params.get("gradient_clip_norm"),
            "summaries": [],
            "increment_global_step": not counts_once,
        }
        steps = []
        if deep is not None:
            steps.append(
                optimize_loss(
                    learning_rate=_DNN_LEARNING_RATE,
                    optimizer=deep_optimizer,
                    gradient_multipliers=columns.embedding_multipliers(
                        params.get("embedding_lr_multipliers"), "dnn", input_scope
                    ),
                    variables=get_collection("dnn"),
                    name="dnn",
                    **common,
                )
            )
        if linear is not None:
            count = len(linear_columns or ())
            rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(count))
            steps.append(
                optimize_loss(
                    learning_rate=rate,
                    optimizer=linear_optimizer,
                    variables=get_collection("linear"),
                    name="linear",
                    **common,
                )
            )
        train_op = group(*steps)
        if not counts_once:
            return train_op
        with control_dependencies([train_op]), colocate_with(global_step):
            return assign_add(global_step, 1).op

    return head.create_model_fn_ops(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=logits,
    )


def _deep(
    features: dict[str, Any],
    deep_columns: Any,
    head: Any,
    mode: str,
    params: dict[str, Any],
    servers: int,
) -> tuple[Any, str]:
    if not params.get("dnn_hidden_units"):
        raise ValueError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified."
        )
    input_partitioner = params.get("input_layer_partitioner")
    if input_partitioner is None:
        input_partitioner = min_max_variable_partitioner(
            max_partitions=servers, min_slice_size=_MIN_SLICE_SIZE
        )
    with variable_scope(
        "dnn",
        values=tuple(features.values()),
        partitioner=min_max_variable_partitioner(max_partitions=servers),
    ):
        return deep_logits(
            features,
            deep_columns,
            params["dnn_hidden_units"],
            head.logits_dimension,
            mode,
            params.get("dnn_activation_fn") or relu,
            params.get("dnn_dropout"),
            input_partitioner,
            separator="/",
        )


def _linear(
    features: dict[str, Any],
    linear_columns: Any,
    head: Any,
    params: dict[str, Any],
    servers: int,
) -> Any:
    partitioner = min_max_variable_partitioner(
        max_partitions=servers, min_slice_size=_MIN_SLICE_SIZE
    )
    values = tuple(features.values())
    with variable_scope("linear", values=values, partitioner=partitioner) as scope:
        logits = columns.linear_logits(
            features,
            linear_columns,
            head.logits_dimension,
            "linear",
            scope,
            params.get("joint_linear_weights", False),
        )
        layer_summaries(logits, f"{scope.name}/")
    return logits
