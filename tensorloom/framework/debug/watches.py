"""What a debugger asks of a step: `DebugOptions`, decoded.

A watch names a tensor, the debug ops that look at it, and the URLs that hear of it. A
step that nobody debugs has none of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

ANY_NODE: Final = "*"


@dataclass(frozen=True, slots=True)
class DebugWatch:
    """One watch."""

    node_name: str  # `ANY_NODE`: all that have no watch of their own
    output_slot: int  # -1 for all nodes
    debug_ops: tuple[str, ...]  # `DebugIdentity`, or with attrs `Op(name=value;...)`
    debug_urls: tuple[str, ...]
    tolerates_failures: bool = False  # of a debug op that has no kernel for the dtype


@dataclass(frozen=True, slots=True)
class DebugWatches:
    """All watches of a step."""

    watches: tuple[DebugWatch, ...]
    global_step: int = 0
    resets_disk_usage: bool = False

    @property
    def urls(self) -> tuple[str, ...]:
        """Each URL once."""
        found = (url for watch in self.watches for url in watch.debug_urls)
        return tuple(dict.fromkeys(found))


def is_debugged(run_options: Any) -> bool:
    """Whether a `RunOptions` asks for a debugger; whatever else it is."""
    options = getattr(run_options, "debug_options", None)
    return options is not None and bool(options.debug_tensor_watch_opts)


def decode(options: Any) -> DebugWatches | None:
    """The watches of a `DebugOptions`; None where it watches nothing."""
    if not options.debug_tensor_watch_opts:
        return None
    return DebugWatches(
        tuple(
            DebugWatch(
                watch.node_name,
                watch.output_slot,
                tuple(watch.debug_ops),
                tuple(watch.debug_urls),
                watch.tolerate_debug_op_creation_failures,
            )
            for watch in options.debug_tensor_watch_opts
        ),
        options.global_step,
        options.reset_disk_byte_usage,
    )


def encode(watches: DebugWatches, options: Any) -> None:
    """Fills an empty `DebugOptions`."""
    for watch in watches.watches:
        options.debug_tensor_watch_opts.add(
            node_name=watch.node_name,
            output_slot=watch.output_slot,
            debug_ops=watch.debug_ops,
            debug_urls=watch.debug_urls,
            tolerate_debug_op_creation_failures=watch.tolerates_failures,
        )
    options.global_step = watches.global_step
    options.reset_disk_byte_usage = watches.resets_disk_usage


def parse_debug_op(text: str) -> tuple[str, dict[str, str]]:
    """The op and the attrs of `DebugNumericSummary(lower_bound=-9;mute_if_healthy=1)`.

    Raises:
      ValueError: it is not of this form, or names an attr twice.
    """
    op, bracket, rest = text.partition("(")
    if not bracket and ")" not in text:
        return text, {}
    if not op or not rest.endswith(")") or ")" in rest[:-1]:
        raise ValueError(f'Malformed debug op name "{text}"')
    attrs: dict[str, str] = {}
    for name, value in _pairs(rest[:-1].split(";"), text):
        if name in attrs:
            raise ValueError(
                f'Duplicate attribute name "{name}" found in the debug op: "{text}"'
            )
        attrs[name] = value
    return op, attrs


def _pairs(segments: Iterable[str], text: str) -> Iterable[tuple[str, str]]:
    for segment in filter(None, (s.strip() for s in segments)):
        name, _, value = segment.partition("=")
        if not name or not value:
            raise ValueError(f'Malformed attributes in debug op name "{text}"')
        yield name, value
