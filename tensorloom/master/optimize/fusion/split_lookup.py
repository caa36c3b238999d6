"""Fuses a string split with the table lookup that is the only reader of its words.

before: i, w, s = StringSplit(text, delimiter);  ids = LookupTableFindV2(table, w, d)
after:  ids, i, s = _SplitAndFind(table, text, delimiter, d)

A word costs more to make, to hash and to forget than to find in a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget

_SPLITS = frozenset(["StringSplit", "StringSplitV2"])
_FINDS = frozenset(["LookupTableFindV2"])
_INDICES, _WORDS, _SHAPE = range(3)


def fuse_split_lookup(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such pairs fused, where nobody else reads the words.

    The fused node has the name of the lookup, and stands where the split stood.
    """
    splits = {
        node.name: node
        for node in graph.nodes.values()
        if node.op in _SPLITS and node.name not in target.preserve
    }
    if not splits or not any(node.op in _FINDS for node in graph.nodes.values()):
        return graph
    pairs = _pairs(graph, splits)
    if not pairs:
        return graph
    lookups = {find.name for find in pairs.values()}
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        node = rewriting.current(node)
        if node.name in lookups:
            continue
        if node.name in pairs:
            find = pairs[node.name]
            # Of the words, the fused node's first output, only the lookup reads.
            outputs = [(find.name, 1), (find.name, 0), (find.name, 2)]
            rewriting.redirect(node, outputs)
            node = _fused(node, rewriting.current(find))
        rewriting.keep(node)
    return rewriting.result()


def _pairs(graph: GraphIR, splits: dict[str, Node]) -> dict[str, Node]:
    """The lookup of each split that can be fused, by the split's name."""
    readers: dict[str, list[Node]] = {name: [] for name in splits}
    place = {name: i for i, name in enumerate(graph.nodes)}
    for node in graph.nodes.values():
        for name, index in node.inputs:
            if index == _WORDS and name in readers:
                readers[name].append(node)
    return {
        name: found[0]
        for name, found in readers.items()
        if len(found) == 1 and _fits(splits[name], found[0], place)
    }


def _fits(split: Node, find: Node, place: dict[str, int]) -> bool:
    if find.op not in _FINDS or find.attrs["Tin"] != dtypes.string:
        return False
    if find.inputs[1] != (split.name, _WORDS) or find.inputs[2][0] == split.name:
        return False
    if find.device != split.device or "_class" in split.attrs:
        return False
    # What the lookup needs has to be there where the split stands.
    needed = (find.inputs[0][0], find.inputs[2][0], *find.control_inputs)
    return all(place[name] < place[split.name] for name in needed if name != split.name)


def _fused(split: Node, find: Node) -> Node:
    text, separator = split.inputs
    attrs = {
        **{key: value for key, value in find.attrs.items() if key[0] == "_"},
        "Tout": find.attrs["Tout"],
        "split": split.op.encode(),
        "skip_empty": split.attrs.get("skip_empty", True),
        "maxsplit": split.attrs.get("maxsplit", -1),
    }
    controls = dict.fromkeys(split.control_inputs + find.control_inputs)
    controls.pop(find.name, None)  # a lookup that waited for the split itself
    shapes = None
    if split.output_shapes is not None and find.output_shapes is not None:
        indices, _, shape = split.output_shapes
        shapes = (find.output_shapes[0], indices, shape)
    return Node(
        find.name,
        "_SplitAndFind",
        (find.inputs[0], text, separator, find.inputs[2]),
        tuple(controls),
        find.device,
        attrs,
        (find.output_types[0], dtypes.int64, dtypes.int64),
        shapes,
        find.source,
    )
