"""Hooks that lead training through sweeps over rows and over columns."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

# The name of the variable that counts them.
COMPLETED_SWEEPS = "completed_sweeps"


class Sweeps(SessionRunHook):
    """Runs what prepares a sweep, and asks for the training of the present one."""

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Any,
        row_prep_ops: list[Any],
        col_prep_ops: list[Any],
        row_train_op: Any,
        col_train_op: Any,
        switch_op: Any,
    ) -> None:
        """Makes the hook.

        Args:
          is_row_sweep_var, is_sweep_done_var: variables that say where training is.
          init_op: runs once, before the first step.
          row_prep_ops, col_prep_ops: run, one by one, before a sweep.
          row_train_op, col_train_op: a step of a sweep.
          switch_op: runs between two sweeps.
        """
        self._is_row_sweep_var = is_row_sweep_var
        self._is_sweep_done_var = is_sweep_done_var
        self._init_op = init_op
        self._prep_ops = {True: row_prep_ops, False: col_prep_ops}
        self._train_ops = {True: row_train_op, False: col_train_op}
        self._switch_op = switch_op
        self._is_initialized = False

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Prepares a sweep where one begins."""
        session = run_context.session
        is_done = session.run(self._is_sweep_done_var)
        if not self._is_initialized:
            program_log.info("SweepHook running init op.")
            session.run(self._init_op)
        if is_done:
            program_log.info("SweepHook starting the next sweep.")
            session.run(self._switch_op)
        is_row_sweep = bool(session.run(self._is_row_sweep_var))
        if is_done or not self._is_initialized:
            side = "row" if is_row_sweep else "col"
            program_log.info(f"SweepHook running prep ops for the {side} sweep.")
            for op in self._prep_ops[is_row_sweep]:
                session.run(op)
        self._is_initialized = True
        program_log.info("Next fit step starting.")
        return SessionRunArgs(fetches=[self._train_ops[is_row_sweep]])


class IncrementGlobalStep(SessionRunHook):
    """Counts the steps."""

    def __init__(self) -> None:
        """Takes the step of the default graph, if it has one."""
        step = training_util.get_global_step()
        self._op = None
        if step is not None:
            self._op = assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        """Counts."""
        if self._op is not None:
            run_context.session.run(self._op)


class StopAtSweep(SessionRunHook):
    """Ends training after some sweeps."""

    def __init__(self, last_sweep: int) -> None:
        """Makes the hook.

        Args:
          last_sweep: how many.
        """
        self._last_sweep = last_sweep
        self._count: Any = None

    def begin(self) -> None:
        """Finds the counter.

        Raises:
          RuntimeError: there is none.
        """
        try:
            graph = get_default_graph()
            self._count = graph.get_tensor_by_name(f"{COMPLETED_SWEEPS}:0")
        except KeyError:
            raise RuntimeError(
                f"{COMPLETED_SWEEPS} counter should be created to use StopAtSweepHook."
            ) from None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks at it. A run of its own does, as the step has changed the counter."""
        if run_context.session.run(self._count) >= self._last_sweep:
            run_context.request_stop()
