"""Taking back splits that lost: pruning of a tree that is complete."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.host.boosted_trees_resource import leaf_logits, split_of


def prune(tree: Any, metadata: Any) -> None:
    """Removes splits of two leaves and negative gain, from the bottom up.

    What became of each old node is written into the tree's metadata, for examples
    whose place in the tree is cached.
    """
    moves: dict[int, tuple[int, float]] = {}
    _visit(tree, 0, moves)
    if not moves:
        return
    count = len(tree.nodes)
    kept = [i for i in range(count) if i not in moves]
    new_ids = {old: new for new, old in enumerate(kept)}
    nodes = [type(tree.nodes[0]).FromString(tree.nodes[i].SerializeToString()) for i in kept]
    for node in nodes:
        if node.WhichOneof("node") != "leaf":
            split = split_of(node)
            split.left_id = new_ids[split.left_id]
            split.right_id = new_ids[split.right_id]
    for old in range(count):
        at, change = old, np.float32(0)
        while at in moves:
            at, step = moves[at]
            change = np.float32(change + np.float32(step))
        moved = metadata.post_pruned_nodes_meta.add()
        moved.new_node_id, moved.logit_change = new_ids[at], float(change)
    del tree.nodes[:]
    tree.nodes.extend(nodes)


def _visit(tree: Any, number: int, moves: dict[int, tuple[int, float]]) -> None:
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
    parent = leaf_logits(original)[0]
    for child in children:
        value = leaf_logits(tree.nodes[child].leaf)[0]
        moves[child] = number, float(np.float32(parent - value))
    node.leaf.CopyFrom(original)
    node.ClearField("metadata")
