"""How the kernels were built (`tensorflow.python.platform.build_info`)."""

from __future__ import annotations

from typing import Any

_QUESTIONS = {
    "is_cuda_build": "is_built_with_cuda",
    "is_rocm_build": "is_built_with_rocm",
}


def __getattr__(name: str) -> Any:
    if name not in _QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tensorloom.test import environment

    return getattr(environment, _QUESTIONS[name])()
