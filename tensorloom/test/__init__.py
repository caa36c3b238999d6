"""`tf.test`: test cases that compare values of graphs. Loads `unittest` when used."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "TestCase": "test_case",
    "Benchmark": "benchmark",
    "benchmark_config": "benchmark",
    "create_local_cluster": "local_cluster",
    "StubOutForTesting": "stubs",
    "main": "environment",
    "get_temp_dir": "environment",
    "test_src_dir_path": "environment",
    "is_gpu_available": "environment",
    "gpu_device_name": "environment",
    "is_built_with_cuda": "environment",
    "is_built_with_gpu_support": "environment",
    "is_built_with_rocm": "environment",
    "assert_equal_graph_def": "graph_comparison",
    "compute_gradient": "gradient_checker",
    "compute_gradient_error": "gradient_checker",
}


def __getattr__(name: str) -> Any:
    if name == "mock":
        return importlib.import_module("unittest.mock")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*_MODULES, "mock"]
