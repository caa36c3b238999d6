"""The pretended device refuses what CUDA refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.gpu import pretended_torch

pretended_torch.register()
PLACE = torch.device(pretended_torch.NAME, 0)


def _there(*sizes: int) -> torch.Tensor:
    return torch.ones(sizes).to(PLACE)


@pytest.mark.parametrize(
    ("bad", "sign"),
    [
        (lambda: _there(3) + torch.ones(3), "same device"),
        (lambda: _there(3) + torch.ones(3, device="pretended:1"), "same device"),
        (lambda: torch.cat([_there(3), torch.ones(3)]), "same device"),
        (lambda: _there(3).numpy(), "can't convert"),
        (lambda: torch.mm(_there(2, 2).int(), _there(2, 2).int()), "not implemented"),
        (lambda: torch.empty(1 << 40, device=PLACE), "out of memory"),
    ],
    ids=["the CPU", "another", "in a list", "NumPy", "integers", "memory"],
)
def test_what_cuda_refuses(bad: Callable[[], object], sign: str) -> None:
    with pytest.raises((RuntimeError, TypeError), match=sign):
        bad()


def test_scalars_of_the_cpu_are_taken_along() -> None:
    assert ((_there(3) + torch.tensor(2.0)) == 3).all().item()
    assert torch.arange(3, device=PLACE).tolist() == [0, 1, 2]


def test_views_share_memory() -> None:
    whole = _there(4)
    whole[:2].zero_()
    assert whole.tolist() == [0, 0, 1, 1]
    assert whole.device == PLACE
    assert not whole.is_cpu


def test_a_copy_is_done_when_its_stream_is_waited_for() -> None:
    module, source = torch.get_device_module(PLACE), _there(5)
    stream = module.Stream(PLACE)
    target = pretended_torch.pinned_like(source)
    with module.stream(stream):
        target.copy_(source, non_blocking=True)
        event = stream.record_event()
    assert not event.query()
    assert target.tolist() != [1] * 5
    event.synchronize()
    assert target.tolist() == [1] * 5


def test_locked_memory_is_read_when_the_copy_is_done() -> None:
    locked = pretended_torch.pinned_like(torch.ones(3))
    locked.fill_(1.0)
    arrived = locked.to(PLACE, non_blocking=True)
    locked.fill_(2.0)  # too early, which the values tell
    assert arrived.tolist() == [2, 2, 2]
    pageable = torch.ones(3)
    arrived = pageable.to(PLACE, non_blocking=True)
    pageable.fill_(2.0)
    assert arrived.tolist() == [1, 1, 1]


def test_waits_are_counted_and_may_be_forbidden() -> None:
    there = _there(3)
    before = sum(pretended_torch.waits.values())
    assert there.sum().item() == 3
    assert sum(pretended_torch.waits.values()) == before + 1
    pretended_torch.forbid_waits(True)
    try:
        with pytest.raises(RuntimeError, match="synchronizing"):
            there.nonzero()
    finally:
        pretended_torch.forbid_waits(False)
