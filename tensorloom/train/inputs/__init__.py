"""Input with queues: producers, batches, queue runners, the coordinator."""
