"""What tests ask about the machine and the build."""

from __future__ import annotations

import atexit
import inspect
import os
import shutil
import sys
import tempfile
import unittest
from typing import Any

from tensorloom.client.session.session import Session

_temp_dir: list[str] = []


def main(argv: list[str] | None = None) -> None:
    """Runs the test cases of the program, or with `--benchmarks=` its benchmarks."""
    argv = list(argv or sys.argv)
    for argument in argv:
        option, _, pattern = argument.partition("=")
        if option == "--benchmarks":
            from tensorloom.test import benchmark

            benchmark.run_benchmarks(".*" if pattern in ("", "all") else pattern)
            return
    # Tests that use absl read flags of it, which it wants parsed before.
    absl_flags = sys.modules.get("absl.flags")
    if absl_flags is not None and not absl_flags.FLAGS.is_parsed():
        argv = absl_flags.FLAGS(argv, known_only=True)
    unittest.main(argv=argv, module="__main__")


def get_temp_dir() -> str:
    """A folder for the files of this run; removed when the process ends."""
    if not _temp_dir:
        _temp_dir.append(tempfile.mkdtemp(prefix="tensorloom_test_"))
        atexit.register(shutil.rmtree, _temp_dir[0], ignore_errors=True)
    return _temp_dir[0]


def test_src_dir_path(relative_path: str) -> str:
    """A path below the folder of the calling file.

    With the environment variable TEST_SRCDIR, which Bazel sets for tests, it is below
    `org_tensorflow/tensorflow` in that folder, as in TensorFlow.
    """
    sources = os.environ.get("TEST_SRCDIR")
    if sources is not None:
        return os.path.join(sources, "org_tensorflow/tensorflow", relative_path)
    caller = inspect.stack()[1].filename
    return os.path.join(os.path.dirname(os.path.abspath(caller)), relative_path)


def _gpus() -> list[Any]:
    with Session() as session:
        return [d for d in session.list_devices() if d.device_type == "GPU"]


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: Any = None
) -> bool:
    """Whether this process has a GPU, of at least the capability (major, minor)."""
    if not _gpus():
        return False
    if min_cuda_compute_capability is None:
        return True
    import torch

    found: tuple[int, int] = torch.cuda.get_device_capability()
    return found >= tuple(min_cuda_compute_capability)


def gpu_device_name() -> str:
    """`/device:GPU:0`, or nothing without a GPU."""
    gpus = _gpus()
    return "/device:" + gpus[0].name.split("/device:")[1] if gpus else ""


def is_built_with_cuda() -> bool:
    """Whether the installed torch was built with CUDA."""
    import torch

    return torch.version.cuda is not None


def is_built_with_gpu_support() -> bool:
    """Whether the installed torch was built for GPUs."""
    return is_built_with_cuda() or is_built_with_rocm()


def is_built_with_rocm() -> bool:
    """Whether the installed torch was built with ROCm."""
    import torch

    return torch.version.hip is not None
