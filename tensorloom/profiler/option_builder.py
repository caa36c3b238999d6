"""`tf.profiler.ProfileOptionBuilder`: the options of a profile, step by step."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.profiler.op_log import TRAINABLE_VARIABLES
from tensorloom.protos.tfprof_options_pb2 import AdvisorOptionsProto, OptionsProto

_DEFAULTS: Final[dict[str, Any]] = {
    "max_depth": 100,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": False,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}
_EVERYTHING: Final = {"max_depth": 10000, "account_displayed_op_only": True}


def _options(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy({**_DEFAULTS, **changes})


@export("profiler.ProfileOptionBuilder")
class ProfileOptionBuilder:
    """Builds the dict of options that `tf.profiler.profile` takes.

    ```python
    builder = tf.profiler.ProfileOptionBuilder
    options = builder(builder.time_and_memory()).with_node_names(
        show_name_regexes=[".*conv.*"]).build()
    ```

    Args:
      options: a dict to begin with; by default, time of all nodes, by name.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self._options: dict[str, Any]
        self._options = copy.deepcopy(dict(_DEFAULTS if options is None else options))

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options that count the parameters of trainable variables."""
        return _options(
            **_EVERYTHING,
            account_type_regexes=[TRAINABLE_VARIABLES],
            select=["params"],
        )

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that count floating-point operations."""
        return _options(
            **_EVERYTHING, min_float_ops=1, order_by="float_ops", select=["float_ops"]
        )

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Options that show time and memory.

        Args:
          min_micros: the least time of a node that is shown, in microseconds.
          min_bytes: the least bytes that it asked for.
          min_accelerator_micros: the least time on a GPU.
          min_cpu_micros: the least time on a CPU.
          min_peak_bytes: the least bytes that it held at one time.
          min_residual_bytes: the least bytes that it still holds afterwards.
          min_output_bytes: the least bytes of its outputs.
        """
        return _options(
            **_EVERYTHING,
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            order_by="micros",
            select=["micros", "bytes"],
        )

    def build(self) -> dict[str, Any]:
        """A copy of the options."""
        return copy.deepcopy(self._options)

    def _with(self, **changes: Any) -> ProfileOptionBuilder:
        self._options.update(changes)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """How deep to show: levels of name scopes, or lines of a list."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Shows nodes with at least that many bytes (see `time_and_memory`)."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self,
        min_micros: int = 0,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
    ) -> ProfileOptionBuilder:
        """Shows nodes that took at least that many microseconds."""
        return self._with(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows nodes with at least that many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows lines that stand for at least that many nodes of the graph."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows nodes of at least that many floating-point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(
        self, account_type_regexes: Sequence[str]
    ) -> ProfileOptionBuilder:
        """Counts nodes of which a type matches: op, device, or a type of the log."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Chooses by name.

        Args:
          start_name_regexes: where the report begins.
          show_name_regexes: what it shows.
          hide_name_regexes: what it does not show of that.
          trim_name_regexes: below what it goes no further.
        """
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(
            **{
                name: copy.copy(value)
                for name, value in given.items()
                if value is not None
            }
        )

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether sums are of what is shown only."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing: the profile is returned alone."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the report to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a timeline for chrome://tracing to `timeline_file` + "_" + step."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Writes a compressed file for the pprof tool; of Python code only."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """What the report is sorted by: "name", "micros", "bytes", "params", ..."""
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """What the report says of each node: "micros", "bytes", "params", ..."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Which step to report (see `Profiler.add_step`); -1: the average of all."""
        return self._with(step=step)


def options_message(options: Mapping[str, Any]) -> OptionsProto:
    """The options as the message that the profiler's tools share."""
    values = {"max_depth": 10, "step": -1, "order_by": "name", "output": "stdout"}
    known = OptionsProto.DESCRIPTOR.fields_by_name
    return OptionsProto(
        **{**values, **{k: v for k, v in options.items() if k in known}}
    )


def advice_options_message(
    options: Mapping[str, Mapping[str, str]] | None,
) -> AdvisorOptionsProto:
    """What to advise on: of each checker, its options."""
    message = AdvisorOptionsProto()
    for checker, its_options in (options or {}).items():
        message.checkers[checker].options.update(its_options)
    return message
