"""The first feature columns: of estimators before `tf.feature_column`."""
