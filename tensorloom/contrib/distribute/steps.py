"""Training steps over a strategy's replicas, and a monitor that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.gradients.gradient_tape import GradientTape
from tensorloom.client.variables.variable_lists import global_variables_initializer
from tensorloom.framework.errors import OutOfRangeError
from tensorloom.framework.export import export


@export("contrib.distribute.Step")
class Step:
    """Base of steps: a call builds one.

    Args:
      distribution: the strategy.
    """

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> Any:
        """The operations to be run before the first step."""
        return []

    def __call__(self) -> Any:
        """The operation of a step. Raises NotImplementedError here."""
        raise NotImplementedError("must be implemented in descendants")


@export("contrib.distribute.StandardInputStep")
class StandardInputStep(Step):
    """A step with input.

    Args:
      dataset_fn: makes the dataset, of batches of the replicas.
      distribution: the strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        """The operation that begins at the first element."""
        return self._iterator.initialize()


@export("contrib.distribute.StandardSingleLossStep")
class StandardSingleLossStep(StandardInputStep):
    """Lowers one loss.

    Args:
      dataset_fn: makes the dataset, of batches of the replicas.
      loss_fn: `loss_fn(context, elements)` gives a replica's loss.
      optimizer: an optimizer.
      distribution: the strategy.
      iterations_per_step: how many updates a step makes.
    """

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[..., Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ) -> None:
        super().__init__(dataset_fn, distribution)
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        """The operation of a step."""
        extended = self.distribution.extended

        def step(context: Any, inputs: Any) -> Any:
            pairs = extended.call_for_each_replica(
                self._gradients, args=(context, inputs)
            )
            return self._optimizer._distributed_apply(self.distribution, pairs)

        with self.distribution.scope():
            context = extended.experimental_run_steps_on_iterator(
                step, self._iterator, self._iterations_per_step
            )
            return context.run_op

    def _gradients(self, *args: Any) -> list[tuple[Any, Any]]:
        """Pairs (gradient, variable) of the variables that a replica's loss reads."""
        with GradientTape() as tape:
            loss = self._loss_fn(*args)
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being "
                "computed."
            )
        gradients = tape.gradient(loss, variables)
        pairs = zip(gradients, variables, strict=True)
        return [(gradient, v) for gradient, v in pairs if gradient is not None]


@export("contrib.distribute.Monitor")
class Monitor:
    """Runs steps in a session.

    Args:
      step_callable: a Step.
      session: runs them; variables are initialized.

    Raises:
      ValueError: there is no session.
    """

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs so many steps, or until the input ends."""
        step = 0
        while num_steps is None or step < num_steps:
            try:
                self._run_step()
            except OutOfRangeError:
                break
            step += 1
