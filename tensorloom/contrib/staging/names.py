"""The name of `tf.contrib.staging`, which is TensorFlow's data_flow_ops' too."""

from __future__ import annotations

from tensorloom.client.queues.staging import StagingArea
from tensorloom.framework.export import export_value

export_value(StagingArea, "contrib.staging.StagingArea")
