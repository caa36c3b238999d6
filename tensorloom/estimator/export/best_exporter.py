"""`tf.estimator.BestExporter`: exports of a model when it is better than before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.export.exporter import (
    Exporter,
    SavedModelExporter,
    check_count,
)
from tensorloom.estimator.export_versions import keep_latest
from tensorloom.estimator.function_arguments import argument_names
from tensorloom.estimator.result_events import results_of_files
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem

_COMPARED = ("best_eval_result", "current_eval_result")


def loss_is_smaller(
    best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
) -> bool:
    """Whether the loss of the second evaluation is below that of the first.

    Raises:
      ValueError: one of them has no loss.
    """
    for name, result in zip(
        _COMPARED, (best_eval_result, current_eval_result), strict=True
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


@export("estimator.BestExporter")
class BestExporter(Exporter):
    """Exports when the model is better than at any evaluation before.

    What was best before this process is read from the event files.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_is_smaller,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Makes an exporter.

        Args:
          name: of its directory.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          event_file_pattern: the event files of evaluations, in the model's directory;
            earlier evaluations do not count when None.
          compare_fn: takes `best_eval_result` and `current_eval_result`, metrics by
            name; whether the second one is better.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
          exports_to_keep: how many exports stay; all when None.

        Raises:
          ValueError: there is no `compare_fn`, it takes other arguments, or
            `exports_to_keep` is not positive.
        """
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _check_compare_fn(compare_fn)
        self._compare_fn = compare_fn
        self._saved_model_exporter = SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: Mapping[str, Any] | None = None
        self._exports_to_keep = check_count(exports_to_keep)

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self._saved_model_exporter.name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint if it is the best so far; None if it is not."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            program_log.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_of_files(
                filesystem.join(estimator.model_dir, self._event_file_pattern)
            )
        best = self._best_eval_result
        if best is not None and not self._compare_fn(
            best_eval_result=best, current_eval_result=eval_result
        ):
            return None
        program_log.info("Performing best model export.")
        self._best_eval_result = eval_result
        path = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        keep_latest(export_path, self._exports_to_keep)
        return path

    def _best_of_files(self, pattern: str) -> Mapping[str, Any] | None:
        """The best of all evaluations that are in event files."""
        best: Mapping[str, Any] | None = None
        for _, metrics in results_of_files(pattern):
            if best is None or self._compare_fn(
                best_eval_result=best, current_eval_result=metrics
            ):
                best = metrics
        return best


def _check_compare_fn(compare_fn: Callable[..., bool]) -> None:
    names = argument_names(compare_fn)
    for name in _COMPARED:
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    unknown = sorted(set(names) - set(_COMPARED))
    if unknown:
        raise ValueError(
            f"compare_fn ({compare_fn}) has following not expected args: {unknown}"
        )
