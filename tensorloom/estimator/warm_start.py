"""`tf.estimator.WarmStartSettings`: an Estimator that starts with another's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.saved_model.export_directory import variables_path
from tensorloom.storage.files import filesystem


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


@export("estimator.WarmStartSettings")
class WarmStartSettings(_Settings):
    """Which variables start with which values of a checkpoint.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a directory of checkpoints, whose latest
        one is taken.
      vars_to_warm_start: a regular expression: those trainable variables; a list of
        expressions: those of all variables; a list of variables; None: those with a
        `VocabInfo` only.
      var_name_to_vocab_info: `VocabInfo`s by the names of variables whose rows or
        columns belong to words, which have changed.
      var_name_to_prev_var_name: names in the checkpoint by names now, where they
        differ.

    Raises:
      ValueError: there is no checkpoint.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError(
                "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"
            )
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that an Estimator's argument `warm_start_from` stands for.

    Args:
      warm_start_from: settings; the path of a checkpoint, of a directory of
        checkpoints, or of a SavedModel; or None.

    Raises:
      ValueError: it is something else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, str | bytes):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    path = filesystem.path_text(warm_start_from)
    variables = variables_path(path)
    if filesystem.exists(f"{variables}.index"):
        program_log.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)
