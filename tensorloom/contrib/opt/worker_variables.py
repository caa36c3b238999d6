"""Variables of workers that train apart: each has its own, beside global ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.framework.graph.graph import control_dependencies, get_default_graph
from tensorloom.framework.graph.graph import device as device_op
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math.binary import floormod
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train.hooks.session_run_hook import SessionRunHook

GLOBAL_VARIABLE_NAME = "global_center_variable"
LOCAL_VARIABLE_NAME = "local_center_variable"
GRAD_VARIABLE_NAME = "grad_variable"


def is_local(collections: Any) -> bool:
    """Whether a variable goes to the collection of local ones."""
    return GraphKeys.LOCAL_VARIABLES in (collections or ())


class PairedVariables:
    """A custom getter: to each trained variable a global one, and a further local one.

    Args:
      worker_device: where the variables of this worker are.
    """

    _second_name: str

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        # From the local variable to those that belong to it.
        self._global_map: dict[Any, Any] = {}
        self._second_map: dict[Any, Any] = {}

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool,
        collections: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """The local variable; see the `custom_getter` of `tf.get_variable`."""
        if not trainable:
            return self._untrained(getter, name, collections, *args, **kwargs)
        with device_op(self._worker_device):
            local = getter(
                name,
                *args,
                trainable=True,
                collections=[GraphKeys.LOCAL_VARIABLES],
                **kwargs,
            )
        if kwargs["reuse"] is True:
            return local
        center = getter(
            f"{GLOBAL_VARIABLE_NAME}/{name}",
            *args,
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            **kwargs,
        )
        with device_op(self._worker_device):
            second = getter(
                f"{self._second_name}/{name}",
                *args,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                **kwargs,
            )
        is_whole = kwargs["partitioner"] is None
        parts = ([local], [center], [second]) if is_whole else (local, center, second)
        for own, shared, beside in zip(*map(list, parts), strict=True):
            self._global_map[own] = shared
            self._second_map[own] = beside
        return local

    def _untrained(
        self,
        getter: Callable[..., Any],
        name: str,
        collections: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        return getter(name, *args, trainable=False, collections=collections, **kwargs)


def on_worker(
    device: str,
    getter: Callable[..., Any],
    name: str,
    collections: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A variable that is not trained: on the worker's device if it is local."""
    if not is_local(collections):
        return getter(name, *args, trainable=False, collections=collections, **kwargs)
    with device_op(device):
        return getter(name, *args, trainable=False, collections=collections, **kwargs)


class StartHook(SessionRunHook):
    """Gives a worker's variables their first values once there is a session.

    Args:
      make_init: makes the operation that does it.
    """

    def __init__(self, make_init: Callable[[], Any]) -> None:
        self._make_init = make_init

    def begin(self) -> None:
        """Makes the operation."""
        self._init = self._make_init()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._init)


def moved_to_local(names: Sequence[str]) -> None:
    """Moves global variables of some names to the local ones."""
    graph = get_default_graph()
    variables = graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    moved = [var for var in variables if var.op.name in names]
    variables[:] = [var for var in variables if var.op.name not in names]
    for var in moved:
        graph.add_to_collection(GraphKeys.LOCAL_VARIABLES, var)


def read_at_home(var: Any) -> Any:
    """The value of a variable of another task, as it is after what comes before.

    The reference alone would be sent at once.
    """
    with device_op(var.device):
        return var.read_value()


def local_step() -> Any:
    """The variable that counts a worker's own steps."""
    return get_variable(
        initializer=0,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        name="local_step",
    )


def every(step: Any, period: int, then: Callable[[], Any], after: Sequence[Any]) -> Any:
    """Counts a step, and does something at each multiple of a period.

    Args:
      step: the variable that counts.
      period: of it.
      then: makes the operation.
      after: operations that come before.
    """
    with control_dependencies(after):
        counted = assign_add(step, 1, name="local_step_update").op
    with control_dependencies([counted]):
        is_time = equal(floormod(step, period), 0)
        return cond(is_time, then, no_op)
