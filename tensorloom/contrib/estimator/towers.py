"""`replicate_model_fn`: a model on several devices, each with a part of the batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.session.device_lib import list_local_devices
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.contrib.estimator.tower_optimizer import (
    OLD,
    TowerOptimizer,
    scale_loss,
)
from tensorloom.contrib.estimator.tower_specs import eval_spec, predict_spec, train_spec
from tensorloom.estimator.function_arguments import chosen_arguments
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device as device_scope
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.concat import split
from tensorloom.ops.sparse.shape_builders import sparse_split
from tensorloom.train.device_setter import RoundRobinStrategy

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec

_VARIABLES: Final = frozenset({"Variable", "VariableV2", "VarHandleOp"})


class VariableDistributionMode:
    """Where the variables of towers are."""

    # All on one device: the GPU if there is one alone, else the CPU.
    SHARED_LOCAL_PARAMETER_SERVER = 1
    # On the towers' devices in turn.
    SHARED_ROUND_ROBIN = 2


@export("contrib.estimator.replicate_model_fn")
@deprecated(*OLD)
def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """A `model_fn` that builds the model once a device, and shares the variables.

    The batch is cut along its first dimension. Losses and gradients of the towers are
    added up, or averaged, by `loss_reduction`; predictions are put one after the other;
    metrics count what all towers saw. Optimizers must be wrapped in `TowerOptimizer`.

    Args:
      model_fn: of an Estimator.
      loss_reduction: how the towers' losses become one: of `tf.losses.Reduction`.
      devices: all GPUs when None, or the CPU where there is none.

    Raises:
      ValueError: `loss_reduction` is NONE; in the new function, that the batch cannot
        be cut evenly, or that optimizers are not wrapped or differ in the towers.
    """
    return replicate_model_fn_with_mode(
        model_fn,
        loss_reduction,
        devices,
        VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER,
    )


def replicate_model_fn_with_mode(
    model_fn: Callable[..., Any],
    loss_reduction: str,
    devices: Sequence[str] | None = None,
    mode: int = VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER,
) -> Callable[..., EstimatorSpec]:
    """`replicate_model_fn` with a choice of where variables are."""
    if loss_reduction == Reduction.NONE:
        raise ValueError(
            "Tower losses need to be reduced in some way, yet "
            f"{loss_reduction} reduction is specified."
        )
    towers = list(devices or local_devices("GPU") or local_devices("CPU"))
    is_one_gpu = len(towers) == 1 and "GPU" in towers[0].upper()
    together = towers[0] if is_one_gpu else "/CPU:0"
    in_turn = mode == VariableDistributionMode.SHARED_ROUND_ROBIN
    ps_devices = towers if in_turn else [together]
    program_log.info(
        f"Replicating the `model_fn` across {towers}.  Variables are going to be "
        f"placed on {ps_devices}.  Consolidation device is going to be {together}."
    )

    def specs(
        features: Any, labels: Any, mode: str, params: Any, config: Any
    ) -> list[EstimatorSpec]:
        return loss_towers(
            model_fn,
            mode,
            features,
            labels,
            params,
            config,
            towers,
            ps_devices,
            loss_reduction,
        )

    def single_device_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        return specs([features], [labels], mode, params, config)[0]

    def replicated_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        parts = split_batch(features, labels, len(towers), device=together)
        found = specs(*parts, mode, params, config)
        if mode == ModeKeys.TRAIN:
            return train_spec(found, found[-1].train_op, together)
        if mode == ModeKeys.EVAL:
            return eval_spec(found, together)
        return predict_spec(found, together)

    return single_device_model_fn if len(towers) == 1 else replicated_model_fn


def local_devices(device_type: str) -> list[str]:
    """The names of the devices of a type in this process."""
    return [
        found.name for found in list_local_devices() if found.device_type == device_type
    ]


def split_batch(
    features: Any, labels: Any, number_of_shards: int, device: Any
) -> tuple[Any, Any]:
    """The features and labels of each shard. Labels may be None.

    Raises:
      ValueError: a batch cannot be cut evenly.
    """

    def cut(value: Any) -> list[Any]:
        if isinstance(value, dict):
            by_name = {name: cut(part) for name, part in value.items()}
            return [
                {name: parts[shard] for name, parts in by_name.items()}
                for shard in range(number_of_shards)
            ]
        if isinstance(value, SparseTensor):
            return list(
                sparse_split(sp_input=value, num_split=number_of_shards, axis=0)
            )
        batch = convert_to_tensor(value).get_shape()[0]
        if batch % number_of_shards != 0:
            raise ValueError(
                f"Batch size {batch} needs to be divisible by the number of GPUs, "
                f"which is {number_of_shards}."
            )
        return list(split(value, number_of_shards))

    with name_scope("split_inputs"), device_scope(device):
        return cut(features), None if labels is None else cut(labels)


def loss_towers(
    model_fn: Callable[..., Any],
    mode: str,
    features: Sequence[Any],
    labels: Sequence[Any] | None,
    params: Any,
    config: Any,
    devices: Sequence[str],
    local_ps_devices: Sequence[str],
    loss_reduction: str,
    name_scope_pattern: str = "tower_{}",
) -> list[EstimatorSpec]:
    """The model on each device. The first has names without a prefix.

    Raises:
      ValueError: optimizers are not wrapped, or differ between the towers.
    """
    options = {
        name: copy.deepcopy(value)
        for name, value in chosen_arguments(
            model_fn, {"params": params, "config": config}
        ).items()
    }
    strategy = RoundRobinStrategy(len(local_ps_devices))
    state = TowerOptimizer._graph_state()
    state.loss_reduction = loss_reduction
    state.number_of_towers = len(devices)

    def tower(index: int) -> EstimatorSpec:
        scope_name = name_scope_pattern.format(index) if index else ""
        chooser = local_device_setter(devices[index], local_ps_devices, strategy)
        with (
            variable_scope("", reuse=bool(index)) as var_scope,
            name_scope(scope_name) as scope,
            state.tower(index, var_scope, scope),
            device_scope(chooser),
        ):
            spec = model_fn(
                mode=mode,
                features=features[index],
                labels=labels[index] if labels else None,
                **options,
            )
            if spec.train_op is not None and len(devices) > 1:
                _check_wrapped()
            if spec.loss is None:
                return spec  # type: ignore[no-any-return]
            loss = scale_loss(spec.loss, loss_reduction, len(devices))
            return spec._replace(loss=loss)  # type: ignore[no-any-return]

    specs = [tower(index) for index in range(len(devices))]
    if not state.has_equal_calls():
        raise ValueError(
            "Each invocation of model_fn was supposed to make the same optimizer calls."
        )
    TowerOptimizer._clear_graph_state()
    return specs


def _check_wrapped() -> None:
    if not TowerOptimizer.has_been_used():
        raise ValueError(
            "Please wrap optimizers with TowerOptimizer in order to use "
            "replicate_model_fn with multiple `devices`."
        )


def local_device_setter(
    worker_device: str | None,
    ps_devices: Sequence[str],
    ps_strategy: Callable[[Any], int],
) -> Callable[[Any], str]:
    """A device function: variables by a strategy, all else on one device."""

    def chosen(op: Any) -> str:
        is_variable = getattr(op, "op", None) in _VARIABLES or (
            getattr(op, "type", None) in _VARIABLES
        )
        where = ps_devices[ps_strategy(op)] if is_variable else worker_device or ""
        spec = DeviceSpec.from_string(where)
        spec.merge_from(DeviceSpec.from_string(op.device or ""))
        return spec.to_string()

    return chosen
