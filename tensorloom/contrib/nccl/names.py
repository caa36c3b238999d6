"""The names of `tf.contrib.nccl`, which is older than TensorFlow 1.15."""

from __future__ import annotations

from tensorloom.framework.export import export_value
from tensorloom.ops.collective import nccl_functions

for _name in ("all_sum", "all_prod", "all_min", "all_max", "reduce_sum", "broadcast"):
    export_value(getattr(nccl_functions, _name), f"contrib.nccl.{_name}")
