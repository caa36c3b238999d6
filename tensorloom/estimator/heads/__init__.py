"""`tf.estimator.*Head`: losses, predictions and metrics of models' logits."""
