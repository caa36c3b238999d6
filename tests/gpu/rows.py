"""How long steps and copies take on a GPU, beside plain PyTorch and the bus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

import tensorloom as tf
from benchmarks import plain_torch
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.table import seconds_a_call
from tensorloom.devices.device import make_devices

if TYPE_CHECKING:
    from tests.gpu.target import Target

STEPS = (
    "MLP 784-128-128-10, Adam step, batch 32",
    "MLP 784-128-128-10, Adam step, batch 512",
    "CNN 28x28x1, Adam step, batch 64",
    "CNN 28x28x1, inference, batch 64",
    "residual network 32x32x3, Momentum step, batch 32",
    "LSTM, 35 steps unrolled, clipped SGD step",
)
WARM_UP = 5


def rows(target: Target, seconds: float = 0.5, copied: int = 1 << 28) -> Iterator[str]:
    """Lines of the report.

    Args:
      seconds: the least that one row is measured.
      copied: bytes of what is copied.
    """
    yield f"{'':52} {'ours':>12} {'torch':>12} {'ratio':>7}"
    # What is pretended has no derivatives of its own.
    plain_torch.use(target.device() if target.is_real else torch.device("cpu"))
    for name in STEPS:
        ours = _seconds(WORKLOADS[name].prepare, tf, seconds)
        torchs = _seconds(plain_torch.WORKLOADS[name].prepare, plain_torch, seconds)
        yield _row(name, ours, torchs)
    ours = _seconds(WORKLOADS["null step (tf.no_op)"].prepare, tf, seconds)
    yield f"{'null step':52} {ours * 1e6:9.1f} us"
    if target.is_real:
        captured = _captured_mlp(target, seconds)
        name = "MLP step of batch 32 captured, plain torch"
        yield f"{name:52} {captured * 1e6:22.1f} us"
    yield from _copies(target, seconds, copied)


def _row(name: str, ours: float, torchs: float) -> str:
    return f"{name:52} {ours * 1e6:9.1f} us {torchs * 1e6:9.1f} us {ours / torchs:7.2f}"


def _seconds(prepare: Callable[[Any], Any], module: Any, seconds: float) -> float:
    with tf.Graph().as_default():
        steps = prepare(module)
        step = next(steps)
        for _ in range(WARM_UP):
            step()
        spent = seconds_a_call(step, seconds)
        steps.close()
    return spent


def _captured_mlp(target: Target, seconds: float) -> float:
    """A training step as one CUDA graph: what launching kernels one by one costs."""
    place = target.device()
    layers = [nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(128, 10)).to(place)
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    images = torch.rand(32, 784, device=place)
    labels = torch.randint(0, 10, (32,), device=place)

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay() -> None:
        graph.replay()
        torch.cuda.synchronize()

    return seconds_a_call(replay, seconds)


# --- copies -----------------------------------------------------------------------


def _copies(target: Target, seconds: float, size: int) -> Iterator[str]:
    """Rates of feeds and fetches beside the bus, and of a feed under kernels."""
    place, module = target.device(), target.module
    array = np.zeros(size // 4, np.float32)
    gpu = _first_gpu()
    locked = gpu._page_locked(torch.from_numpy(array))
    there = locked.to(place)

    def timed(work: Callable[[], Any]) -> float:
        def run() -> None:
            work()
            module.synchronize(place)

        run()
        return seconds_a_call(run, seconds)

    rate = size / 1e9
    up = rate / timed(lambda: there.copy_(locked, non_blocking=True))
    down = rate / timed(lambda: locked.copy_(there, non_blocking=True))
    ours_up = rate / timed(lambda: gpu.from_host(array))
    ours_down = rate / timed(lambda: gpu.to_host(there))
    pageable = torch.from_numpy(array)
    torchs_up = rate / timed(lambda: pageable.to(place))
    torchs_down = rate / timed(lambda: there.cpu())
    yield f"{'copies, GB/s':36} {'ours':>9} {'torch':>9} {'bus':>9} {'ours/bus':>9}"
    for name, ours, torchs, bus in (
        ("host to device", ours_up, torchs_up, up),
        ("device to host", ours_down, torchs_down, down),
    ):
        yield f"{name:36} {ours:9.1f} {torchs:9.1f} {bus:9.1f} {ours / bus:9.2f}"
    yield from _overlap(target, gpu, array)
    if target.count > 1:
        other = there.to(target.device(1))
        peer = rate / timed(lambda: gpu.receive(other))
        yield f"{'device to device, GB/s':36} {peer:9.1f}"


def _first_gpu() -> Any:
    devices = make_devices("/job:localhost/replica:0/task:0")
    return next(d for d in devices if d.device_type == "GPU")


def _overlap(target: Target, gpu: Any, array: Any) -> Iterator[str]:
    """The time of kernels and a feed together, over that of one after the other."""
    place, module = target.device(), target.module
    x = torch.rand(2048 if target.is_real else 64, 2048, device=place)
    times = 100 if target.is_real else 2

    def compute() -> None:
        y = x
        for _ in range(times):
            y = torch.tanh(y + x)

    def spent(work: Callable[[], None]) -> float:
        work()
        module.synchronize(place)
        begin = time.perf_counter()
        work()
        module.synchronize(place)
        return time.perf_counter() - begin

    def both() -> None:
        compute()
        gpu.from_host(array)

    apart = spent(compute) + spent(lambda: gpu.from_host(array))
    share = spent(both) / apart
    yield f"{'kernels and a feed, beside one another':36} {share:9.2f} of one by one"
