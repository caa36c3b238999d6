"""`tf.distribute.Strategy`: how a model is built for several devices."""

from __future__ import annotations

import copy
import json
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn

from tensorloom.client.distribution.reduce_op import ReduceOp, as_reduce_op
from tensorloom.distribute.inputs.input_context import (
    InputContext,
    InputReplicationMode,
)
from tensorloom.distribute.strategies.mode_checks import (
    require_cross_replica_or_default,
)
from tensorloom.framework.export import export
from tensorloom.framework.functions.python_conversion import tf_convert
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("distribute.Strategy", "contrib.distribute.DistributionStrategy")
class Strategy:
    """Base of the strategies: what programs use of them.

    Args:
      extended: a `tf.distribute.StrategyExtended`, which does the work.
    """

    def __init__(self, extended: Any) -> None:
        self._extended = extended
        # While an Estimator builds a model: its loss is the mean of the replicas'.
        self._scale_loss_for_estimator = False

    @property
    def extended(self) -> Any:
        """What libraries use of the strategy."""
        return self._extended

    @contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    def scope(self) -> AbstractContextManager[Any]:
        """Context manager: variables made inside are the strategy's.

        Raises (when it is entered):
          RuntimeError: the scope of another strategy is open.
        """
        scope: AbstractContextManager[Any] = self._extended._scope(self)
        return scope

    def colocate_vars_with(
        self, colocate_with_variable: Any
    ) -> AbstractContextManager[None]:
        """Variables made inside are on the devices of a variable of the strategy."""
        scope: AbstractContextManager[None] = self._extended.colocate_vars_with(
            colocate_with_variable
        )
        return scope

    # --- input --------------------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that divides a dataset's batches among the replicas.

        Its `initialize()` is to be run before the first element.

        Raises:
          ValueError: the dataset's elements are no batches.
        """
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> Any:
        """An iterator over what a function makes: a dataset of replicas' batches.

        Args:
          input_fn: makes of an InputContext a dataset, or a function of no arguments
            that gives an element.

        Raises:
          ValueError: it makes something else, or another mode.
        """
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError(
                f"Input replication mode not supported: {replication_mode!r}"
            )
        with self.scope():
            return self._extended._make_input_fn_iterator(
                input_fn, replication_mode=replication_mode
            )

    def experimental_make_numpy_dataset(
        self, numpy_input: Any, session: Any = None
    ) -> Any:
        """A dataset of the rows of arrays, which a session puts into variables."""
        return self._extended.experimental_make_numpy_dataset(
            numpy_input, session=session
        )

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """A dataset whose iterators divide its batches among the replicas."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> Any:
        """A dataset of replicas' batches, which a function makes for each worker."""
        return self._extended._experimental_distribute_datasets_from_function(
            dataset_fn
        )

    # --- replicas -----------------------------------------------------------------

    def experimental_run(
        self, fn: Callable[..., Any], input_iterator: Any = None
    ) -> Any:
        """Builds `fn` for each replica, of the iterator's next elements.

        Returns:
          The results in one structure, with a part for each replica.
        """
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args=args)

    def experimental_run_v2(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Builds `fn(*args, **kwargs)` for each replica.

        Of distributed values in the arguments each replica gets its part.

        Returns:
          The results in one structure, with a part for each replica.
        """
        with self.scope():
            fn = tf_convert(fn, convert_by_default=False)
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: Any = None) -> Any:
        """One tensor of the values of all replicas: their sum or mean.

        Args:
          reduce_op: SUM or MEAN.
          value: with a part for each replica.
          axis: an axis of the parts that is reduced too; the mean is then over all
            elements of all replicas.

        Raises:
          TypeError: another reduction, or an axis that is no number.
          ValueError: the parts have no such axis.
        """
        require_cross_replica_or_default(self._extended)
        reduce_op = as_reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        if reduce_op == ReduceOp.SUM:
            sums = self.experimental_run_v2(
                lambda v: math_ops.reduce_sum(v, axis=axis), args=(value,)
            )
            return self._extended._reduce(reduce_op, sums)
        if reduce_op != ReduceOp.MEAN:
            raise TypeError(
                "Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: "
                f"{reduce_op!r}"
            )
        if not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        above, below = self.experimental_run_v2(
            _sum_and_size, args=(value,), kwargs={"axis": axis}
        )
        above = self._extended._reduce(ReduceOp.SUM, above)
        below = self._extended._reduce(ReduceOp.SUM, below)
        return math_ops.truediv(above, math_ops.cast(below, above.dtype))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The parts of a value, or a tuple of the value."""
        return self.experimental_local_results(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The parts of a value, or a tuple of the value."""
        parts: tuple[Any, ...] = self._extended._local_results(value)
        return parts

    def group(self, value: Any, name: str | None = None) -> Any:
        """An operation that runs all parts of a value."""
        return self._extended._group(value, name)

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        count: int = self._extended._num_replicas_in_sync
        return count

    # --- clusters -----------------------------------------------------------------

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Says which task of a cluster this is; changes the session's configuration."""
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a ConfigProto with what the strategy needs."""
        return self._extended._update_config_proto(config_proto)

    def _in_multi_worker_mode(self) -> bool:
        config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        return bool(config) and "master" not in config.get("cluster", {})

    def __deepcopy__(self, memo: dict[int, Any]) -> Strategy:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            setattr(made, name, copy.deepcopy(value, memo))
        made._extended._container_strategy_weakref = weakref.ref(made)
        return made

    def __copy__(self) -> NoReturn:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def _sum_and_size(v: Any, axis: int) -> tuple[Any, Any]:
    """The sum along an axis, and how long that is."""
    total = math_ops.reduce_sum(v, axis=axis)
    rank = v.shape.rank
    if rank is None:
        size = array_ops.shape(v, out_type=dtypes.int64)
        return total, size[axis if axis >= 0 else axis + array_ops.rank(v)]
    if not -rank <= axis < rank:
        raise ValueError(f"`axis` = {axis!r} out of range for `value` with rank {rank}")
    length = v.shape[axis].value
    if length is not None:
        return total, length
    if rank == 1:
        return total, array_ops.size(v, out_type=dtypes.int64)
    return total, array_ops.shape(v, out_type=dtypes.int64)[axis % rank]
