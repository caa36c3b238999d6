"""Which graphs are served: those whose ops the server's policy allows.

A client cannot choose what is run, but a model may come from somebody else. What the
signatures reach is checked against the whole policy. What loading runs beside it (the
restoring of variables, the filling of tables) may read files as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_policy import OpPolicy
    from tensorloom.serving.manager.signature import Signature

#: What loading needs.
_LOADING: Final = (
    "*Restore*",
    "MergeV2Checkpoints",
    "InitializeTableFromTextFile*",
    "*Shard*Filename*",
    "PrintV2",
)


class ServedOps:
    """A policy for the graphs of models."""

    def __init__(self, policy: OpPolicy, allowed: Sequence[str] = ()) -> None:
        """Takes a policy, and names or patterns of ops that it does not refuse here."""
        self._policy = policy
        self._allowed = tuple(allowed)

    def check(self, meta_graph_def: Any, signatures: Iterable[Signature]) -> None:
        """Checks a model before any of it is run.

        Raises:
          errors.PermissionDeniedError: it has an op that is refused.
        """
        if self._policy.is_open:
            return
        reach = _Reach(meta_graph_def.graph_def)
        for signature in signatures:
            fed = {slot.tensor.split(":")[0] for slot in signature.inputs.values()}
            outputs = [slot.tensor for slot in signature.outputs.values()]
            self._check(reach.nodes(outputs, fed), self._allowed)
        started = _loading_nodes(meta_graph_def)
        self._check(reach.nodes(started, set()), (*self._allowed, *_LOADING))

    def _check(self, nodes: Iterable[Any], allowed: Sequence[str]) -> None:
        for node in nodes:
            if self._policy.allows(node.op):
                continue
            if any(fnmatchcase(node.op, pattern) for pattern in allowed):
                continue
            raise errors.PermissionDeniedError(
                None,
                None,
                f"Node '{node.name}' is of op {node.op}, which this server does not "
                f"run for models; start it with --allow_ops={node.op} if this model "
                "may be trusted",
            )


def _loading_nodes(meta_graph_def: Any) -> list[str]:
    """The nodes from which loading starts."""
    names = [meta_graph_def.saver_def.restore_op_name]
    for key, signature_def in meta_graph_def.signature_def.items():
        if key == "__saved_model_init_op":
            names += [info.name for info in signature_def.outputs.values()]
    for key in ("saved_model_main_op", "legacy_init_op"):
        if key in meta_graph_def.collection_def:
            names += meta_graph_def.collection_def[key].node_list.value
    return [name for name in names if name]


class _Reach:
    """What a graph's nodes need, functions included."""

    def __init__(self, graph_def: Any) -> None:
        self._nodes = {node.name: node for node in graph_def.node}
        self._functions = {f.signature.name: f for f in graph_def.library.function}

    def nodes(self, wanted: Iterable[str], fed: set[str]) -> Iterable[Any]:
        """All nodes that computing `wanted` runs, where `fed` is given."""
        seen: set[str] = set()
        called: set[str] = set()
        waiting = [_node_name(name) for name in wanted]
        while waiting:
            name = waiting.pop()
            if name in seen or name in fed or name not in self._nodes:
                continue
            seen.add(name)
            node = self._nodes[name]
            waiting.extend(_node_name(source) for source in node.input)
            yield node
            yield from self._called_by(node, called)

    def _called_by(self, node: Any, called: set[str]) -> Iterable[Any]:
        waiting = [node]
        while waiting:
            current = waiting.pop()
            for name in _functions_of(current):
                if name in self._functions and name not in called:
                    called.add(name)
                    body = self._functions[name].node_def
                    yield from body
                    waiting.extend(body)


def _node_name(source: str) -> str:
    return source.removeprefix("^").split(":")[0]


def _functions_of(node: Any) -> list[str]:
    """The names of functions that a node may call."""
    names = [node.op]
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        if kind == "func":
            names.append(value.func.name)
        elif kind == "list":
            names.extend(func.name for func in value.list.func)
    return names
