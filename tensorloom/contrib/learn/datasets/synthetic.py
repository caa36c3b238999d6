"""Data sets that are computed: circles in each other, and spirals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.contrib.learn.datasets.base import Dataset
from tensorloom.framework.export import export

_HERE: Final = "contrib.learn.datasets.synthetic."


def _labels(n_samples: int, n_classes: int) -> Any:
    """As many of each class as there can be, and zeros for what is left over."""
    each = np.repeat(np.arange(n_classes, dtype=np.int32), n_samples // n_classes)
    return np.append(each, np.zeros(n_samples % n_classes, dtype=np.int32))


def _data_set(x: Any, y: Any, labels: Any, noise: float | None) -> Dataset:
    """Points and labels in random order; with noise, the points are moved."""
    points = np.vstack((x, y)).T
    order = np.random.permutation(range(len(labels)))
    if noise is not None:
        points += np.random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=labels[order])


@export(_HERE + "circles")
def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Points [n_samples, 2] on circles around the origin, one circle a class.

    Args:
      n_samples: how many points.
      noise: standard deviation of what is added to them.
      seed: of NumPy's generator.
      factor: each circle's radius over that of the one before.
      n_classes: how many circles.
      *args: not used.
      **kwargs: not used.
    """
    if seed is not None:
        np.random.seed(seed)
    angles = np.linspace(0, 2 * np.pi, n_samples // n_classes)
    rounds = [np.stack([np.cos(angles), np.sin(angles)])]
    for _ in range(n_classes - 1):
        rounds.append(rounds[-1] * factor)
    extras = n_samples % n_classes
    x = np.append(np.array(rounds)[:, 0], np.cos(_angles(extras)))
    y = np.append(np.array(rounds)[:, 1], np.sin(_angles(extras)))
    return _data_set(x, y, _labels(n_samples, n_classes), noise)


def _angles(count: int) -> Any:
    return np.random.rand(count) * 2 * np.pi


def _archimedes(theta: Any, **kwargs: Any) -> Any:
    return theta


def _bernoulli(theta: Any, exp_scale: float = 0.1, **kwargs: Any) -> Any:
    return np.exp(exp_scale * theta)


def _fermat(theta: Any, **kwargs: Any) -> Any:
    return np.sqrt(theta)


# The radius of each kind of spiral at an angle.
_RADII: Final[dict[str | None, Callable[..., Any]]] = {
    "archimedes": _archimedes,
    "bernoulli": _bernoulli,
    "fermat": _fermat,
}


@export(_HERE + "spirals")
def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str | None = "archimedes",
    n_loops: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Points [n_samples, 2] on two spirals, one a class.

    Args:
      n_samples: how many points.
      noise: standard deviation of what is added to them.
      seed: of NumPy's generator.
      mode: "archimedes", "bernoulli" or "fermat".
      n_loops: how often each goes round.
      *args: not used.
      **kwargs: `exp_scale` of Bernoulli's spiral.

    Raises:
      ValueError: another mode.
    """
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)
    theta = np.linspace(0, 2 * n_loops * np.pi, n_samples // 2)
    parts = [_spiral(mode, theta, offset, kwargs) for offset in (0.0, np.pi)]
    if n_samples % 2:
        parts.append(_spiral(mode, _angles(1), 0.0, kwargs))
    x, y = np.concatenate(parts, axis=1)
    return _data_set(x, y, _labels(n_samples, 2), noise)


def _spiral(
    mode: str | None, theta: Any, offset: float, options: dict[str, Any]
) -> Any:
    """A turned spiral in [-1, 1] x [-1, 1]: [2, points]."""
    radius = _RADII[mode](theta, **options)
    points = np.stack(
        [radius * np.cos(theta + offset), radius * np.sin(theta + offset)]
    )
    return points / np.max(np.abs(points), axis=1, keepdims=True)
