"""`tf.config`: threads, placement, the optimizer, how calls run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from tensorloom.client.settings.process_settings import SETTINGS
from tensorloom.framework.export import export

_POLICIES: Final = ("explicit", "warn", "silent", "silent_for_int32")


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """How many threads one operation may use; 0 is as many as there are cores."""
    return SETTINGS.intra_op_threads or 0


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many threads one operation may use.

    Raises:
      RuntimeError: it is another number, and the devices exist already.
    """
    if SETTINGS.intra_op_threads != num_threads:
        SETTINGS.require_unsettled(
            "Intra op parallelism cannot be modified after initialization."
        )
        SETTINGS.intra_op_threads = num_threads


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """How many operations may run at once; 0 is as many as there are cores."""
    return SETTINGS.inter_op_threads or 0


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many operations may run at once.

    Raises:
      RuntimeError: it is another number, and the devices exist already.
    """
    if SETTINGS.inter_op_threads != num_threads:
        SETTINGS.require_unsettled(
            "Inter op parallelism cannot be modified after initialization."
        )
        SETTINGS.inter_op_threads = num_threads


@export("config.optimizer.get_jit")
def get_optimizer_jit() -> bool:
    """Whether clusters of operations are compiled."""
    return bool(SETTINGS.jit)


@export("config.optimizer.set_jit")
def set_optimizer_jit(enabled: bool) -> None:
    """Says whether clusters of operations are compiled, where a session can."""
    SETTINGS.jit = enabled


@export("config.optimizer.get_experimental_options")
def get_optimizer_experimental_options() -> dict[str, Any]:
    """The options of the graph optimizer that differ from the usual."""
    return SETTINGS.effective_optimizer_options()


@export("config.optimizer.set_experimental_options")
def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of the graph optimizer.

    Args:
      options: names of `RewriterConfig`'s toggles ("constant_folding", ...) with
        whether they are on, and "min_graph_nodes". Other names are ignored.
    """
    SETTINGS.optimizer_options.update(options)


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether a node runs elsewhere if its device is not there or has no kernel."""
    return bool(SETTINGS.soft_device_placement)


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Says whether a node runs elsewhere if its device cannot run it."""
    SETTINGS.soft_device_placement = enabled


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether sessions log where each node is placed."""
    return SETTINGS.log_device_placement


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Says whether sessions log where each node is placed.

    Raises:
      RuntimeError: that changes, and the devices exist already.
    """
    if SETTINGS.log_device_placement != enabled:
        SETTINGS.require_unsettled(
            "Device placement logging must be set at program startup"
        )
        SETTINGS.log_device_placement = enabled


@export("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What happens to an input on another device: see `set_device_policy`."""
    return SETTINGS.device_policy


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Says what eager operations do with inputs on other devices.

    Graphs copy such inputs in any case.

    Args:
      device_policy: "silent" (as None), "warn", "explicit" or "silent_for_int32".

    Raises:
      ValueError: it is something else.
    """
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    SETTINGS.device_policy = device_policy or "silent"


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether eager operations are waited for; steps of a session always are."""
    return SETTINGS.synchronous


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool | None) -> None:
    """Says whether eager operations are waited for; no step of a session changes."""
    SETTINGS.synchronous = True if enable is None else enable


@export("config.experimental_run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Says whether `tf.function`s run their Python code at each eager call.

    Calls in a graph build nodes in any case, as in TensorFlow.
    """


@export("config.experimental_connect_to_host")
def connect_to_remote_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Refused: it connects eager execution to another task.

    Raises:
      RuntimeError: always; it says what to do in a graph.
    """
    _refuse_connection("config.experimental_connect_to_host")


@export("config.experimental_connect_to_cluster")
def connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
) -> None:
    """Refused: it connects eager execution to a cluster.

    Raises:
      RuntimeError: always; it says what to do in a graph.
    """
    _refuse_connection("config.experimental_connect_to_cluster")


def _refuse_connection(name: str) -> None:
    raise RuntimeError(
        f"tf.{name} connects eager execution to other tasks, which tensorloom does not "
        "have; in a graph, give the target of a tf.train.Server to tf.Session"
    )


_outputs_all_intermediates: bool | None = None


@export("experimental.output_all_intermediates")
def output_all_intermediates(state: bool | None) -> None:
    """Says whether functions give out what their gradients could need.

    It changes nothing here: gradients of functions take what they need.
    """
    global _outputs_all_intermediates
    _outputs_all_intermediates = state


def outputs_all_intermediates() -> bool | None:
    """What `output_all_intermediates` was told last; None at first."""
    return _outputs_all_intermediates


@export("experimental.function_executor_type")
@contextmanager
def function_executor_type(executor_type: str | None) -> Generator[None, None, None]:
    """In it, functions would use another executor; there is only one here."""
    yield
