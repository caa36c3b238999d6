"""Features and labels as a forest's operations take them."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.sparse.shape_builders import sparse_concat
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_to_dense

DATA_FLOAT: Final = 0
DATA_CATEGORICAL: Final = 1
DTYPE_TO_FTYPE: Final = {
    dtypes.string: DATA_CATEGORICAL,
    dtypes.int32: DATA_CATEGORICAL,
    dtypes.int64: DATA_CATEGORICAL,
    dtypes.float32: DATA_FLOAT,
    dtypes.float64: DATA_FLOAT,
}


def CastToFloat(tensor: Any) -> Any:  # TensorFlow's name
    """Strings become numbers that are equal where they are, integers floats."""
    if tensor.dtype == dtypes.string:
        return apply_op("ReinterpretStringToFloat", input_data=tensor)
    return cast(tensor, dtypes.float32) if tensor.dtype.is_integer else tensor


class DataColumn:
    """One feature, of one or several numbers."""

    def __init__(self) -> None:
        self.name = ""
        self.original_type: Any = ""
        self.size: Any = 0

    def SerializeToString(self) -> str:  # TensorFlow's name
        """The text that the operations read."""
        return (
            f"name: {self.name} original_type: {self.original_type} size: {self.size}"
        )


class DataColumnCollection:
    """Columns in their order."""

    def __init__(self) -> None:
        self.cols: list[DataColumn] = []

    def add(self) -> DataColumn:
        """A new column at the end."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self) -> int:
        """How many columns there are."""
        return len(self.cols)

    def SerializeToString(self) -> str:  # TensorFlow's name
        """The text that the operations read."""
        return "".join(f"{{{column.SerializeToString()}}}" for column in self.cols)


class TensorForestDataSpec:
    """What the columns of a forest's input are."""

    def __init__(self) -> None:
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size: Any = 0

    def SerializeToString(self) -> str:  # TensorFlow's name
        """The text that the operations read."""
        return (
            f"dense_features_size: {self.dense_features_size} "
            f"dense: [{self.dense.SerializeToString()}] "
            f"sparse: [{self.sparse.SerializeToString()}]"
        )


def ParseDataTensorOrDict(data: Any) -> tuple[Any, Any, TensorForestDataSpec]:
    """(dense features or None, sparse features or None, what the columns are).

    Args:
      data: a matrix, a SparseTensor, or a dict of them by the columns' names. Sparse
        features of floats in a dict are left out.
    """
    spec = TensorForestDataSpec()
    if isinstance(data, dict):
        return *_of_columns(data, spec), spec
    if isinstance(data, SparseTensor):
        column = spec.sparse.add()
        column.name, column.size = "sparse_features", -1
        column.original_type = DTYPE_TO_FTYPE[data.dtype]
        return None, data, spec
    data = convert_to_tensor(data)
    column = spec.dense.add()
    column.name, column.size = "dense_features", data.shape[1]
    column.original_type = DTYPE_TO_FTYPE[data.dtype]
    spec.dense_features_size = column.size
    return data, None, spec


def _of_columns(data: dict[Any, Any], spec: TensorForestDataSpec) -> tuple[Any, Any]:
    dense: list[Any] = []
    sparse: list[Any] = []
    for key in sorted(data):
        value = data[key]
        if isinstance(value, SparseTensor):
            if value.dtype == dtypes.float32:
                continue
            if not sparse:
                column = spec.sparse.add()
                column.name, column.size = "all_sparse", -1
                column.original_type = DATA_CATEGORICAL
            numbers = CastToFloat(value.values)
            sparse.append(SparseTensor(value.indices, numbers, value.dense_shape))
            continue
        column = spec.dense.add()
        column.original_type = DTYPE_TO_FTYPE[value.dtype]
        column.name = (
            key
            if isinstance(key, str)
            else getattr(key, "column_name", str(len(dense)))
        )
        dims = value.shape.as_list()
        column.size = 1 if len(dims) == 1 else dims[1]
        dense.append(CastToFloat(value))
    spec.dense_features_size = sum(column.size for column in spec.dense.cols)
    return (
        array_ops.concat(dense, 1) if dense else None,
        sparse_concat(1, sparse) if sparse else None,
    )


def ParseLabelTensorOrDict(labels: Any) -> Any:
    """The labels as floats, of a tensor, a SparseTensor, or a dict of columns.

    What a sparse tensor has no label for is -1.
    """
    if isinstance(labels, dict):
        columns = [labels[key] for key in sorted(labels)]
        return cast(array_ops.concat(columns, 1), dtypes.float32)
    if isinstance(labels, SparseTensor):
        labels = sparse_tensor_to_dense(labels, default_value=-1)
    return cast(labels, dtypes.float32)
