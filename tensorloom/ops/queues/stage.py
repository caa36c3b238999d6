"""Staging areas: tuples put aside by one step and taken by another.

`Stage` is a queue, `MapStage` and `OrderedMapStage` find tuples by a key; a tuple may
come and go in parts, named by indices. The areas belong to the device that the ops run
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    no_outputs,
    scalar_shape,
    unknown_shapes,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ShapeFn

_LIMITS = ("capacity: int >= 0 = 0", "memory_limit: int >= 0 = 0")
_PLACE = ("container: string = ''", "shared_name: string = ''")
_SOME, _ANY = "dtypes: list(type) >= 1", "dtypes: list(type)"


def _register(
    op: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    types: tuple[str, ...],
    shape_fn: ShapeFn,
    doc: str,
) -> None:
    register_op(
        op,
        inputs=[*inputs],
        outputs=[*outputs],
        attrs=[*_LIMITS, *types, *_PLACE],
        shape_fn=shape_fn,
        stateful=True,
        doc=doc,
    )


_VALUES = ("values: dtypes",)
_SIZE = ("size: int32",)
_Row = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], Any, str]
_STAGE: tuple[_Row, ...] = (
    ("Stage", _VALUES, (), (_SOME,), no_outputs, "Puts a tuple aside."),
    ("Unstage", (), _VALUES, (_SOME,), unknown_shapes, "Takes the oldest tuple."),
    (
        "StagePeek",
        ("index: int32",),
        _VALUES,
        (_SOME,),
        unknown_shapes,
        "The tuple at a position, which stays.",
    ),
    ("StageSize", (), _SIZE, (_ANY,), scalar_shape, "How many tuples there are."),
    ("StageClear", (), (), (_ANY,), no_outputs, "Drops all tuples."),
)
_MAP: tuple[_Row, ...] = (
    (
        "Stage",
        ("key: int64", "indices: int32", "values: fake_dtypes"),
        (),
        (_ANY, "fake_dtypes: list(type) >= 1"),
        no_outputs,
        "Puts components of the tuple of a key aside.",
    ),
    (
        "Unstage",
        ("key: int64", "indices: int32"),
        _VALUES,
        (_SOME,),
        unknown_shapes,
        "Takes components of the tuple of a key; waits for it.",
    ),
    (
        "UnstageNoKey",
        ("indices: int32",),
        ("key: int64", *_VALUES),
        (_SOME,),
        unknown_shapes,
        "Takes components of some tuple, and its key.",
    ),
    (
        "Peek",
        ("key: int64", "indices: int32"),
        _VALUES,
        (_SOME,),
        unknown_shapes,
        "Components of the tuple of a key, which stay.",
    ),
    ("Size", (), _SIZE, (_ANY,), scalar_shape, "How many tuples are complete."),
    (
        "IncompleteSize",
        (),
        _SIZE,
        (_ANY,),
        scalar_shape,
        "How many tuples lack components.",
    ),
    ("Clear", (), (), (_ANY,), no_outputs, "Drops all tuples."),
)

for _row in _STAGE:
    _register(*_row)
for _op, *_rest in _MAP:
    for _kind in ("Map", "OrderedMap"):
        _register(f"{_kind}{_op}", *_rest)
