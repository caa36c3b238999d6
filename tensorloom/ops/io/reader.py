"""Readers: records of the files whose names a queue gives.

The classes are in `client/queues/readers.py`. Every op is there for resource handles
(V2) and for the string references of older graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.shape_inference import unknown_shapes
from tensorloom.framework.types.tensor_shape import SCALAR

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_PLACE = ("container: string = ''", "shared_name: string = ''")
_VECTOR = TensorShape.of((None,))


def _handle_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((2,)) if _is_reference(c) else SCALAR


def _is_reference(c: InferenceContext) -> bool:
    return not c.op_name.endswith("V2")


def _check_handles(c: InferenceContext, count: int) -> None:
    for i in range(count):
        shape = c.with_rank(i, 1 if _is_reference(c) else 0).dims_tuple
        if _is_reference(c):
            assert shape is not None
            c.with_value(shape[0], 2)


def _read_shape(c: InferenceContext) -> list[TensorShape]:
    _check_handles(c, 2)
    return [SCALAR, SCALAR]


def _read_up_to_shape(c: InferenceContext) -> list[TensorShape]:
    _check_handles(c, 2)
    c.with_rank(2, 0)
    return [_VECTOR, _VECTOR]


def _state_shape(c: InferenceContext) -> list[TensorShape]:
    _check_handles(c, 1)
    return [SCALAR] * c.num_outputs


def _restore_shape(c: InferenceContext) -> list[TensorShape]:
    _check_handles(c, 1)
    c.with_rank(1, 0)
    return []


_READERS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "TextLineReader",
        ("skip_header_lines: int = 0", *_PLACE),
        "A reader of lines; keys are file:line.",
    ),
    (
        "TFRecordReader",
        (*_PLACE, "compression_type: string = ''"),
        "A reader of record files; keys are file:offset.",
    ),
    ("WholeFileReader", _PLACE, "A reader of whole files; keys are their names."),
    ("IdentityReader", _PLACE, "A reader whose keys and values are the queue's items."),
    (
        "FixedLengthRecordReader",
        (
            "header_bytes: int = 0",
            "record_bytes: int",
            "footer_bytes: int = 0",
            "hop_bytes: int = 0",
            *_PLACE,
        ),
        "A reader of records of equal length; keys are file:number.",
    ),
)


def _register_reader(
    op: str,
    handle: str,
    attrs: Any,
    doc: str,
    deprecated: tuple[int, str] | None = None,
) -> None:
    register_op(
        op,
        outputs=[f"reader_handle: {handle}"],
        attrs=[*attrs],
        shape_fn=_handle_shape,
        gradient=None if op.endswith("V2") else NOT_DIFFERENTIABLE,
        stateful=True,
        deprecated=deprecated,
        doc=doc,
    )


for _op, _attrs, _doc in _READERS:
    # TensorFlow never gave one of them up.
    _gone = None if _op == "WholeFileReader" else (26, f"Use {_op}V2")
    _register_reader(_op, "Ref(string)", _attrs, _doc, _gone)
    _more = ("encoding: string = ''",) if _op == "FixedLengthRecordReader" else ()
    _register_reader(f"{_op}V2", "resource", (*_attrs, *_more), _doc)

_USES: tuple[tuple[str, tuple[str, ...], tuple[str, ...], Any, str], ...] = (
    (
        "ReaderRead",
        ("queue_handle: {handle}",),
        ("key: string", "value: string"),
        _read_shape,
        "The next record; takes a file from the queue when the last is at its end.",
    ),
    (
        "ReaderReadUpTo",
        ("queue_handle: {handle}", "num_records: int64"),
        ("keys: string", "values: string"),
        _read_up_to_shape,
        "Up to some records of one file.",
    ),
    (
        "ReaderNumRecordsProduced",
        (),
        ("records_produced: int64",),
        _state_shape,
        "How many records the reader has given.",
    ),
    (
        "ReaderNumWorkUnitsCompleted",
        (),
        ("units_completed: int64",),
        _state_shape,
        "How many files the reader has finished.",
    ),
    (
        "ReaderSerializeState",
        (),
        ("state: string",),
        _state_shape,
        "The reader's state as a string, if the reader can.",
    ),
    (
        "ReaderRestoreState",
        ("state: string",),
        (),
        _restore_shape,
        "Brings back a state that was serialized.",
    ),
    ("ReaderReset", (), (), _state_shape, "Brings the reader back to its start."),
)

for _op, _inputs, _outputs, _shape_fn, _doc in _USES:
    for _suffix, _handle in (("", "Ref(string)"), ("V2", "resource")):
        register_op(
            _op + _suffix,
            inputs=[
                f"reader_handle: {_handle}",
                *(text.format(handle=_handle) for text in _inputs),
            ],
            outputs=[*_outputs],
            shape_fn=_shape_fn,
            gradient=None if _suffix else NOT_DIFFERENTIABLE,
            stateful=_suffix == "V2",
            doc=_doc,
        )

register_op(
    "RecordInput",
    outputs=["records: string"],
    attrs=[
        "file_pattern: string",
        "file_random_seed: int = 301",
        "file_shuffle_shift_ratio: float = 0.0",
        "file_buffer_size: int = 10000",
        "file_parallelism: int = 16",
        "batch_size: int = 32",
        "compression_type: string = ''",
    ],
    shape_fn=unknown_shapes,
    stateful=True,
    doc="Batches of records of the files that match a pattern, shuffled, without end.",
)


register_op(
    "LMDBReader",
    outputs=["reader_handle: Ref(string)"],
    attrs=["container: string = ''", "shared_name: string = ''"],
    shape_fn=_handle_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A reader of the records of LMDB databases.",
)
