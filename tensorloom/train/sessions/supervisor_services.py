"""The threads of a supervisor: summaries, steps per second, checkpoints."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.train import training_util
from tensorloom.train.inputs.coordinator import LooperThread

if TYPE_CHECKING:
    from tensorloom.train.sessions.supervisor import Supervisor


class SVSummaryThread(LooperThread):
    """Writes the summaries every `save_summaries_secs`."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Writes them once."""
        sv = self._sv
        if sv.global_step is not None:
            summaries, step = self._sess.run([sv.summary_op, sv.global_step])
        else:
            summaries, step = self._sess.run(sv.summary_op), None
        if sv.summary_writer:
            program_log.info("Recording summary at step %s.", step)
            sv.summary_writer.add_summary(summaries, step)


class SVStepCounterThread(LooperThread):
    """Writes global steps per second every `save_summaries_secs`."""

    def __init__(self, sv: Supervisor, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._last_time = 0.0
        self._last_step = 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        """Counts from now."""
        self._last_time = time.time()
        self._last_step = training_util.global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Writes the count since the time before."""
        from tensorloom.protos.summary_pb2 import Summary

        step = training_util.global_step(self._sess, self._step_counter)
        now = time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        rate = steps / seconds if seconds > 0 else float("inf")
        value = Summary.Value(tag=self._summary_tag, simple_value=rate)
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        program_log.log_first_n(program_log.INFO, "%s: %g", 10, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves a checkpoint every `save_model_secs`."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Saves one."""
        sv = self._sv
        program_log.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            from tensorloom.protos.event_pb2 import SessionLog

            assert sv.save_path is not None
            sv.summary_writer.add_session_log(
                SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=sv.save_path),
                training_util.global_step(self._sess, sv.global_step),
            )
