"""Builds a function once for each replica: threads that take turns.

Each replica is a thread, since a function may stop in its middle: at a `merge_call` all
replicas wait until the merging function was called for all of them together. One thread
runs at a time, so the graph is the same each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_creator_scope,
    variable_scope,
)
from tensorloom.distribute.strategies.replica_context import ReplicaContext
from tensorloom.distribute.strategies.shared_variables import make_fn
from tensorloom.distribute.values.regrouping import regroup, select_replica
from tensorloom.framework.graph.graph import (
    control_dependencies,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import constant as constant_op

if TYPE_CHECKING:
    from tensorloom.distribute.values.device_maps import DeviceMap


def call_for_each_replica(
    strategy: Any,
    device_map: DeviceMap,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The results of `fn` for each replica, in one structure.

    Raises:
      RuntimeError: the replicas make different numbers of `merge_call`s.
    """
    store: dict[str, list[Any]] = {}
    replicas = [
        _Replica(strategy, number, device_map, store, fn, args, kwargs)
        for number in range(device_map.num_replicas_in_graph)
    ]
    for replica in replicas:
        replica.start()
    try:
        while not _all_done(replicas):
            _merge(strategy, device_map, replicas)
    finally:
        for replica in replicas:
            replica.abandon()
    return regroup(device_map, tuple(replica.result for replica in replicas))


def _all_done(replicas: list[_Replica]) -> bool:
    """Lets each replica run up to its next `merge_call`, or to its end."""
    for replica in replicas:
        replica.resume()
        if replica.error is not None:
            raise replica.error
    done = [replica.done for replica in replicas]
    if any(done) and not all(done):
        raise RuntimeError(
            "Some replicas made a different number of replica_context().merge_call() "
            "calls."
        )
    return all(done)


def _merge(strategy: Any, device_map: DeviceMap, replicas: list[_Replica]) -> None:
    """Calls the function that all replicas have stopped at."""
    args = regroup(device_map, tuple(replica.merge_args for replica in replicas))
    kwargs = regroup(device_map, tuple(replica.merge_kwargs for replica in replicas))
    first = replicas[0]
    behind: dict[Any, None] = {}
    for replica in replicas:
        behind.update(dict.fromkeys(replica.merge_control_inputs))
    with (
        name_scope(first.merge_name_scope),
        control_dependencies(list(behind)),
        variable_scope(first.merge_variable_scope),
    ):
        result = first.merge_fn(strategy, *args, **kwargs)
    for number, replica in enumerate(replicas):
        replica.merge_result = select_replica(number, result)


class _Abandoned(BaseException):
    """Ends the thread of a replica that need not go on."""


class _Replica(threading.Thread):
    """A replica, whose function runs while the thread that made it waits."""

    def __init__(
        self,
        strategy: Any,
        number: int,
        device_map: DeviceMap,
        store: dict[str, list[Any]],
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        super().__init__(name=f"replica_{number}", daemon=True)
        self._strategy = strategy
        self._number = number
        self._device = device_map.logical_to_actual_devices(0)[number]
        self._creator = make_fn(store, number)
        self._fn = fn
        self._args = select_replica(number, args)
        self._kwargs = select_replica(number, kwargs)
        self._may_run = threading.Event()
        self._has_paused = threading.Event()
        self._abandoned = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        # What the other threads are to do with the `merge_call` that it is in.
        self.merge_fn: Any = None
        self.merge_args: Any = None
        self.merge_kwargs: Any = None
        self.merge_result: Any = None
        self.merge_name_scope: Any = None
        self.merge_variable_scope: Any = None
        self.merge_control_inputs: list[Any] = []
        # Where the calling thread is at present.
        self.graph = get_default_graph()
        with init_scope():
            self._init_graph = get_default_graph()
        self._creators = list(self.graph._variable_creators)
        self._strategies = self.graph._scopes.strategies
        self._control_flow_context = self.graph._scopes.control_flow_context
        self._variable_scope = get_variable_scope()
        scope = self.graph.get_name_scope()
        self._name_scope = f"{scope}/" if scope else ""
        if number > 0:
            self._name_scope += f"replica_{number}/"

    # --- the calling thread's side -------------------------------------------------

    def resume(self) -> None:
        """Lets it run until it pauses or ends."""
        self._may_run.set()
        self._has_paused.wait()
        self._has_paused.clear()

    def abandon(self) -> None:
        """Ends the thread, wherever it is."""
        self._abandoned = True
        self._may_run.set()
        self.join()

    # --- the replica's side ----------------------------------------------------------

    def _wait(self) -> None:
        self._may_run.wait()
        self._may_run.clear()
        if self._abandoned:
            raise _Abandoned

    def run(self) -> None:
        """Calls the function, at the place of the thread that made this one."""
        try:
            self._wait()
            self._call()
            self.done = True
        except _Abandoned:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._has_paused.set()

    def _call(self) -> None:
        with ExitStack() as stack:
            if self._init_graph is not self.graph:
                stack.enter_context(self._init_graph.as_default())
            stack.enter_context(self.graph.as_default())
            scopes = self.graph._scopes
            scopes.variable_creators = self._creators
            scopes.strategies = self._strategies
            scopes.control_flow_context = self._control_flow_context
            number = constant_op.constant(self._number, dtypes.int32)
            for context in (
                MirroredReplicaContext(self._strategy, number),
                device(self._device),
                name_scope(self._name_scope),
            ):
                stack.enter_context(context)
            reuse = True if self._number else None
            stack.enter_context(variable_scope(self._variable_scope, reuse=reuse))
            stack.enter_context(variable_creator_scope(self._creator))
            self.result = self._fn(*self._args, **self._kwargs)

    def merged(
        self, merge_fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Waits until the function was called for all replicas.

        Raises:
          RuntimeError: a function body is built, which the other replicas are not in.
        """
        if get_default_graph() is not self.graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. This "
                "happens if the function that is run for each replica has a part that "
                "is a function, or a branch of `tf.cond` or the body of "
                "`tf.while_loop`, and that brings replicas together, as the "
                "aggregation of gradients does. Move it out of there."
            )
        self.merge_fn, self.merge_args, self.merge_kwargs = merge_fn, args, kwargs
        scope = self.graph.get_name_scope()
        self.merge_name_scope = f"{scope}/" if scope else scope
        self.merge_variable_scope = get_variable_scope()
        self.merge_control_inputs = [
            op
            for controller in self.graph._scopes.controllers
            for op in controller.control_inputs
        ]
        self._has_paused.set()
        self._wait()
        return self.merge_result


class MirroredReplicaContext(ReplicaContext):
    """The context of a replica that is a thread."""

    def _merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        thread = threading.current_thread()
        assert isinstance(thread, _Replica)
        return thread.merged(merge_fn, args, kwargs)

    @property
    def devices(self) -> Any:
        """The device of the replica, in a list."""
        thread = threading.current_thread()
        assert isinstance(thread, _Replica)
        return [self._strategy.extended.worker_devices_by_replica[thread._number]]
