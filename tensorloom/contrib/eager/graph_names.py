"""Names of `tf.contrib.eager` that mean the same in graphs."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any, Final

from tensorloom.client.functions.def_function import function
from tensorloom.client.functions.py_function import py_function
from tensorloom.client.gradients.custom_gradient import custom_gradient
from tensorloom.client.gradients.gradient_tape import GradientTape
from tensorloom.client.program.compat import enable_eager_execution, executing_eagerly
from tensorloom.client.session.session import Session
from tensorloom.client.variables.resource_variable import ResourceVariable
from tensorloom.client.variables.template import make_template as _make_template
from tensorloom.client.variables.variable_scope import with_variable_store
from tensorloom.client.variables.variable_store import VariableStore
from tensorloom.data.specs import TensorSpec
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import Graph
from tensorloom.framework.types.trackable_structures import AutoTrackable
from tensorloom.test.run_modes import (
    run_all_in_graph_and_eager_modes,
    run_in_graph_and_eager_modes,
)
from tensorloom.train.checkpoints.object_checkpoint import Checkpoint

SYNC: Final = 0
ASYNC: Final = 1
DEVICE_PLACEMENT_EXPLICIT: Final = 0
DEVICE_PLACEMENT_WARN: Final = 1
DEVICE_PLACEMENT_SILENT: Final = 2

for _name, _value in {
    "ASYNC": ASYNC,
    "Checkpoint": Checkpoint,
    "Checkpointable": AutoTrackable,
    "DEVICE_PLACEMENT_EXPLICIT": DEVICE_PLACEMENT_EXPLICIT,
    "DEVICE_PLACEMENT_SILENT": DEVICE_PLACEMENT_SILENT,
    "DEVICE_PLACEMENT_WARN": DEVICE_PLACEMENT_WARN,
    "GradientTape": GradientTape,
    "SYNC": SYNC,
    "TensorSpec": TensorSpec,
    "Variable": ResourceVariable,
    "custom_gradient": custom_gradient,
    "enable_eager_execution": enable_eager_execution,
    "executing_eagerly": executing_eagerly,
    "function": function,
    "in_eager_mode": executing_eagerly,
    "py_func": py_function,
    "run_all_tests_in_graph_and_eager_modes": run_all_in_graph_and_eager_modes,
    "run_test_in_graph_and_eager_modes": run_in_graph_and_eager_modes,
}.items():
    export_value(_value, f"contrib.eager.{_name}")


@export("contrib.eager.ExecutionCallback")
class ExecutionCallback(enum.Enum):
    """What eager execution was to do about infinities and NaNs."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


@export("contrib.eager.defun")
def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """Makes a Python function one whose calls are single nodes; see `tf.function`."""
    return function(
        func,
        input_signature,
        autograph,
        experimental_autograph_options,
        experimental_relax_shapes,
    )


@export("contrib.eager.make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Any:
    """A callable that runs `func_` in a variable scope of its own.

    Args:
      name_, func_, create_scope_now_, unique_name_, custom_getter_: see
        `tf.make_template`.
      create_graph_function_: whether `func_` becomes a `tf.function`.
      **kwargs: handed to `func_` in each call.
    """
    if create_graph_function_:
        func_ = function(func_)
    return _make_template(
        name_, func_, create_scope_now_, unique_name_, custom_getter_, **kwargs
    )


@export("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer: Any) -> Any:
    """The variables that a `tf.train.Optimizer` made."""
    return optimizer.variables()


@export("contrib.eager.list_devices")
def list_devices() -> list[str]:
    """The names of this process's devices."""
    with Session(graph=Graph()) as session:
        return [device.name for device in session.list_devices()]


@export("contrib.eager.num_gpus")
def num_gpus() -> int:
    """How many GPUs this process has."""
    return sum("/device:GPU:" in name for name in list_devices())


@export("contrib.eager.set_execution_mode")
def set_execution_mode(mode: int | None) -> None:
    """Says how eager execution works, of which there is none: only checks `mode`.

    Raises:
      ValueError: another mode than None, SYNC and ASYNC.
    """
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@export("contrib.eager.execution_mode")
@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """`set_execution_mode` for a `with` statement."""
    set_execution_mode(mode)
    yield


@export("contrib.eager.async_wait")
def async_wait() -> None:
    """Waits for eager operations: there are none."""


@export("contrib.eager.async_clear_error")
def async_clear_error() -> None:
    """Forgets errors of eager operations: there are none."""


@export("contrib.eager.clear_execution_callbacks")
def clear_execution_callbacks() -> None:
    """Forgets callbacks of eager operations: there are none."""


@export("contrib.eager.EagerVariableStore")
class EagerVariableStore:
    """Variables of `tf.get_variable`, in place of the graph's own.

    Args:
      store: a store of variables; None is a new one.
    """

    def __init__(self, store: VariableStore | None = None) -> None:
        self._store = VariableStore() if store is None else store

    def as_default(self) -> contextlib.AbstractContextManager[None]:
        """A context in which `tf.get_variable` looks here."""
        return with_variable_store(self._store)

    def variables(self) -> list[Any]:
        """All variables, by name."""
        return sorted(self._store._vars.values(), key=lambda variable: variable.name)

    def trainable_variables(self) -> list[Any]:
        """Those that are trained, by name."""
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """Those that are not trained, by name."""
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of new variables that start with the values of these."""
        copied = EagerVariableStore()
        for name, variable in self._store._vars.items():
            copied._store._vars[name] = ResourceVariable(
                variable.read_value(),
                name=variable.op.name,
                trainable=variable.trainable,
            )
        return copied
