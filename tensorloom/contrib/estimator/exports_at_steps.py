"""`StepsExporter`: exports at given steps of a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.export.exporter import Exporter, SavedModelExporter
from tensorloom.storage.files import filesystem
from tensorloom.summary.summary_iterator import summary_iterator

_STEP = "global_step"


class StepsExporter(Exporter):
    """Exports at the first evaluation at or after each of some steps.

    With `steps_to_keep=[1, 2, 3, 6, 7, 10, 12, 25]` and evaluations every 5 steps it
    exports at steps 5, 10, 15 and 25. All exports are kept.
    """

    def __init__(
        self,
        steps_to_keep: Sequence[int],
        name: str = "steps_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
    ) -> None:
        """Makes an exporter.

        Args:
          steps_to_keep: positive steps; anything else among them is left out.
          name: of its directory.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          event_file_pattern: of files in the model's directory that say which steps
            were evaluated before a restart; None: forget them.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: whether the SavedModel is written as text.

        Raises:
          ValueError: there is no positive step.
        """
        self._exporter = SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )
        self._event_file_pattern = event_file_pattern
        self._model_dir: Any = None
        steps = [step for step in steps_to_keep if isinstance(step, int) and step > 0]
        if not steps:
            raise ValueError(
                "`steps_to_keep` list must have at least one positive integer"
            )
        if steps_to_keep != steps:
            program_log.warning(
                "Changed `steps_to_keep`, by omitting non-integer or less than 1 "
                f"elements, to [{_listed(steps)}]"
            )
        self._steps_to_keep = sorted(steps)

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self._exporter.name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint if a step is due; see `Exporter.export`.

        Raises:
          ValueError: `eval_result` has no `global_step`.
        """
        if not eval_result or _STEP not in eval_result:
            raise ValueError(
                "`eval_result` is empty, or does not have global step. This should "
                "never happen as Estimator always sets the global step in "
                f"`eval_result`. Please file a bug report. Got eval_result: "
                f"{eval_result}"
            )
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            self._forget_steps_before(estimator.model_dir)
        now = eval_result[_STEP]
        due = [step for step in self._steps_to_keep if step <= now]
        if not due:
            return None
        result = self._exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        self._steps_to_keep = [step for step in self._steps_to_keep if step > now]
        _report(due, now)
        return result

    def _forget_steps_before(self, model_dir: Any) -> None:
        """Leaves out the steps that were due before the program's last restart."""
        program_log.info(
            "Loads the steps that the model was already evaluated at, from event files"
        )
        self._model_dir = model_dir
        pattern = filesystem.join(model_dir, str(self._event_file_pattern))
        seen = [
            event.step
            for path in filesystem.glob(pattern)
            for event in summary_iterator(path)
        ]
        last = max(seen, default=0)
        self._steps_to_keep = [step for step in self._steps_to_keep if step > last]


def _report(due: Sequence[int], now: int) -> None:
    *missed, last = due
    if missed:
        program_log.warning(
            f"Missed steps [{_listed(missed)}] for exporting, as no evaluation took "
            "place at them."
        )
    if last == now:
        program_log.info(f"Performing model export at step {now}.")
    else:
        program_log.warning(
            f"Performing model export at step {now} instead of {last}, as no "
            f"evaluation took place at step {last}."
        )


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(map(str, steps))
