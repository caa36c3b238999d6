"""The global step: the variable that counts training steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.state import initializers as init_ops
from tensorloom.ops.state import reference_variable as state_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph


@export("train.global_step")
def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the global step in a session."""
    value = sess.run(global_step_tensor)
    return int(getattr(value, "item", lambda: value)())  # may be of shape [1]


@export("train.get_global_step", "contrib.framework.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, or None.

    It is what the collection `GLOBAL_STEP` holds, else the tensor `global_step:0`.

    Raises:
      TypeError: it is not a scalar integer.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        program_log.error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@export("train.create_global_step", "contrib.framework.create_global_step")
def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step, an int64 variable at 0.

    Raises:
      ValueError: there is one already.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as default, default.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=init_ops.Zeros(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


@export(
    "train.get_or_create_global_step", "contrib.framework.get_or_create_global_step"
)
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, made if there is none."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


@export("train.assert_global_step", "contrib.framework.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError unless it is a scalar integer tensor or variable."""
    if not isinstance(global_step_tensor, Variable | Tensor):
        raise TypeError(
            'Existing "global_step" must be a Variable or Tensor: '
            f"{global_step_tensor}."
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            'Existing "global_step" does not have integer type: '
            f"{global_step_tensor.dtype}"
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


_GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def _get_or_create_global_step_read(graph: Graph | None = None) -> Any:
    """A tensor that reads the graph's global step, made once; None without a step."""
    graph = graph or get_default_graph()
    found = graph.get_collection(_GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(
            "There are multiple items in collection "
            f"{_GLOBAL_STEP_READ_KEY}. There should be only one."
        )
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with (
        graph.as_default() as default,
        default.name_scope(None),
        default.name_scope(f"{step.op.name}/"),
    ):
        # What is read while the model is initialized depends on the variable.
        value = step.initialized_value() if isinstance(step, Variable) else step
        read = value + 0
        graph.add_to_collection(_GLOBAL_STEP_READ_KEY, read)
    return read


def _global_step_read_for(user: str) -> Any:
    """The same for a class that cannot do without.

    Raises:
      RuntimeError: the default graph has no global step.
    """
    read = _get_or_create_global_step_read()
    if read is None:
        raise RuntimeError(f"Global step should be created to use {user}.")
    return read


def _increment_global_step(increment: int, graph: Graph | None = None) -> Any:
    """Adds to the global step, after it was read.

    Raises:
      ValueError: the graph has no global step.
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by "
            "tf.train.get_or_create_global_step before calling increment."
        )
    read = _get_or_create_global_step_read(graph)
    with (
        graph.as_default() as default,
        default.name_scope(None),
        default.name_scope(f"{step.op.name}/"),
        control_dependencies([read]),
    ):
        return state_ops.assign_add(step, increment)
