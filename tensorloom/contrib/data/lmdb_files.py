"""`tf.contrib.data.LMDBDataset`."""

from __future__ import annotations

from typing import Any

from tensorloom.data import specs
from tensorloom.data.dataset import Dataset
from tensorloom.data.dataset_classes import flat_structure
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


@export("contrib.data.LMDBDataset")
class LMDBDataset(Dataset):
    """The keys and values of LMDB files, pairs of string scalars.

    Args:
      filenames: a string tensor of rank 0 or 1.
    """

    def __init__(self, filenames: Any) -> None:
        structure = (
            specs.TensorSpec([], dtypes.string),
            specs.TensorSpec([], dtypes.string),
        )
        variant = apply_op(
            "LMDBDataset",
            filenames=convert_to_tensor(filenames, dtypes.string, name="filenames"),
            **flat_structure(structure),
        )
        super().__init__(variant, structure)
