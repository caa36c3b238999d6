"""The strategy outside of strategies: one replica, which is a plain call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.client.distribution import thread_modes
from tensorloom.client.distribution.thread_modes import has_strategy
from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.distribute.inputs.input_context import InputContext
from tensorloom.distribute.inputs.numpy_input import one_host_numpy_dataset
from tensorloom.distribute.strategies.extended import StrategyExtended
from tensorloom.distribute.strategies.mode_checks import require_strategy_scope
from tensorloom.distribute.strategies.replica_context import ReplicaContext
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.distribute.values.update_context import UpdateContext
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, get_default_graph
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp


class DefaultStrategy(Strategy):
    """One replica, which is a plain call."""

    def __init__(self) -> None:
        super().__init__(DefaultExtended(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise RuntimeError(
            "Should only create a single instance of _DefaultDistributionStrategy"
        )


class DefaultInputIterator:
    """An iterator over a dataset, for one replica."""

    def __init__(self, dataset: Any) -> None:
        self._iterator = dataset.make_initializable_iterator()

    def get_next(self) -> Any:
        """The next element."""
        return self._iterator.get_next()

    def initialize(self) -> list[Any]:
        """The operations that begin at the first element."""
        return [self._iterator.initializer]


class DefaultExtended(StrategyExtended):
    """What the default strategy does."""

    _is_default = True

    def _scope(self, strategy: Any) -> AbstractContextManager[Any]:
        @contextmanager
        def scope() -> Any:
            if has_strategy():
                raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")

            def creator(next_creator: Any, **options: Any) -> Any:
                require_strategy_scope(self)
                return next_creator(**options)

            with variable_creator_scope(creator):
                yield strategy

        return scope()

    def colocate_vars_with(
        self, colocate_with_variable: Any
    ) -> AbstractContextManager[None]:
        """What is made inside is on the device of a variable."""
        require_strategy_scope(self)
        return colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable is of no other strategy."""
        return getattr(v, "_distribute_strategy", None) is None

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return dataset

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        return dataset_fn(InputContext())

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DefaultInputIterator(dataset)

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = None
    ) -> Any:
        return DefaultInputIterator(input_fn(InputContext()))

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        return one_host_numpy_dataset(numpy_input, None, session)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if destinations is not None:
            raise NotImplementedError(
                "the default strategy has one replica and copies nothing to other "
                f"devices: destinations is {destinations!r}, not None"
            )
        return tensor

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        zero = constant_op.constant(0, dtypes.int32)
        with ReplicaContext(self._container_strategy(), replica_id_in_sync_group=zero):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        with UpdateContext(colocate_with):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def read_var(self, v: Any) -> Any:
        """The variable's value."""
        return identity_ops.identity(v)

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        return (distributed_value,)

    def value_container(self, value: Any) -> Any:
        """The value."""
        return value

    @property
    def _num_replicas_in_sync(self) -> int:
        return 1

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Not known: RuntimeError."""
        raise RuntimeError(
            "worker_devices() method unsupported by default tf.distribute.Strategy."
        )

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Not known: RuntimeError."""
        raise RuntimeError(
            "parameter_devices() method unsupported by default tf.distribute.Strategy."
        )

    def non_slot_devices(self, var_list: Any) -> Any:
        """The first variable by name."""
        return min(var_list, key=lambda v: v.name)

    @property
    def _global_batch_size(self) -> bool:
        return True


@functools.cache
def default_strategy() -> DefaultStrategy:
    """The one default strategy."""
    return DefaultStrategy()


@functools.cache
def _default_replica_context() -> ReplicaContext:
    return ReplicaContext(default_strategy(), replica_id_in_sync_group=0)


@export(
    "distribute.get_strategy",
    "contrib.distribute.get_strategy",
    "contrib.distribute.get_distribution_strategy",
)
def get_strategy() -> Any:
    """The strategy whose scope is open; outside, a default one of one replica."""
    current = thread_modes.current_strategy()
    return default_strategy() if current is None else current


@export("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context() -> Any:
    """The context of the replica that is built for.

    It is None where all replicas are built for; outside of strategies it is that of a
    single replica.
    """
    mode = thread_modes.current_mode()
    return _default_replica_context() if mode is None else mode.replica_context


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: Any) -> None:
    """Opens a strategy's scope until another one is set; None closes it.

    Raises:
      RuntimeError: called inside of a strategy's `with` block.
    """
    graph = get_default_graph()
    old = graph.__dict__.pop("_global_distribute_strategy_scope", None)
    if old is not None:
        old.__exit__(None, None, None)
    if has_strategy():
        raise RuntimeError(
            "Must not be called inside a `tf.distribute.Strategy` scope."
        )
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        graph.__dict__["_global_distribute_strategy_scope"] = scope
