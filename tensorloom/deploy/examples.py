"""Values to run a model with: a file's, or made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel

# Sizes that the graph does not know, in values that are made up.
_BATCHES: Final = (4, 3)
_SIZE: Final = 8
_SEED: Final = 20151109


@dataclass(frozen=True)
class Examples:
    """Inputs in batches, by the keys of the model's inputs."""

    batches: list[dict[str, Any]]
    #: What is right for all of them, if it is known.
    labels: Any = None
    #: Where they are from, for people.
    source: str = ""


def read(
    path: str, model: FrozenModel, labels: str | None = None, batch: int = 64
) -> Examples:
    """The arrays of an .npz file, along their first axis.

    Args:
      path: its names are keys of the model's inputs, or names of tensors.
      model: whose inputs they are.
      labels: the name of the array of labels, one for each example.
      batch: how many examples are run at a time.

    Raises:
      errors.NotFoundError: the file lacks an array.
      errors.InvalidArgumentError: arrays have different lengths, or dtypes of others.
    """
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    inputs = {}
    for key, tensor in model.inputs.items():
        names = [
            name for name in (key, tensor, tensor.removesuffix(":0")) if name in arrays
        ]
        if not names:
            raise errors.NotFoundError(
                None,
                None,
                f"{path} has no array {key!r} for the model's input; it has "
                f"{sorted(arrays)}",
            )
        inputs[key] = _as_fed(arrays[names[0]])
    found = None
    if labels is not None:
        if labels not in arrays:
            raise errors.NotFoundError(None, None, f"{path} has no array {labels!r}")
        found = arrays[labels]
    lengths = {key: len(value) for key, value in inputs.items() if value.ndim}
    if len(set(lengths.values())) > 1:
        raise errors.InvalidArgumentError(
            None, None, f"{path}: arrays of different lengths: {lengths}"
        )
    count = next(iter(lengths.values()), 1)
    batches = [
        {
            key: value[at : at + batch] if value.ndim else value
            for key, value in inputs.items()
        }
        for at in range(0, count, batch)
    ]
    return Examples(batches, found, path)


def _as_fed(array: Any) -> Any:
    """NumPy's texts as bytes."""
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8").astype(object)
    return array.astype(object) if array.dtype.kind == "S" else array


def made_up(model: FrozenModel) -> Examples:
    """Draws of the shapes and dtypes of the model's inputs; the same each time.

    Two batches, of different sizes where the model allows that.
    """
    draws = np.random.default_rng(_SEED)
    return Examples(
        [
            {
                key: _draw(draws, dtype, shape, batch)
                for key, (dtype, shape) in input_specs(model).items()
            }
            for batch in _BATCHES
        ],
        source="values that were made up",
    )


def input_specs(model: FrozenModel) -> Mapping[str, tuple[Any, TensorShape]]:
    """The dtype and shape of each input, as its placeholder says."""
    found = nodes.by_name(model.graph_def)
    specs = {}
    for key, tensor in model.inputs.items():
        node = found[nodes.node_of(tensor)]
        output = int(nodes.canonical(tensor).rpartition(":")[2])
        shape = TensorShape(None)
        if "shape" in node.attr and not node.attr["shape"].shape.unknown_rank:
            sizes = [d.size for d in node.attr["shape"].shape.dim]
            shape = TensorShape([None if size < 0 else size for size in sizes])
        specs[key] = (dtypes.as_dtype(nodes.types_of(node)[1][output]), shape)
    return specs


def as_fed(model: FrozenModel, given: Examples) -> Examples:
    """Examples as a session would convert them: with the dtypes of the inputs."""
    specs = input_specs(model)

    def converted(key: str, value: Any) -> Any:
        dtype = specs[key][0]
        if dtype == dtypes.string:
            return value
        return np.asarray(value).astype(dtype.as_numpy_dtype)

    batches = [{k: converted(k, v) for k, v in b.items()} for b in given.batches]
    return replace(given, batches=batches)


def _draw(
    draws: np.random.Generator, dtype: Any, shape: TensorShape, batch: int
) -> Any:
    sizes = [batch, _SIZE] if shape.ndims is None else shape.as_list()
    sizes = [
        (_SIZE if at else batch) if size is None else size
        for at, size in enumerate(sizes)
    ]
    if dtype == dtypes.string:
        words = np.array([b"", b"a", b"b", b"the"], object)
        return words[draws.integers(0, len(words), sizes)]
    kind = dtype.as_numpy_dtype
    if dtype.is_floating or dtype.is_complex:
        return draws.standard_normal(sizes).astype(kind)
    return draws.integers(0, 2, sizes).astype(kind)
