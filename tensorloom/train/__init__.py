"""Training: optimizers, global step, learning-rate schedules, queues' threads."""
