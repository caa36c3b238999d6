"""What a graph is asked: placeholders, scopes, the step; where variables go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    Tensor,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.runtime.scopes import graph_from_inputs
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.train import training_util


@export("contrib.framework.get_placeholders")
def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph. Raises TypeError if it is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


@export("contrib.framework.get_graph_from_inputs")
def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """The graph of tensors and operations, else the default one.

    Args:
      op_input_list: a list or tuple; what is no element of a graph counts nowhere.
      graph: the graph that all must be of; None for that of the first.

    Raises:
      TypeError: `op_input_list` is no list or tuple, or `graph` no graph.
      ValueError: the elements are of different graphs.
    """
    if not isinstance(op_input_list, list | tuple):
        raise TypeError("The op_input_list is not a list or tuple")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return graph_from_inputs(op_input_list, graph)


@export("contrib.framework.get_name_scope")
def get_name_scope() -> str:
    """The name scope of the default graph, without a slash at its end."""
    return get_default_graph().get_name_scope() or ""


@export("contrib.framework.assert_or_get_global_step")
def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The step that is given, checked; that of the graph when None.

    Raises:
      TypeError: it is no integer scalar.
    """
    if global_step_tensor is None:
        return training_util.get_global_step(graph)
    training_util.assert_global_step(global_step_tensor)
    return global_step_tensor


@export("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors, a scalar.

    Raises:
      ValueError: there are no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)


@export("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """A device function that spreads variables over parameter servers, in turns.

    Args:
      num_tasks: how many servers; without any, variables are on this task.
      job_name: of the servers.
      device_type: of each variable's device.
      device_index: of it.
      replica: of it.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._num_tasks = num_tasks
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        job, task = None, None
        if self._num_tasks > 0:
            job, task = self._job_name, self._next_task_id
            self._next_task_id = (task + 1) % self._num_tasks
        return DeviceSpec(
            job=job,
            replica=self._replica,
            task=task,
            device_type=self._device_type,
            device_index=self._device_index,
        ).to_string()
