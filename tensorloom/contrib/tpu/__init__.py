"""`tf.contrib.tpu`: optimizers, scopes and loops of programs for TPUs, without TPUs."""
