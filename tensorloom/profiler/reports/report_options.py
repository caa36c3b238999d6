"""What a report counts, shows and writes: the options of a profile, checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework import errors

# The numeric limits, in the order in which they are printed.
LIMITS: Final = (
    *("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes"),
    *("min_output_bytes", "min_micros", "min_accelerator_micros", "min_cpu_micros"),
    *("min_params", "min_float_ops", "min_occurrence", "step"),
)
_REGEXES: Final = (
    *("account_type_regexes", "start_name_regexes", "trim_name_regexes"),
    *("show_name_regexes", "hide_name_regexes"),
)
# The places that a report can go to -> the options that each needs.
_OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "timeline": ("outfile",),
    "stdout": (),
    "file": ("outfile",),
    "pprof": ("outfile",),
    "none": (),
}
# What a limit on own or added-up costs is called -> the cost (see `COSTS`).
LEAST: Final = {
    "min_bytes": "requested_bytes",
    "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes",
    "min_output_bytes": "output_bytes",
    "min_micros": "exec_micros",
    "min_accelerator_micros": "accelerator_exec_micros",
    "min_cpu_micros": "cpu_exec_micros",
    "min_params": "parameters",
    "min_float_ops": "float_ops",
}
EVERYTHING: Final = (".*",)


class _Patterns:
    """Whether a name matches one of some regular expressions, as a whole."""

    def __init__(self, option: str, patterns: Sequence[str]) -> None:
        self.texts = tuple(patterns)
        self.is_everything = self.texts == EVERYTHING
        try:
            self._compiled = [re.compile(text) for text in self.texts]
        except re.error as error:
            raise errors.InvalidArgumentError(
                None, None, f"{option}: {error.pattern!r} is no regex: {error}"
            ) from error

    def match(self, name: str) -> bool:
        return self.is_everything or any(
            pattern.fullmatch(name) for pattern in self._compiled
        )


@dataclass
class ReportOptions:
    """The options of one report. See `ProfileOptionBuilder` for what each does."""

    limits: dict[str, int]
    order_by: str
    account: _Patterns
    start: _Patterns
    trim: _Patterns
    show: _Patterns
    hide: _Patterns
    counts_shown_only: bool
    select: frozenset[str]
    output: str
    outfile: str = ""

    @property
    def step(self) -> int:
        """The step to report; -1 for the average of all."""
        return self.limits["step"]

    @property
    def max_depth(self) -> int:
        """How deep the report goes."""
        return self.limits["max_depth"]

    @classmethod
    def from_proto(cls, message: Any) -> ReportOptions:
        """Reads an OptionsProto.

        Raises:
          InvalidArgumentError: `output` is none that there is, or its options are
            wrong; a regular expression is none.
        """
        output, outfile = _parse_output(message.output)
        if message.dump_to_file:
            output, outfile = "file", message.dump_to_file
        account, start, trim, show, hide = (
            _Patterns(name, getattr(message, name)) for name in _REGEXES
        )
        return cls(
            limits={name: getattr(message, name) for name in LIMITS},
            order_by=message.order_by,
            account=account,
            start=start,
            trim=trim,
            show=show,
            hide=hide,
            counts_shown_only=message.account_displayed_op_only,
            select=frozenset(message.select),
            output=output,
            outfile=outfile,
        )

    def text(self) -> str:
        """A line for each option, as TensorFlow prints them before a report."""
        outfile = f"outfile={self.outfile}" if self.outfile else ""
        patterns = (self.account, self.start, self.trim, self.show, self.hide)
        values: dict[str, Any] = {
            **self.limits,
            "order_by": self.order_by,
            **{
                name: ",".join(its.texts)
                for name, its in zip(_REGEXES, patterns, strict=True)
            },
            "account_displayed_op_only": str(self.counts_shown_only).lower(),
            "select": ",".join(sorted(self.select)),
            "output": f"{self.output}:{outfile}",
        }
        return "".join(f"{f'-{name}':28}{value}\n" for name, value in values.items())


def _parse_output(text: str) -> tuple[str, str]:
    """Reads "stdout", "file:outfile=PATH", ...: the kind, and the file."""
    kind, _, rest = (text or "stdout").partition(":")
    if kind not in _OUTPUTS:
        valid = ",".join(sorted(_OUTPUTS))
        raise errors.InvalidArgumentError(
            None, None, f"E.g. Unknown output type: {kind}, Valid types: {valid}\n"
        )
    given: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, is_pair, value = part.partition("=")
        if not is_pair or not value:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Visualize format: -output timeline:key=value,key=value,...",
            )
        if key not in _OUTPUTS[kind]:
            raise errors.InvalidArgumentError(
                None, None, f"Unrecognized options {key} for output_type: {kind}\n"
            )
        given[key] = value
    for key in _OUTPUTS[kind]:
        if key not in given:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Missing required output_options for {kind}\n"
                f"E.g. -output {kind}:{key}=...\n",
            )
    return kind, given.get("outfile", "")
