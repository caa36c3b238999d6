"""Training: optimizers, global step, learning-rate schedules, sessions with hooks."""

from __future__ import annotations

import importlib
from typing import Any

from tensorloom.framework.registry import proto_names

# What is loaded when it is first used: name -> module.
_LAZY = {
    "CheckpointSaverHook": "hooks.checkpoint_saver",
    "CheckpointSaverListener": "hooks.checkpoint_saver",
    "ChiefSessionCreator": "sessions.creators",
    "FeedFnHook": "hooks.feeding",
    "FinalOpsHook": "hooks.final_ops",
    "GlobalStepWaiterHook": "hooks.step_waiter",
    "LoggingTensorHook": "hooks.logging_tensor",
    "MonitoredSession": "sessions.monitored_session",
    "MonitoredTrainingSession": "sessions.training_session",
    "NanLossDuringTrainingError": "hooks.nan_tensor",
    "NanTensorHook": "hooks.nan_tensor",
    "ProfilerHook": "hooks.profiler",
    "Scaffold": "sessions.scaffold",
    "SecondOrStepTimer": "hooks.timers",
    "SessionCreator": "sessions.creators",
    "SessionManager": "sessions.session_manager",
    "SessionRunArgs": "hooks.session_run_hook",
    "SessionRunContext": "hooks.session_run_hook",
    "SessionRunHook": "hooks.session_run_hook",
    "SessionRunValues": "hooks.session_run_hook",
    "SingularMonitoredSession": "sessions.monitored_session",
    "StepCounterHook": "hooks.step_counter",
    "StopAtStepHook": "hooks.stopping",
    "SummarySaverHook": "hooks.summary_saver",
    "Supervisor": "sessions.supervisor",
    "WorkerSessionCreator": "sessions.creators",
    "basic_train_loop": "sessions.basic_loops",
}


def __getattr__(name: str) -> Any:
    """Sessions and hooks, and protobuf messages such as `tf.train.Example`."""
    if name in _LAZY:
        module = importlib.import_module(f"{__name__}.{_LAZY[name]}")
        value = globals()[name] = getattr(module, name)
        return value
    return proto_names.find("train", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
