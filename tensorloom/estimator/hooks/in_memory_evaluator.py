"""`InMemoryEvaluatorHook`: evaluations in training, without checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.estimator_base import check_hooks
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, get_collection
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.state.reference_variable import assign
from tensorloom.train.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import SecondOrStepTimer
from tensorloom.train.sessions.scaffold import Scaffold

if TYPE_CHECKING:
    from tensorloom.estimator.estimator import Estimator


@export("estimator.experimental.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates a model every so many steps; its variables are copied to the graph.

    That is quicker than by way of a checkpoint. It works on a single machine.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        """Makes a hook.

        Args:
          estimator: the model that is trained.
          input_fn: as of `Estimator.evaluate`.
          steps: how many batches; until the input ends when None.
          hooks: hooks of the evaluation.
          name: of the evaluation, where there are several.
          every_n_iter: runs of the training session between two evaluations.

        Raises:
          ValueError: `every_n_iter` is not positive, or there is a cluster.
        """
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError(
                "InMemoryEvaluator supports only single machine (aka Local) setting. "
                f"Found {config.num_worker_replicas} workers and "
                f"{config.num_ps_replicas} parameter servers."
            )
        self._estimator = estimator
        self._input_fn = input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = check_hooks(hooks)
        self._hooks.extend(estimator._convert_eval_steps_to_hooks(steps))
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Makes the graph of the evaluation.

        Raises:
          ValueError: the model brings a saver or an initialization of its own.
        """
        self._timer.reset()
        self._iter_count = 0
        self._graph = Graph()
        with self._graph.as_default():
            self._evaluation = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None
            )
            scaffold = self._evaluation[0]
            if scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._eval_variables = _variables_by_name()
            self._placeholders = {
                name: placeholder(variable.dtype.base_dtype)
                for name, variable in self._eval_variables.items()
            }

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the first values.

        Raises:
          ValueError: checkpoints would hold more than variables.
        """
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global "
                "variables."
            )
        self._train_variables = {
            name: variable
            for name, variable in _variables_by_name().items()
            if name in self._eval_variables
        }
        with self._graph.as_default():
            self._copy_op = group(
                *(
                    assign(self._eval_variables[name], self._placeholders[name])
                    for name in self._train_variables
                )
            )
        self._evaluate(session)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Evaluates if it is time."""
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates the last values."""
        self._evaluate(session)

    def _evaluate(self, train_session: Any) -> None:
        values = train_session.run(self._train_variables)
        feeds = {self._placeholders[name]: value for name, value in values.items()}

        def copy_variables(scaffold: Any, session: Any) -> None:
            session.run(self._copy_op, feed_dict=feeds)

        scaffold, update_op, eval_dict, all_hooks = self._evaluation
        with self._graph.as_default():
            self._estimator._evaluate_run(
                checkpoint_path=None,
                scaffold=Scaffold(init_fn=copy_variables, copy_from_scaffold=scaffold),
                update_op=update_op,
                eval_dict=eval_dict,
                all_hooks=all_hooks,
                output_dir=self._eval_dir,
            )
        self._timer.update_last_triggered_step(self._iter_count)


def _variables_by_name() -> dict[str, Any]:
    return {
        variable.name: variable
        for variable in get_collection(GraphKeys.GLOBAL_VARIABLES)
    }
