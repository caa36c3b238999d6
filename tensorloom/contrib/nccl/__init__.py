"""`tf.contrib.nccl`: reductions among the GPUs of a process."""
