"""The kinds of tasks that a cluster of Estimators has."""

from __future__ import annotations

from typing import Final


class TaskType:
    """Names of the jobs in `TF_CONFIG`."""

    MASTER: Final = "master"
    PS: Final = "ps"
    WORKER: Final = "worker"
    CHIEF: Final = "chief"
    EVALUATOR: Final = "evaluator"
