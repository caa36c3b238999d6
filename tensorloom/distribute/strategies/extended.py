"""`tf.distribute.StrategyExtended`: what libraries use of a strategy."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.client.distribution.reduce_op import ReduceOp, as_reduce_op
from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_creator_scope,
    variable_scope,
)
from tensorloom.distribute.strategies.mode_checks import (
    require_cross_replica_or_default,
    require_strategy_scope,
)
from tensorloom.distribute.strategies.scopes import StrategyScope
from tensorloom.distribute.values import device_names
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.ops.control_flow import builders as control_flow_ops

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@export("distribute.StrategyExtended")
class StrategyExtended:
    """Base of what strategies do: variables, replicas, reductions, updates.

    A subclass defines the methods of the same names with an underscore.

    Args:
      container_strategy: the strategy that it is of.
    """

    _is_default = False

    def __init__(self, container_strategy: Any) -> None:
        self._container_strategy_weakref = weakref.ref(container_strategy)
        self._default_device: str | None = None
        self._require_static_shapes = False

    def _container_strategy(self) -> Any:
        strategy = self._container_strategy_weakref()
        assert strategy is not None
        return strategy

    # --- scopes and variables -------------------------------------------------------

    def _scope(self, strategy: Any) -> AbstractContextManager[Any]:
        def creator(next_creator: Any, **options: Any) -> Any:
            require_strategy_scope(self)
            options["use_resource"] = True
            options["distribute_strategy"] = strategy
            return self._create_variable(next_creator, **options)

        def getter(getter: Any, *args: Any, **kwargs: Any) -> Any:
            if self._allow_variable_partition():
                return getter(*args, **kwargs)
            if kwargs.pop("partitioner", None) is not None:
                program_log.log_first_n(
                    program_log.WARN,
                    "Partitioned variables are disabled when using current "
                    "tf.distribute.Strategy.",
                    1,
                )
            return getter(*args, **kwargs)

        return StrategyScope(
            strategy,
            variable_creator_scope(creator),
            variable_scope(get_variable_scope(), custom_getter=getter),
            self._default_device,
        )

    def _allow_variable_partition(self) -> bool:
        return False

    def _create_variable(self, next_creator: Any, **options: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable is one of the strategy's."""
        return v._distribute_strategy is self._container_strategy_weakref()

    def colocate_vars_with(
        self, colocate_with_variable: Any
    ) -> AbstractContextManager[None]:
        """Variables made inside are on the devices of one of the strategy's.

        Raises:
          ValueError: it is no variable of the strategy.
          RuntimeError: the strategy's scope is not open.
        """

        def creator(next_creator: Any, **options: Any) -> Any:
            require_strategy_scope(self)
            options["use_resource"] = True
            options["colocate_with"] = colocate_with_variable
            return next_creator(**options)

        require_strategy_scope(self)
        self._validate_colocate_with_variable(colocate_with_variable)
        return variable_creator_scope(creator)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        """Raises ValueError unless it is a variable of the strategy."""

    def read_var(self, v: Any) -> Any:
        """The value of a variable for all replicas: that of their parts together."""
        raise NotImplementedError("must be implemented in descendants")

    # --- replicas -------------------------------------------------------------------

    def call_for_each_replica(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Builds `fn(*args, **kwargs)` for each replica; see `Strategy`.

        Raises:
          RuntimeError: a single replica is built for, or another strategy.
        """
        require_cross_replica_or_default(self)
        with self._container_strategy().scope():
            return self._call_for_each_replica(fn, args, dict(kwargs or {}))

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int = 1,
        initial_loop_values: Any = None,
    ) -> Any:
        """Builds a loop of several steps.

        Args:
          fn: `fn(context, elements)` gives the operation of a step; `context` takes
            the outputs of the last one (`set_last_step_output`).
          iterator: gives the elements.
          iterations: how many steps.
          initial_loop_values: of the outputs.

        Returns:
          The context; its `run_op` runs the steps.
        """
        require_cross_replica_or_default(self)
        with self._container_strategy().scope():
            return self._experimental_run_steps_on_iterator(
                fn, iterator, iterations, initial_loop_values
            )

    def _experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int,
        initial_loop_values: Any,
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    # --- reductions -----------------------------------------------------------------

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        where = device_names.current() or "/device:CPU:0"
        return self._local_results(self._reduce_to(reduce_op, value, where))[0]

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean of the values of all replicas, at the destinations.

        Args:
          reduce_op: SUM or MEAN.
          value: with a part for each replica.
          destinations: a device's name, or what is on the devices: a tensor, variable
            or distributed value.
        """
        require_cross_replica_or_default(self)
        assert not isinstance(destinations, list | tuple)
        assert not isinstance(reduce_op, VariableAggregation)
        reduce_op = as_reduce_op(reduce_op)
        assert reduce_op in (ReduceOp.SUM, ReduceOp.MEAN)
        return self._reduce_to(reduce_op, value, destinations)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """`reduce_to` of several pairs (value, destinations)."""
        require_cross_replica_or_default(self)
        assert not isinstance(reduce_op, VariableAggregation)
        return self._batch_reduce_to(as_reduce_op(reduce_op), value_destination_pairs)

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Iterable[Any]) -> Any:
        return [self.reduce_to(reduce_op, value, where) for value, where in pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """A tensor copied to the destinations."""
        assert destinations is not None
        require_cross_replica_or_default(self)
        assert not isinstance(destinations, list | tuple)
        return self._broadcast_to(tensor, destinations)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    # --- updates --------------------------------------------------------------------

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(part, *args, **kwargs)` for each part of a variable, on its device.

        Of mirrored values in the arguments each part gets that of its device.

        Args:
          group: whether the result runs all updates; else it is a structure of tuples.

        Raises:
          TypeError: an argument is a different one for each replica.
        """
        require_cross_replica_or_default(self)
        with self._container_strategy().scope():
            return self._update(var, fn, args, dict(kwargs or {}), group)

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(*args, **kwargs)` on each of the devices of `non_slot_devices`."""
        require_cross_replica_or_default(self)
        with self._container_strategy().scope():
            return self._update_non_slot(
                colocate_with, fn, args, dict(kwargs or {}), group
            )

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where an optimizer's variables are that belong to no single variable."""
        raise NotImplementedError("must be implemented in descendants")

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        raise NotImplementedError("must be implemented in descendants")

    def value_container(self, value: Any) -> Any:
        """The variable that a value is a part of, or the value."""
        raise NotImplementedError("must be implemented in descendants")

    def _group(self, value: Any, name: str | None = None) -> Any:
        parts = nest.flatten(self._local_results(value))
        if len(parts) != 1 or name is not None:
            return control_flow_ops.group(parts, name=name)
        (part,) = parts
        return getattr(part, "op", part)

    # --- input ----------------------------------------------------------------------

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = None
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def experimental_make_numpy_dataset(
        self, numpy_input: Any, session: Any = None
    ) -> Any:
        """A dataset of the rows of arrays, which a session puts into variables."""
        require_cross_replica_or_default(self)
        return self._experimental_make_numpy_dataset(numpy_input, session)

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    # --- facts ----------------------------------------------------------------------

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether the shapes of elements must be known."""
        return self._require_static_shapes

    @property
    def _num_replicas_in_sync(self) -> int:
        raise NotImplementedError("must be implemented in descendants")

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker builds a graph of its own."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def experimental_should_init(self) -> bool:
        """Whether this task initializes the variables."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def should_checkpoint(self) -> bool:
        """Whether this task writes checkpoints."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def should_save_summary(self) -> bool:
        """Whether this task writes summaries."""
        raise NotImplementedError("must be implemented in descendants")

    # --- clusters -------------------------------------------------------------------

    @property
    def _all_workers_step_together(self) -> bool:
        """Whether a step of one worker waits for those of all others."""
        return False

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Says which task of a cluster this is; nothing changes here."""

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)
