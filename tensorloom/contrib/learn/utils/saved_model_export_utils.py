"""Strategies that export a model as a SavedModel, and which exports stay."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_str_any
from tensorloom.contrib.layers.columns.parsing import create_feature_spec_for_parsing
from tensorloom.contrib.learn.export_strategies import ExportStrategy
from tensorloom.contrib.learn.keys import MetricKey
from tensorloom.contrib.learn.utils import gc, input_fn_utils
from tensorloom.contrib.learn.utils.signature_choice import (  # noqa: F401
    DEFAULT_INPUT_ALTERNATIVE_KEY,
    FEATURES_INPUT_ALTERNATIVE_KEY,
    build_all_signature_defs,
    build_standardized_signature_def,
    get_input_alternatives,
    get_output_alternatives,
)
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.estimator.export.directories import (  # noqa: F401
    get_temp_export_dir,
    get_timestamped_export_dir,
)
from tensorloom.estimator.export.receiver_fns import (
    build_parsing_serving_input_receiver_fn,
)
from tensorloom.estimator.result_events import results_of_files
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.storage.files import gfile
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint


def _export_version_parser(path: Any) -> Any:
    name = os.path.basename(path.path)
    if len(name) == 10 and name.isdigit():
        return path._replace(export_version=int(name))
    return None


def get_most_recent_export(export_dir_base: Any) -> Any:
    """The latest export in a directory, as a `gc.Path`; None if there is none."""
    newest = gc.largest_export_versions(1)
    found = newest(gc.get_paths(export_dir_base, parser=_export_version_parser))
    return found[0] if found else None


def garbage_collect_exports(export_dir_base: Any, exports_to_keep: int | None) -> None:
    """Removes all but the latest exports; none when None."""
    if exports_to_keep is None:
        return
    old = gc.negation(gc.largest_export_versions(exports_to_keep))
    for path in old(gc.get_paths(export_dir_base, parser=_export_version_parser)):
        try:
            gfile.delete_recursively(path.path)
        except errors.NotFoundError as error:
            # Another task may have removed it.
            program_log.warning("Can not delete %s recursively: %s", path.path, error)


@export(
    "contrib.learn.make_export_strategy", "contrib.learn.utils.make_export_strategy"
)
def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: Any = None,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports a SavedModel, called `Servo`.

    Args:
      serving_input_fn: gives an `InputFnOps`; for a `tf.estimator.Estimator` a
        `ServingInputReceiver`.
      default_output_alternative_key: which of several outputs is the default.
      assets_extra: files that are copied: their names in `assets.extra`, and paths.
      as_text: whether the SavedModel is written as text.
      exports_to_keep: how many stay; all when None.
      strip_default_attrs: whether attrs of default values are left out.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: Any,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        options: dict[str, Any] = {
            "assets_extra": assets_extra,
            "as_text": as_text,
            "checkpoint_path": checkpoint_path,
            "strip_default_attrs": bool(strip_default_attrs),
        }
        if not isinstance(estimator, CoreEstimator):
            options["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. "
                f"Given: {default_output_alternative_key}"
            )
        result = estimator.export_savedmodel(
            export_dir_base, serving_input_fn, **options
        )
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: Any = None,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """`make_export_strategy` of a model that is fed `tf.Example`s with these columns.

    Args:
      feature_columns: columns of `tf.contrib.layers`.
      default_output_alternative_key: which of several outputs is the default.
      assets_extra: files that are copied.
      as_text: whether the SavedModel is written as text.
      exports_to_keep: how many stay; all when None.
      target_core: whether it is for a `tf.estimator.Estimator`.
      strip_default_attrs: whether attrs of default values are left out.
    """
    spec = create_feature_spec_for_parsing(feature_columns)
    serving: Any = input_fn_utils.build_parsing_serving_input_fn
    if target_core:
        serving = build_parsing_serving_input_receiver_fn
    return make_export_strategy(
        serving(spec),
        default_output_alternative_key=default_output_alternative_key,
        assets_extra=assets_extra,
        as_text=as_text,
        exports_to_keep=exports_to_keep,
        strip_default_attrs=strip_default_attrs,
    )


def _default_compare_fn(curr_best_eval_result: Any, cand_eval_result: Any) -> bool:
    """Whether the second one has the smaller loss."""
    named = {
        "curr_best_eval_result": curr_best_eval_result,
        "cand_eval_result": cand_eval_result,
    }
    for name, result in named.items():
        if not result or MetricKey.LOSS not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    losses = [result[MetricKey.LOSS] for result in named.values()]
    return bool(losses[0] > losses[1])


class BestModelSelector:
    """Knows the best evaluation so far.

    Args:
      event_file_pattern: event files of earlier evaluations.
      compare_fn: whether the second of two results is better; by loss when None.
    """

    def __init__(
        self,
        event_file_pattern: str | None = None,
        compare_fn: Callable[..., bool] | None = None,
    ) -> None:
        self._compare_fn = compare_fn or _default_compare_fn
        self._best_eval_result: Any = None
        for _, result in (
            results_of_files(event_file_pattern) if event_file_pattern else ()
        ):
            self._take_if_better(result)

    def _take_if_better(self, result: Any) -> bool:
        better = self._best_eval_result is None or (
            self._compare_fn(self._best_eval_result, result)
        )
        if better:
            self._best_eval_result = result
        return better

    def update(self, checkpoint_path: Any, eval_result: Any) -> tuple[Any, Any]:
        """The arguments if they are the best so far, or else `("", None)`.

        Raises:
          ValueError: one of them is missing.
        """
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._take_if_better(eval_result):
            return checkpoint_path, eval_result
        return "", None


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[..., bool] | None = None,
    default_output_alternative_key: Any = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports a model when it is better than all before.

    Args:
      serving_input_fn: as in `make_export_strategy`.
      exports_to_keep: how many stay.
      model_dir: where earlier evaluations are.
      event_file_pattern: their event files, below `model_dir`.
      compare_fn: whether the second of two results is better; by loss when None.
      default_output_alternative_key: which of several outputs is the default.
      strip_default_attrs: whether attrs of default values are left out.
    """
    strategy = make_export_strategy(
        serving_input_fn,
        exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs,
    )
    pattern = None
    if model_dir and event_file_pattern:
        pattern = os.path.join(model_dir, event_file_pattern)
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(
        estimator: Any,
        export_dir_base: Any,
        checkpoint_path: Any,
        eval_result: Any = None,
    ) -> Any:
        path = checkpoint_path or latest_checkpoint(estimator.model_dir)
        best_path, best_result = selector.update(path, eval_result)
        if not best_path or best_result is None:
            return ""
        directory = os.path.join(
            as_str_any(export_dir_base), os.path.basename(best_path)
        )
        return strategy.export(estimator, directory, best_path, best_result)

    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(
    base_export_strategy: ExportStrategy,
    post_export_fn: Callable[[Any, Any], Any],
    post_export_name: str | None = None,
) -> ExportStrategy:
    """A strategy that does something with what another one exported.

    Args:
      base_export_strategy: exports first.
      post_export_fn: takes the directory of its export and another directory; gives a
        directory below that, which becomes the export.
      post_export_name: of the strategy; the other one's when None.
    """

    def made(base: str, what: str, message: str) -> str:
        path = os.path.join(base, f"temp-{what}-export-{int(time.time())}")
        if gfile.exists(path):
            raise RuntimeError(message)
        gfile.makedirs(path)
        return path

    def export_fn(
        estimator: Any, export_dir_base: Any, checkpoint_path: Any = None
    ) -> Any:
        base = as_str_any(export_dir_base)
        first = made(base, "base", "Failed to obtain base export directory")
        exported = base_export_strategy.export(estimator, first, checkpoint_path)
        second = made(base, "post", "Failed to obtain temp export directory")
        result = post_export_fn(exported, second)
        if not as_str_any(result).startswith(second):
            raise ValueError(f"post_export_fn must return a sub-directory of {second}")
        final = os.path.join(base, os.path.relpath(as_str_any(result), second))
        if gfile.exists(final):
            raise RuntimeError("Failed to obtain final export directory")
        gfile.rename(result, final)
        gfile.delete_recursively(first)
        gfile.delete_recursively(second)
        return final

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
