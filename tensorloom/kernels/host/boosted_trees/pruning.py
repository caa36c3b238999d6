"""Taking back splits that lost: pruning of a tree that is complete."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.host.boosted_trees.resource import leaf_logits, split_of

# Where a removed node went, and what that changes of its logits.
_Moves = dict[int, tuple[int, Any]]


def prune(tree: Any, metadata: Any) -> None:
    """Removes splits of two leaves and negative gain, from the bottom up.

    What became of each old node is written into the tree's metadata, for examples
    whose place in the tree is cached.
    """
    moves: _Moves = {}
    _visit(tree, 0, moves)
    if not moves:
        return
    count = len(tree.nodes)
    kept = [i for i in range(count) if i not in moves]
    new_ids = {old: new for new, old in enumerate(kept)}
    nodes = [
        type(tree.nodes[0]).FromString(tree.nodes[i].SerializeToString()) for i in kept
    ]
    for node in nodes:
        if node.WhichOneof("node") != "leaf":
            split = split_of(node)
            split.left_id = new_ids[split.left_id]
            split.right_id = new_ids[split.right_id]
    for old in range(count):
        at, change = old, np.zeros_like(next(iter(moves.values()))[1])
        while at in moves:
            at, step = moves[at]
            change = change + step
        moved = metadata.post_pruned_nodes_meta.add()
        moved.new_node_id = new_ids[at]
        moved.logit_change.extend(change.tolist())
    del tree.nodes[:]
    tree.nodes.extend(nodes)


def _visit(tree: Any, number: int, moves: _Moves) -> None:
    node = tree.nodes[number]
    if node.WhichOneof("node") == "leaf":
        return
    split = split_of(node)
    children = (split.left_id, split.right_id)
    for child in children:
        _visit(tree, child, moves)
    leaves = all(tree.nodes[i].WhichOneof("node") == "leaf" for i in children)
    if not leaves or not node.metadata.gain < 0:
        return
    original = node.metadata.original_leaf
    parent = np.array(leaf_logits(original), np.float32)
    for child in children:
        value = np.array(leaf_logits(tree.nodes[child].leaf), np.float32)
        moves[child] = number, parent - value
    node.leaf.CopyFrom(original)
    node.ClearField("metadata")
