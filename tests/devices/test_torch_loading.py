"""Torch is there whole for who asks, and quicker for who does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from tensorloom.devices import torch_loading
torch_loading.import_torch()
import torch
assert "torch._meta_registrations" not in sys.modules
assert "torch.ao.quantization" not in sys.modules
assert torch.ones(2, 2).sum() == 4
assert torch.nn.functional.relu(torch.tensor([-1.0])).item() == 0
{then}
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    "then",
    [
        "assert torch.ao.quantization.MinMaxObserver",
        "import torch.ao.quantization; assert torch.ao.quantization.MinMaxObserver",
        "from torch.nn.quantized import Linear; assert Linear",
        "assert torch.nn.intrinsic.ConvReLU2d",
        "import torch._dynamo; assert 'torch._meta_registrations' in sys.modules\n"
        "from torch._subclasses.fake_tensor import FakeTensorMode\n"
        "with FakeTensorMode():\n"
        "    assert torch.fft.fft(torch.empty(3, 4)).shape == (3, 4)",
        "torch_loading.import_torch()",
        "assert torch.Generator().seed()",
        "assert torch.Generator().seed(); import torch._prims.rng_prims",
    ],
)
def test_what_was_left_out_comes_when_it_is_used(then: str) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM.format(then=then)], check=True)


@pytest.mark.multiprocess
def test_a_version_that_is_not_known_is_imported_whole() -> None:
    program = """
import importlib.metadata, sys
importlib.metadata.version = lambda name: "3.0"
from tensorloom.devices import torch_loading
torch_loading.import_torch()
assert "torch._meta_registrations" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
