"""Data sets by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.contrib.learn.datasets import base, mnist, synthetic, text_datasets
from tensorloom.framework.export import export, export_value

DATASETS: Final[dict[str, Callable[..., Any]]] = {
    "iris": base.load_iris,
    "boston": base.load_boston,
    "mnist": mnist.load_mnist,
    "dbpedia": text_datasets.load_dbpedia,
}
SYNTHETIC: Final[dict[str, Callable[..., Any]]] = {
    "circles": synthetic.circles,
    "spirals": synthetic.spirals,
}
export_value(DATASETS, "contrib.learn.datasets.DATASETS")
export_value(SYNTHETIC, "contrib.learn.datasets.SYNTHETIC")
# TensorFlow's modules have what they import; programs may use that.
export_value(
    deprecated,
    *(
        f"contrib.learn.{module}.deprecated"
        for module in ("datasets", "head", "models", "ops", "preprocessing")
    ),
)


@export("contrib.learn.datasets.load_dataset")
def load_dataset(
    name: str, size: str = "small", test_with_fake_data: bool = False
) -> Any:
    """A data set by its name: "iris", "boston", "mnist" or "dbpedia".

    Args:
      name: which.
      size: of DBpedia: "small" or all.
      test_with_fake_data: of DBpedia, see `load_dbpedia`.

    Raises:
      ValueError: there is none of that name.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    if name == "dbpedia":
        return DATASETS[name](size, test_with_fake_data)
    return DATASETS[name]()


@export("contrib.learn.datasets.make_dataset")
def make_dataset(
    name: str,
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = 42,
    *args: Any,
    **kwargs: Any,
) -> base.Dataset:
    """A computed data set by its name: "circles" or "spirals".

    Args:
      name: which.
      n_samples: how many points.
      noise: standard deviation of what is added to them.
      seed: of NumPy's generator.
      *args: more arguments of it.
      **kwargs: more arguments of it.

    Raises:
      ValueError: there is none of that name.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    made: base.Dataset = SYNTHETIC[name](
        *args, n_samples=n_samples, noise=noise, seed=seed, **kwargs
    )
    return made
