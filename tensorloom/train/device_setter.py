"""`replica_device_setter`: variables on parameter servers, the rest on the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.train.cluster_spec import ClusterSpec

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

# What lives on parameter servers unless the program says otherwise: as in 1.15, and
# tables of embeddings.
STANDARD_PS_OPS: Final = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DynamicEmbeddingTable",
)

# Gives the index of the parameter server for an operation.
Strategy = Callable[["Operation"], int]


class RoundRobinStrategy:
    """Parameter servers in turn."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, op: Operation) -> int:
        """The index of the server for `op`."""
        task = self._next
        self._next = (task + 1) % self._num_tasks
        return task


@export("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """Each variable on the parameter server with the least load so far.

    Variables of very different sizes are spread better than in turn.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        """Makes a strategy.

        Args:
          num_tasks: how many parameter servers there are.
          load_fn: the load of an operation, for example `byte_size_load_fn`.
        """
        self._load_fn = load_fn
        self.ps_loads = [0.0] * num_tasks

    def __call__(self, op: Operation) -> int:
        """The index of the server for `op`."""
        task = min(range(len(self.ps_loads)), key=self.ps_loads.__getitem__)
        self.ps_loads[task] += self._load_fn(op)
        return task


@export("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Operation) -> int:
    """The bytes that a variable takes.

    Raises:
      ValueError: its shape is not known.
    """
    shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    elements = shape.num_elements()
    assert elements is not None
    return int(op.get_attr("dtype").base_dtype.size) * elements


class _ReplicaDeviceChooser:
    """The device function."""

    def __init__(
        self,
        ps_device: str,
        worker_device: str,
        merge_devices: bool,
        ps_ops: Sequence[str],
        strategy: Strategy,
    ) -> None:
        self._ps_device = ps_device
        self._worker_device = worker_device
        self._merge_devices = merge_devices
        self._ps_ops = frozenset(ps_ops)
        self._strategy = strategy

    def __call__(self, op: Operation) -> str:
        """The device of an operation that is being made."""
        if not self._merge_devices and op.device:
            return op.device
        asked = DeviceSpec.from_string(op.device or "")
        if self._ps_device and op.type in self._ps_ops:
            server = DeviceSpec.from_string(self._ps_device)
            # The strategy counts only what goes to its job.
            if server.job and (not asked.job or asked.job == server.job):
                server = server.replace(task=self._strategy(op))
            return server.make_merged_spec(asked).to_string()
        worker = DeviceSpec.from_string(self._worker_device or "")
        return worker.make_merged_spec(asked).to_string()


@export("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Strategy | None = None,
) -> Callable[[Operation], str] | None:
    """A device function for between-graph replication.

        with tf.device(tf.train.replica_device_setter(cluster=cluster)):
            ...  # variables on the ps tasks in turn, all else on the worker

    Args:
      ps_tasks: how many parameter servers there are; not read where `cluster` is given.
      ps_device: the job of the parameter servers.
      worker_device: where everything else goes.
      merge_devices: whether an operation's own device string completes the choice;
        otherwise it replaces it.
      cluster: a `ClusterSpec`, `ClusterDef`, or dict of jobs.
      ps_ops: the types of operations for parameter servers.
      ps_strategy: gives the index of the server for an operation; in turn if None.

    Returns:
      An argument for `tf.device`; None when there are no parameter servers.

    Raises:
      TypeError: `cluster` is no cluster, or `ps_strategy` cannot be called.
    """
    if cluster is not None:
        spec = ClusterSpec(cluster)
        job = DeviceSpec.from_string(ps_device).job
        if job not in spec.jobs:
            return None
        ps_tasks = spec.num_tasks(job)
    if ps_tasks == 0:
        return None
    strategy = RoundRobinStrategy(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    return _ReplicaDeviceChooser(
        ps_device,
        worker_device,
        merge_devices,
        STANDARD_PS_OPS if ps_ops is None else ps_ops,
        strategy,
    )
