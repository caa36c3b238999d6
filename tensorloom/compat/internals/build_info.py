"""How the kernels were built (`tensorflow.python.platform.build_info`)."""

from __future__ import annotations

from typing import Any

import ml_dtypes

_QUESTIONS = {
    "is_cuda_build": "is_built_with_cuda",
    "is_rocm_build": "is_built_with_rocm",
}


def bfloat16_type() -> Any:
    """The NumPy scalar class of bfloat16."""
    return ml_dtypes.bfloat16


def __getattr__(name: str) -> Any:
    if name not in _QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tensorloom.test import environment

    return getattr(environment, _QUESTIONS[name])()
