"""The name of `tf.contrib.batching`, which is public elsewhere too."""

from __future__ import annotations

from tensorloom.client.functions.batching import batch_function
from tensorloom.framework.export import export_value

export_value(batch_function, "contrib.batching.batch_function")
