"""`tf.train.SyncReplicasOptimizer`: one update for the gradients of some replicas."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.queues.accumulators import (
    ConditionalAccumulator,
    SparseConditionalAccumulator,
)
from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.client.variables.variable_lists import (
    global_variables,
    report_uninitialized_variables,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.train.hooks.session_run_hook import SessionRunHook
from tensorloom.train.inputs.queue_runner import QueueRunner
from tensorloom.train.optimizers.optimizer import Optimizer


@export("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """Wraps an optimizer: replicas add their gradients, the chief applies the mean.

    Gradients of an older step than the accumulators' are dropped. A replica goes on to
    its next step when it has got a token, which the chief puts in a queue after each
    update.

    Args:
      opt: computes the gradients and applies them.
      replicas_to_aggregate: how many gradients make an update.
      total_num_replicas: if there are more (backups) or fewer replicas than that.
      variable_averages, variables_to_average: an `ExponentialMovingAverage` to apply
        after each update, and to what.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        program_log.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._global_step: Any = None
        self._token_queue: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        self._accumulators: list[tuple[Any, str]] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients, as the wrapped optimizer computes them."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """What a replica runs: gives its gradients, and waits for its next step.

        The update itself is run by the chief's queue runner.

        Raises:
          ValueError: no gradients, or no global step.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        # Each replica has its own local step: beside an operation of the worker, or
        # a device setter would put all of them in one place on a parameter server.
        with colocate_with(control_flow_ops.no_op()):
            self._local_step = Variable(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = state_ops.assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(
            global_variables()
        )
        with name_scope(None, self._name):
            gives, means = self._accumulate(grads_and_vars)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
            train_op = self._exchange_tokens(gives, update)
            inits = [self.local_step_init_op]
            for accumulator, where in self._accumulators:
                with device(where):
                    inits.append(
                        accumulator.set_global_step(global_step, name="SetGlobalStep")
                    )
            self.chief_init_op = control_flow_ops.group(*inits)
            self._gradients_applied = True
            return train_op

    def _accumulate(self, grads_and_vars: Any) -> tuple[list[Any], list[Any]]:
        """Operations that give the gradients, and (mean, variable) pairs."""
        gives: list[Any] = []
        means: list[Any] = []
        count = self._replicas_to_aggregate
        for gradient, variable in grads_and_vars:
            with device(variable.device):
                if gradient is None:
                    means.append((None, variable))
                    continue
                shared_name = f"{variable.name}/grad_accum"
                accumulator: Any
                if isinstance(gradient, Tensor):
                    accumulator = ConditionalAccumulator(
                        gradient.dtype,
                        shape=variable.get_shape(),
                        shared_name=shared_name,
                    )
                    give, take = accumulator.apply_grad, accumulator.take_grad
                elif isinstance(gradient, IndexedSlices):
                    accumulator = SparseConditionalAccumulator(
                        gradient.dtype, shape=(), shared_name=shared_name
                    )
                    give = accumulator.apply_indexed_slices_grad
                    take = accumulator.take_indexed_slices_grad
                else:
                    raise ValueError("Unknown grad type!")
                gives.append(give(gradient, local_step=self._local_step))
                means.append((take(count), variable))
                self._accumulators.append((accumulator, variable.device))
        return gives, means

    def _exchange_tokens(self, gives: list[Any], update: Any) -> Any:
        step = self._global_step
        with device(step.device), name_scope(""):
            self._token_queue = FIFOQueue(
                -1,
                step.dtype.base_dtype,
                shapes=(),
                name="sync_token_q",
                shared_name="sync_token_q",
            )
            # A queue runner wants a queue; nothing is ever put in this one.
            idle = FIFOQueue(
                1,
                dtypes.int32,
                shapes=(),
                name="dummy_queue",
                shared_name="dummy_queue",
            )
        with device(step.device), name_scope(""):
            with control_dependencies(gives):
                token = self._token_queue.dequeue()
            train_op = state_ops.assign(self._local_step, token)
            with control_dependencies([update]):
                tokens = array_ops.fill([self._tokens_per_step], step)
                sync: Any = self._token_queue.enqueue_many((tokens,))
            if self._variable_averages is not None:
                with control_dependencies([sync]), name_scope(""):
                    sync = self._variable_averages.apply(self._variables_to_average)
            self._chief_queue_runner = QueueRunner(idle, [sync])
        return train_op

    def get_chief_queue_runner(self) -> Any:
        """The queue runner that the chief starts: it applies the gradients.

        Raises:
          ValueError: `apply_gradients` was not called.
        """
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The wrapped optimizer's variables."""
        return self._opt.variables()

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the wrapped optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """What the chief runs first: tokens for the replicas' first step.

        Raises:
          ValueError: too few tokens, or `apply_gradients` was not called.
        """
        if not self._gradients_applied:
            raise ValueError(
                "get_init_tokens_op() should be called after apply_gradients()."
            )
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs "
                f"{needed} (needed)"
            )
        if num_tokens <= 0:
            return control_flow_ops.no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            tokens = array_ops.fill([num_tokens], self._global_step)
            op: Operation = self._token_queue.enqueue_many((tokens,))
            return op

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> Any:
        """A session hook that initializes a replica, and starts the chief's part."""
        return SyncReplicasHook(self, is_chief, num_tokens)


class SyncReplicasHook(SessionRunHook):
    """The hook of `SyncReplicasOptimizer.make_session_run_hook`."""

    def __init__(
        self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int
    ) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        """Makes the operations that are run when there is a session.

        Raises:
          ValueError: `apply_gradients` was not called.
        """
        optimizer = self._optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using "
                "the hook."
            )
        self._init_op: Any = optimizer.local_step_init_op
        self._runner: Any = None
        self._init_tokens: Any = None
        if self._is_chief:
            self._init_op = optimizer.chief_init_op
            self._runner = optimizer.get_chief_queue_runner()
            self._init_tokens = optimizer.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Initializes the local step, and starts the chief's queue runner.

        Raises:
          RuntimeError: the model's variables are not initialized.
        """
        missing = session.run(self._optimizer.ready_for_local_init_op)
        if missing.size:
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer "
                f"local_init. Init op: {self._init_op.name}, error: Variables not "
                f"initialized: {names}"
            )
        session.run(self._init_op)
        if self._init_tokens is not None:
            session.run(self._init_tokens)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
