"""Compiled code runs in torch's inference mode, with or without its inner class."""

from __future__ import annotations

import pytest
import torch

from tensorloom.worker.run import inference


@pytest.mark.parametrize("has_inner_class", [True, False])
def test_mode(has_inner_class: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_inner_class:
        monkeypatch.delattr(torch._C, "_InferenceMode", raising=False)
        monkeypatch.setattr(torch, "inference_mode", lambda mode: torch.no_grad())
    seen = []
    mode = inference.mode_of(uses_torch=True)
    for _ in range(2):
        inference.called(mode, lambda: seen.append(torch.is_grad_enabled()))
    assert seen == [False, False]
    assert torch.is_grad_enabled()


def test_code_without_torch_has_no_mode() -> None:
    assert inference.mode_of(uses_torch=False) is None
