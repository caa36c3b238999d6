"""Says in a `RunOptions` which tensors a debugger watches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_OneOrMany = str | Sequence[str] | None


def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: _OneOrMany = "DebugIdentity",
    debug_urls: _OneOrMany = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Adds a watch of one tensor to a `RunOptions`.

    Args:
      run_options: the message.
      node_name: of the node, or "*" with the output -1 for all without a watch.
      output_slot: which of its outputs.
      debug_ops: one or several debug ops; `DebugNumericSummary(mute_if_healthy=true)`
        gives one attrs.
      debug_urls: where they publish: `file:///tmp/dump`, `grpc://host:port`.
      tolerate_debug_op_creation_failures: leave out a debug op that has no kernel for
        the dtype, instead of failing.
      global_step: comes into the dump's metadata.
    """
    options = run_options.debug_options
    options.global_step = global_step
    options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        debug_ops=_listed(debug_ops),
        debug_urls=_listed(debug_urls),
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )


def _listed(one_or_many: _OneOrMany) -> list[str]:
    if not one_or_many:
        return []
    return [one_or_many] if isinstance(one_or_many, str) else list(one_or_many)


def watch_graph(
    run_options: Any,
    graph: Any,
    debug_ops: _OneOrMany = "DebugIdentity",
    debug_urls: _OneOrMany = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Adds a watch of each tensor of a graph, or of those that match all patterns.

    Without a pattern the nodes that the runtime adds are watched, too.

    Args:
      graph: a `tf.Graph`; the rest as for `add_debug_tensor_watch`.
      node_name_regex_whitelist: what the name of the node begins with.
      op_type_regex_whitelist: what its op begins with.
      tensor_dtype_regex_whitelist: what the name of the dtype begins with.
      reset_disk_byte_usage: count the bytes of dumps from 0 again.

    Raises:
      ValueError: there is no debug op, or no URL.
    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    patterns = _patterns(
        node_name_regex_whitelist,
        op_type_regex_whitelist,
        tensor_dtype_regex_whitelist,
    )

    def is_watched(*texts: str) -> bool:
        return all(
            p is None or p.match(t) for p, t in zip(patterns, texts, strict=True)
        )

    arguments = (
        debug_ops,
        debug_urls,
        tolerate_debug_op_creation_failures,
        global_step,
    )
    _watch(run_options, graph, is_watched, arguments)
    if patterns == [None] * 3:
        add_debug_tensor_watch(run_options, "*", -1, *arguments)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options: Any,
    graph: Any,
    debug_ops: _OneOrMany = "DebugIdentity",
    debug_urls: _OneOrMany = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Adds a watch of each tensor of a graph that matches none of the patterns.

    The arguments are those of `watch_graph`.
    """
    patterns = _patterns(
        node_name_regex_blacklist,
        op_type_regex_blacklist,
        tensor_dtype_regex_blacklist,
    )

    def is_watched(*texts: str) -> bool:
        return not any(
            p is not None and p.match(t) for p, t in zip(patterns, texts, strict=True)
        )

    arguments = (
        debug_ops,
        debug_urls,
        tolerate_debug_op_creation_failures,
        global_step,
    )
    _watch(run_options, graph, is_watched, arguments)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _patterns(*texts: str | None) -> list[re.Pattern[str] | None]:
    return [re.compile(text) if text else None for text in texts]


def _watch(
    run_options: Any,
    graph: Any,
    is_watched: Callable[..., bool],
    arguments: tuple[Any, ...],
) -> None:
    for operation in graph.get_operations():
        for slot, tensor in enumerate(operation.outputs):
            if is_watched(operation.name, operation.type, tensor.dtype.name):
                add_debug_tensor_watch(run_options, operation.name, slot, *arguments)
