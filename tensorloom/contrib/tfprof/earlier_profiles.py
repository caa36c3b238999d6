"""`tf.contrib.tfprof.model_analyzer` and `tfprof_logger`: deprecated since 1.3."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.framework.export import export, export_value
from tensorloom.profiler import advice, profiler
from tensorloom.profiler.op_log import write_op_log as current_write_op_log
from tensorloom.profiler.option_builder import ProfileOptionBuilder

_BASE: Final = "contrib.tfprof.model_analyzer"
_SINCE: Final = "2018-01-01"


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    kept = {name: value for name, value in options.items() if name not in names}
    return {**kept, "dump_to_file": ""}


export_value(
    _without(
        ProfileOptionBuilder.trainable_variables_parameter(), "min_occurrence", "step"
    ),
    f"{_BASE}.TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
)
export_value(
    _without(ProfileOptionBuilder.float_operation(), "min_occurrence", "step"),
    f"{_BASE}.FLOAT_OPS_OPTIONS",
)
export_value(
    _without(ProfileOptionBuilder.time_and_memory(), "min_occurrence", "step"),
    f"{_BASE}.PRINT_ALL_TIMING_MEMORY",
)
export_value({name: {} for name in advice.ALL_CHECKERS}, f"{_BASE}.ALL_ADVICE")
export_value(profiler.Profiler, f"{_BASE}.Profiler")
export_value(
    deprecated, f"{_BASE}.deprecated", "contrib.tfprof.tfprof_logger.deprecated"
)


@export(f"{_BASE}.advise")
@deprecated(_SINCE, "Use `tf.profiler.advise(graph, run_meta, options)`.")
def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = 0) -> Any:
    """`tf.profiler.advise`."""
    return profiler.advise(graph, run_meta, tfprof_options)


@export(f"{_BASE}.print_model_analysis")
@deprecated(_SINCE, "Use `tf.profiler.profile(graph, run_meta, op_log, cmd, options)`.")
def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Any = 0,
) -> Any:
    """`tf.profiler.profile`."""
    return profiler.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


@export("contrib.tfprof.tfprof_logger.write_op_log")
@deprecated(_SINCE, "Use `tf.profiler.write_op_log`.")
def write_op_log(
    graph: Any,
    log_dir: str,
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """`tf.profiler.write_op_log`."""
    current_write_op_log(graph, log_dir, op_log, run_meta, add_trace)
