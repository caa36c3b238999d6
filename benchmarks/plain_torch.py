"""Workloads as a user of the plain library writes them: of PyTorch, or of redis-py.

A yardstick of what the kernels alone cost, and a target where TensorFlow has nothing.
Default memory format and the default optimizers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import torch
from torch import nn
from torch.nn import functional

from benchmarks.workloads import allreduce, elastic, locks, models, sequences
from benchmarks.workloads.table import Workload

# Where models are; batches come from the CPU in each step.
_place = torch.device("cpu")


def use(place: torch.device) -> None:
    """Makes the models of later workloads on a device."""
    global _place
    _place = place


def reset_default_graph() -> None:
    """Nothing to reset: the worker asks it of every system."""


def _examples(batch: int, shape: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = models.examples(batch, shape)
    return torch.from_numpy(images), torch.from_numpy(labels)


def _training(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: int,
    shape: list[int],
) -> Callable[[], float]:
    images, labels = _examples(batch, shape)

    def step() -> float:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images.to(_place)), labels.to(_place))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _mlp(batch: int) -> Iterator[Callable[[], float]]:
    layers = [nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(128, 10)).to(_place)
    yield _training(model, torch.optim.Adam(model.parameters()), batch, [784])


def _cnn() -> nn.Module:
    return nn.Sequential(
        *[nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Flatten(), nn.Linear(7 * 7 * 64, 128), nn.ReLU(), nn.Linear(128, 10)],
    ).to(_place)


def _cnn_training() -> Iterator[Callable[[], float]]:
    model = _cnn()
    yield _training(model, torch.optim.Adam(model.parameters()), 64, [1, 28, 28])


def _cnn_inference() -> Iterator[Callable[[], object]]:
    model = _cnn()
    images, _ = _examples(64, [1, 28, 28])
    with torch.inference_mode():
        yield lambda: functional.softmax(model(images.to(_place)), 1).cpu().numpy()


class _Block(nn.Module):
    def __init__(self, depth: int, channels: int) -> None:
        super().__init__()
        stride = 1 if depth == channels else 2
        self.conv1 = nn.Conv2d(depth, channels, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        shortcut = nn.Conv2d(depth, channels, 3, stride, 1, bias=False)
        self.shortcut = nn.Identity() if stride == 1 else shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.shortcut(x) + self.norm2(self.conv2(y)))


def _residual_network() -> Iterator[Callable[[], float]]:
    model = nn.Sequential(
        *[nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()],
        *[_Block(16, 16), _Block(16, 16), _Block(16, 32)],
        *[_Block(32, 32), _Block(32, 64), _Block(64, 64)],
        *[nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)],
    ).to(_place)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, 0.9)
    yield _training(model, optimizer, 32, [3, 32, 32])


class _LanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sequences.VOCABULARY, sequences.HIDDEN)
        self.lstm = nn.LSTM(sequences.HIDDEN, sequences.HIDDEN, batch_first=True)
        self.logits = nn.Linear(sequences.HIDDEN, sequences.VOCABULARY)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.lstm(self.embedding(words))
        logits: torch.Tensor = self.logits(outputs.flatten(0, 1))
        return logits


def _language_model() -> Iterator[Callable[[], float]]:
    model = _LanguageModel().to(_place)
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    sizes = 2, sequences.BATCH, sequences.STEPS
    words, targets = torch.randint(0, sequences.VOCABULARY, sizes)

    def step() -> float:
        optimizer.zero_grad()
        logits = model(words.to(_place))
        loss = functional.cross_entropy(logits, targets.flatten().to(_place))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        return loss.item()

    yield step


def _workload(name: str, prepare: Callable[[], Iterator[object]]) -> Workload:
    def ignoring_module(_: ModuleType) -> Iterator[object]:
        return prepare()

    return Workload(name, None, None, ignoring_module, repeated=True)


WORKLOADS = {
    name: _workload(name, prepare)
    for name, prepare in {
        "MLP 784-128-128-10, Adam step, batch 32": lambda: _mlp(32),
        "MLP 784-128-128-10, Adam step, batch 512": lambda: _mlp(512),
        "CNN 28x28x1, Adam step, batch 64": _cnn_training,
        "CNN 28x28x1, inference, batch 64": _cnn_inference,
        "residual network 32x32x3, Momentum step, batch 32": _residual_network,
        "LSTM, 35 steps unrolled, clipped SGD step": _language_model,
        locks.NAME: locks.plain_lock,
        elastic.NAME: elastic.plain_copies,
        **allreduce.PLAIN,
    }.items()
}
