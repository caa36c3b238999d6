"""Lookup tables: ops and shape functions. Classes are in `tables.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import HandleData, scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_PLACE = (
    "container: string = ''",
    "shared_name: string = ''",
    "use_node_name_sharing: bool = false",
    "key_dtype: type",
    "value_dtype: type",
)
_VALUE_SHAPE = "value_shape: shape = []"


def _table_shape(c: InferenceContext) -> TensorShape:
    # These say nothing of their values.
    if c.op_name in ("HashTableV2", "AnonymousHashTable"):
        return SCALAR
    value_shape = c.attrs.get("value_shape", SCALAR)
    c.set_output_handle_data(0, HandleData(c.attrs["value_dtype"], value_shape))
    return SCALAR


def _find_shape(c: InferenceContext) -> TensorShape:
    """The keys' shape followed by the shape of one value, where that is known."""
    c.with_rank(0, 0)
    c.with_rank_at_most(2, 1)
    data = c.handle_data(0)
    keys = c.input_shape(1).dims_tuple
    if data is None or keys is None or data.shape.dims_tuple is None:
        return UNKNOWN
    return TensorShape.of((*keys, *data.shape.dims_tuple))


def _handle_only(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    return ()


def _import_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    keys = c.with_rank(1, 1)
    data = c.handle_data(0)
    if data is not None:
        c.merge(c.input_shape(2), keys.concatenate(data.shape))
    return ()


def _remove_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    c.with_rank_at_least(1, 1)
    return ()


def _initialize_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    c.merge(c.with_rank(1, 1), c.input_shape(2))
    return ()


def _file_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    c.with_rank(1, 0)
    return ()


def _export_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    data = c.handle_data(0)
    dims = None if data is None else data.shape.dims_tuple
    values = UNKNOWN if dims is None else TensorShape.of((None, *dims))
    return [TensorShape.of((None,)), values]


# What line numbers begin at; of TensorFlow 2, see `newer_attrs.ADDED`.
_OFFSET = "offset: int = 0"

for _name, _attrs, _doc in (
    ("HashTable", [], "A table that is filled once."),
    ("MutableHashTable", [], "A table from keys to single values."),
    ("MutableHashTableOfTensors", [_VALUE_SHAPE], "A table from keys to tensors."),
):
    register_op(
        f"{_name}V2",
        outputs=["table_handle: resource"],
        attrs=[*_PLACE, *_attrs],
        shape_fn=_table_shape,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        doc=_doc,
    )
register_op(
    "MutableDenseHashTableV2",
    inputs=["empty_key: key_dtype", "deleted_key: key_dtype"],
    outputs=["table_handle: resource"],
    attrs=[
        *_PLACE,
        _VALUE_SHAPE,
        "initial_num_buckets: int = 131072",
        "max_load_factor: float = 0.8",
    ],
    shape_fn=_table_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A table with two keys that may not be used.",
)
register_op(
    "InitializeTableV2",
    inputs=["table_handle: resource", "keys: Tkey", "values: Tval"],
    attrs=["Tkey: type", "Tval: type"],
    shape_fn=_initialize_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Fills a table, once.",
)
register_op(
    "InitializeTableFromTextFileV2",
    inputs=["table_handle: resource", "filename: string"],
    attrs=[
        "key_index: int >= -2",
        "value_index: int >= -2",
        "vocab_size: int >= -1 = -1",
        "delimiter: string = '\t'",
        _OFFSET,
    ],
    shape_fn=_file_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Fills a table from the lines of a file, once.",
)
register_op(
    "LookupTableFindV2",
    inputs=["table_handle: resource", "keys: Tin", "default_value: Tout"],
    outputs=["values: Tout"],
    attrs=["Tin: type", "Tout: type"],
    shape_fn=_find_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The values of keys, and a default for keys that are not there.",
)
for _name, _gradient, _doc in (
    ("Insert", NOT_DIFFERENTIABLE, "Adds or replaces the values of keys."),
    ("Import", None, "Replaces all contents."),
):
    register_op(
        f"LookupTable{_name}V2",
        inputs=["table_handle: resource", "keys: Tin", "values: Tout"],
        attrs=["Tin: type", "Tout: type"],
        shape_fn=_import_shape if _name == "Import" else _handle_only,
        gradient=_gradient,
        stateful=True,
        doc=_doc,
    )
register_op(
    "LookupTableRemoveV2",
    inputs=["table_handle: resource", "keys: Tin"],
    attrs=["Tin: type"],
    shape_fn=_remove_shape,
    stateful=True,
    doc="Removes keys; those that are not there do not matter.",
)
register_op(
    "LookupTableSizeV2",
    inputs=["table_handle: resource"],
    outputs=["size: int64"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The number of keys.",
)
register_op(
    "LookupTableExportV2",
    inputs=["table_handle: resource"],
    outputs=["keys: Tkeys", "values: Tvalues"],
    attrs=["Tkeys: type", "Tvalues: type"],
    shape_fn=_export_shape,
    stateful=True,
    doc="All keys and their values, in no order.",
)


# --- the ops of graphs from before resources: a table is a reference ----------------


def _reference_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((2,))


def _reference_only(c: InferenceContext) -> tuple[TensorShape, ...]:
    _check_reference(c)
    return ()


def _check_reference(c: InferenceContext) -> None:
    dims = c.with_rank(0, 1).dims_tuple
    if dims is not None and dims[0] not in (None, 2):
        c.fail(f"Dimension must be 2 but is {dims[0]}")


def _reference_find_shape(c: InferenceContext) -> TensorShape:
    _check_reference(c)
    c.with_rank_at_most(2, 1)
    return UNKNOWN


def _reference_size_shape(c: InferenceContext) -> TensorShape:
    _check_reference(c)
    return SCALAR


def _reference_export_shape(c: InferenceContext) -> list[TensorShape]:
    _check_reference(c)
    return [TensorShape.of((None,)), UNKNOWN]


def _reference_initialize_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    _check_reference(c)
    c.merge(c.with_rank(1, 1), c.input_shape(2))
    return ()


def _reference_file_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    _check_reference(c)
    c.with_rank(1, 0)
    return ()


_REFERENCE = "table_handle: Ref(string)"
for _name, _attrs, _inputs, _doc in (
    ("HashTable", [], [], "A table that is filled once."),
    ("MutableHashTable", [], [], "A table from keys to single values."),
    ("MutableHashTableOfTensors", [_VALUE_SHAPE], [], "A table from keys to tensors."),
    (
        "MutableDenseHashTable",
        [
            _VALUE_SHAPE,
            "initial_num_buckets: int = 131072",
            "max_load_factor: float = 0.8",
        ],
        ["empty_key: key_dtype"],
        "A table with a key that may not be used.",
    ),
):
    register_op(
        _name,
        inputs=_inputs,
        outputs=[_REFERENCE],
        attrs=[*_PLACE, *_attrs],
        shape_fn=_reference_shape,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        doc=_doc,
    )
for _name, _inputs, _outputs, _attrs, _shape, _doc in (
    (
        "LookupTableFind",
        ["keys: Tin", "default_value: Tout"],
        ["values: Tout"],
        ["Tin: type", "Tout: type"],
        _reference_find_shape,
        "The values of keys, and a default for keys that are not there.",
    ),
    (
        "LookupTableInsert",
        ["keys: Tin", "values: Tout"],
        [],
        ["Tin: type", "Tout: type"],
        _reference_only,
        "Adds or replaces the values of keys.",
    ),
    (
        "LookupTableImport",
        ["keys: Tin", "values: Tout"],
        [],
        ["Tin: type", "Tout: type"],
        _reference_only,
        "Replaces all contents.",
    ),
    (
        "LookupTableSize",
        [],
        ["size: int64"],
        [],
        _reference_size_shape,
        "The number of keys.",
    ),
    (
        "LookupTableExport",
        [],
        ["keys: Tkeys", "values: Tvalues"],
        ["Tkeys: type", "Tvalues: type"],
        _reference_export_shape,
        "All keys and their values, in no order.",
    ),
    (
        "InitializeTable",
        ["keys: Tkey", "values: Tval"],
        [],
        ["Tkey: type", "Tval: type"],
        _reference_initialize_shape,
        "Fills a table, once.",
    ),
    (
        "InitializeTableFromTextFile",
        ["filename: string"],
        [],
        [
            "key_index: int >= -2",
            "value_index: int >= -2",
            "vocab_size: int >= -1 = -1",
            "delimiter: string = '\t'",
            _OFFSET,
        ],
        _reference_file_shape,
        "Fills a table from the lines of a file, once.",
    ),
):
    register_op(
        _name,
        inputs=[_REFERENCE, *_inputs],
        outputs=_outputs,
        attrs=_attrs,
        shape_fn=_shape,
        gradient=None if _name.endswith("port") else NOT_DIFFERENTIABLE,
        # Not so in TensorFlow; here no pass may take a table's contents for constant.
        stateful=True,
        doc=_doc,
    )


# --- tables of no name, which end with their handle ---------------------------------

for _name, _attrs, _inputs, _doc in (
    ("HashTable", [], [], "A table that is filled once."),
    ("MutableHashTable", [], [], "A table from keys to single values."),
    ("MutableHashTableOfTensors", [_VALUE_SHAPE], [], "A table from keys to tensors."),
    (
        "MutableDenseHashTable",
        [
            _VALUE_SHAPE,
            "initial_num_buckets: int = 131072",
            "max_load_factor: float = 0.8",
        ],
        ["empty_key: key_dtype", "deleted_key: key_dtype"],
        "A table with two keys that may not be used.",
    ),
):
    register_op(
        f"Anonymous{_name}",
        inputs=_inputs,
        outputs=["table_handle: resource"],
        attrs=["key_dtype: type", "value_dtype: type", *_attrs],
        shape_fn=_table_shape,
        stateful=True,
        doc=f"{_doc} It ends with the handle.",
    )
