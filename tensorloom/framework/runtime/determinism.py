"""The one switch for determinism: the same program gives the same bits in every run.

`tf.config.experimental.enable_op_determinism()`, TensorFlow 2's name, or, for an
unchanged program, `TF_DETERMINISTIC_OPS=1` in the environment, as in TensorFlow 1.15.
Kernels then use deterministic algorithms only; an op that has none raises
UnimplementedError. Random ops must have a seed once the function was called.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from tensorloom.framework.export import export

_VARIABLE = "TF_DETERMINISTIC_OPS"

_lock = threading.Lock()
_enabled = os.environ.get(_VARIABLE, "").lower() in ("1", "true")
_requires_seeds = False
_waiting: list[Callable[[], None]] = []


@export("config.experimental.enable_op_determinism")
def enable_op_determinism() -> None:
    """Makes every op deterministic, from now on and for the whole process.

    Call it before the first session runs: steps that exist keep their kernels. Ops
    made by random functions without a seed then raise a RuntimeError: set one with
    `tf.set_random_seed`.
    """
    global _enabled, _requires_seeds
    with _lock:
        _enabled = _requires_seeds = True
        waiting = list(_waiting)
        _waiting.clear()
    _fix_cublas()
    for apply in waiting:
        apply()


def when_enabled(apply: Callable[[], None]) -> None:
    """Calls `apply` once determinism is asked for; at once when it is already."""
    with _lock:
        if not _enabled:
            _waiting.append(apply)
            return
    _fix_cublas()
    apply()


def _fix_cublas() -> None:
    # cuBLAS reads it when a CUDA context is made; without it some of its algorithms
    # depend on timing.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def check_seeded(op_seed: int | None, graph_seed: int | None) -> None:
    """Raises RuntimeError for a random op without seed where that is not allowed."""
    if _requires_seeds and op_seed is None and graph_seed is None:
        raise RuntimeError(
            "Random ops require a seed to be set when determinism is enabled. Please "
            "set a seed before running the op, e.g. by calling tf.set_random_seed(1)."
        )
