"""`tf.estimator.BoostedTrees*`: ensembles of decision trees, grown layer by layer."""
