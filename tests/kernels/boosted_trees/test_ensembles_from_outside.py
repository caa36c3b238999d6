"""Ensembles that a program has made need not say more than their trees."""

from __future__ import annotations

import tensorloom as tf
from tensorloom.protos.boosted_trees_pb2 import TreeEnsemble


def test_an_ensemble_without_metadata_predicts() -> None:
    ensemble = TreeEnsemble()
    tree = ensemble.trees.add()
    split = tree.nodes.add().categorical_split
    split.value, split.left_id, split.right_id = 2, 1, 2
    for value in (5.0, 7.0):
        tree.nodes.add().leaf.scalar = value
    ensemble.tree_weights.append(1.0)
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        handle = raw.BoostedTreesEnsembleResourceHandleOp(shared_name="outside")
        session.run(
            raw.BoostedTreesCreateEnsemble(
                tree_ensemble_handle=handle,
                stamp_token=0,
                tree_ensemble_serialized=ensemble.SerializeToString(),
            )
        )
        logits = raw.BoostedTreesPredict(
            tree_ensemble_handle=handle,
            bucketized_features=[[2, 1]],
            logits_dimension=1,
        )
        assert session.run(logits).tolist() == [[5.0], [7.0]]
