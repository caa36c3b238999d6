"""`tf.train.FinalOpsHook`: values at the end of a session."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.train.hooks.session_run_hook import SessionRunHook


@export("train.FinalOpsHook", "estimator.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs operations at the end, and keeps their values.

    Args:
      final_ops: structure as for `Session.run`, or None.
      final_ops_feed_dict: feeds for it.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values, in the structure of `final_ops`; None before the end."""
        return self._final_ops_values

    def end(self, session: Any) -> None:
        """Runs them.

        Raises:
          OutOfRangeError: they read from an input that is used up.
        """
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(
                self._final_ops, feed_dict=self._final_ops_feed_dict
            )
        except (errors.OutOfRangeError, StopIteration):
            program_log.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code "
                "in FinalOpsHook. The operations that it runs have a dependency back "
                "to some input source, which is used up. For tf.estimator.Estimator, "
                "a metric has a `value_op` and an `update_op`: `update_op` is run for "
                "each batch, `value_op` at the end, by FinalOpsHook. A `value_op` "
                "should only read variables, not another batch. Please fix that."
            )
            raise
