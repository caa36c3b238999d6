"""What training, evaluation, prediction and export of an Estimator share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.estimator import configuration, input_results, warm_start
from tensorloom.estimator.function_arguments import chosen_arguments
from tensorloom.estimator.model_functions import call_model_fn, verify_model_fn_args
from tensorloom.framework.graph.graph import Graph, device
from tensorloom.train import training_util
from tensorloom.train.checkpoints.warm_starting import warm_start as start_warm
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverListener
from tensorloom.train.hooks.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec


class EstimatorBase:
    """Settings, and calls of the program's functions."""

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        self._config = configuration.complete_config(config, model_dir)
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        self._model_dir: str = self._config.model_dir
        self._session_config = self._config.session_config
        program_log.info("Using config: %s", str(vars(self._config)))
        self._device_fn = configuration.device_function(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = warm_start.settings_of(warm_start_from)

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints, events and exports."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """The settings (a copy)."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """The parameters that the functions are called with (a copy)."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model's function of `features, labels, mode, config`, with its "
        "`params`."""

        def public_model_fn(
            features: Any, labels: Any, mode: str, config: Any
        ) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # --- the program's functions ------------------------------------------------------

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        """What an input function returns; its operations are on the CPU."""
        options = {"mode": mode, "params": self.params, "config": self.config}
        if input_context is not None:
            options["input_context"] = input_context
        with device("/cpu:0"):
            return input_fn(**chosen_arguments(input_fn, options))

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        """What the model's function returns, checked."""
        return call_model_fn(
            self._model_fn, features, labels, mode, self.params, config
        )

    def _get_features_and_labels_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, Any, list[Any]]:
        """Features, labels and hooks."""
        return input_results.parse_input_fn_result(self._call_input_fn(input_fn, mode))

    # --- the global step --------------------------------------------------------------

    def _create_global_step(self, graph: Graph) -> Any:
        """The global step of a new graph. Programs override this."""
        return training_util.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        step = self._create_global_step(graph)
        if step is not training_util.get_global_step() or not step.dtype.is_integer:
            raise AssertionError(f"{step} must be the graph's global step, an integer.")
        return step

    # --- values to start with ---------------------------------------------------------

    def _maybe_warm_start(self, checkpoint_path: Any) -> None:
        """Where there is no checkpoint, variables start with those of another model."""
        if not checkpoint_path and self._warm_start_settings:
            self._warm_start()

    def _warm_start(self) -> None:
        program_log.info(
            "Warm-starting with WarmStartSettings: %s", (self._warm_start_settings,)
        )
        start_warm(*self._warm_start_settings)  # type: ignore[misc]


def check_hooks(hooks: Iterable[Any] | None) -> list[Any]:
    """Hooks as a list.

    Raises:
      TypeError: one is something else.
    """
    hooks = list(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def check_listeners(listeners: Iterable[Any] | None) -> list[Any]:
    """Listeners of checkpoints as a list.

    Raises:
      TypeError: one is something else.
    """
    listeners = list(listeners or ())
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                "saving_listeners must be a list of CheckpointSaverListener, given: "
                f"{listener}"
            )
    return listeners


def check_steps(name: str, steps: int | None) -> None:
    """Raises ValueError if a number of steps is not positive."""
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {steps}")
