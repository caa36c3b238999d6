"""`tf.estimator.Exporter`: exports of a model while it is trained."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.export_versions import keep_latest
from tensorloom.framework.export import export


@export("estimator.Exporter")
class Exporter(abc.ABC):
    """Exports a model after its evaluations."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of its directory."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Exports a checkpoint, or does not.

        Args:
          estimator: the model.
          export_path: the directory of this exporter.
          checkpoint_path: the checkpoint that was evaluated.
          eval_result: its metrics by name.
          is_the_final_export: whether the training is over.

        Returns:
          The path of the export; None if there is none.
        """


class SavedModelExporter(Exporter):
    """Exports every time."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint."""
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


@export("estimator.FinalExporter")
class FinalExporter(Exporter):
    """Exports once, when the training is over."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
    ) -> None:
        """Makes an exporter.

        Args:
          name: of its directory.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
        """
        self._saved_model_exporter = SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )

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
        """Exports the checkpoint if it is the last one."""
        if not is_the_final_export:
            return None
        program_log.info("Performing the final export in the end of training.")
        return self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


@export("estimator.LatestExporter")
class LatestExporter(Exporter):
    """Exports every time, and keeps the latest exports."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Makes an exporter.

        Args:
          name: of its directory.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
          exports_to_keep: how many exports stay; all when None.

        Raises:
          ValueError: `exports_to_keep` is not positive.
        """
        self._saved_model_exporter = SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )
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
        """Exports the checkpoint and removes what is too old."""
        path = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        keep_latest(export_path, self._exports_to_keep)
        return path


def check_count(exports_to_keep: int | None) -> int | None:
    """How many exports stay.

    Raises:
      ValueError: it is not positive.
    """
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(
            "`exports_to_keep`, if provided, must be positive number. Got "
            f"{exports_to_keep}"
        )
    return exports_to_keep
