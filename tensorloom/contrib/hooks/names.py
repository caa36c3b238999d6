"""The name of `tf.contrib.hooks`."""

from __future__ import annotations

from tensorloom.framework.export import export_value
from tensorloom.train.hooks.profiler import ProfilerHook

export_value(ProfilerHook, "contrib.hooks.ProfilerHook")
