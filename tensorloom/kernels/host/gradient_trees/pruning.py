"""Trees lose the branches that gained less than nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.protos.gradient_trees_pb2 import DecisionTreeConfig, TreeNode


def _split_of(node: TreeNode) -> Any:
    """The fields of a split node.

    Raises:
      errors.InvalidArgumentError: the node is of no kind, or of an oblivious tree.
    """
    kind = node.WhichOneof("node")
    if kind is None or kind.startswith("oblivious"):
        raise invalid_argument(f"A node of kind {kind} has no children of its own.")
    split = getattr(node, kind)
    return split.split if kind.startswith("sparse_float") else split


def children(node: TreeNode) -> list[int]:
    """The two nodes below a split; none of a leaf."""
    if node.WhichOneof("node") == "leaf":
        return []
    split = _split_of(node)
    return [split.left_id, split.right_id]


def link_children(node: TreeNode, below: Sequence[int]) -> None:
    """Sets the nodes below a split."""
    split = _split_of(node)
    split.left_id, split.right_id = below


def prune(tree: DecisionTreeConfig) -> None:
    """Makes leaves of the splits, from below, that gain less than 0.

    A tree of a single leaf that gains nothing loses that, too.
    """
    nodes = list(tree.nodes)
    if not nodes:
        return
    order = _breadth_first(nodes)
    # Children stand behind their parents in this order.
    for place in reversed(order):
        node = nodes[place]
        below = children(node)
        if not below:
            continue
        metadata = node.node_metadata
        are_leaves = all(nodes[child].WhichOneof("node") == "leaf" for child in below)
        if metadata.gain < 0 and are_leaves:
            node.leaf.CopyFrom(metadata.original_leaf)
            node.ClearField("node_metadata")
        else:
            metadata.ClearField("original_leaf")
    _compact(tree, nodes)


def _breadth_first(nodes: Sequence[TreeNode]) -> list[int]:
    order = [0]
    for place in order:
        below = children(nodes[place])
        if len(order) + len(below) > len(nodes):
            raise invalid_argument("A tree has a cycle.")
        order += below
    return order


def _compact(tree: DecisionTreeConfig, nodes: Sequence[TreeNode]) -> None:
    """Numbers what is left anew, in the order of the old numbers."""
    left = set(_breadth_first(nodes))
    kept = [0]
    new_place = {0: 0}
    for place in sorted(left):
        for child in children(nodes[place]):
            new_place[child] = len(kept)
            kept.append(child)
    serialized = [nodes[place].SerializeToString() for place in kept]
    del tree.nodes[:]
    for place, message in zip(kept, serialized, strict=True):
        node = tree.nodes.add()
        node.MergeFromString(message)
        below = children(nodes[place])
        if below:
            link_children(node, [new_place[child] for child in below])
    if len(kept) == 1 and tree.nodes[0].node_metadata.gain <= 0:
        del tree.nodes[:]
