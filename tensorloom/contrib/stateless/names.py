"""The names of `tf.contrib.stateless`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.framework.export import export_value
from tensorloom.ops.random.stateless_random import (
    stateless_multinomial,
    stateless_random_normal,
    stateless_random_uniform,
    stateless_truncated_normal,
)

export_value(stateless_multinomial, "contrib.stateless.stateless_multinomial")
export_value(stateless_random_normal, "contrib.stateless.stateless_random_normal")
export_value(stateless_random_uniform, "contrib.stateless.stateless_random_uniform")
export_value(stateless_truncated_normal, "contrib.stateless.stateless_truncated_normal")
