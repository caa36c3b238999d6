"""OpDef messages."""

from __future__ import annotations

import pytest

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.registry import op_def_proto, op_registry
from tensorloom.protos.op_def_pb2 import OpDef
from tests.framework import toy_ops

FIELDS = (
    *("name", "inputs", "outputs", "attrs", "is_stateful", "is_commutative"),
    *("is_aggregate", "allows_uninitialized_input", "deprecated"),
)


@pytest.fixture(autouse=True)
def _toy_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_ops.register(monkeypatch)


def test_there_and_back() -> None:
    for op_def in op_registry.registered_ops().values():
        twin = op_def_proto.from_proto(op_def_proto.to_proto(op_def))
        for field in FIELDS:
            assert getattr(twin, field) == getattr(op_def, field), (op_def.name, field)


def test_a_list_of_ops_is_sorted() -> None:
    op_list = op_def_proto.to_op_list(op_registry.registered_ops().values())
    names = [op.name for op in op_list.op]
    assert names == sorted(names)


def test_summary() -> None:
    ops = op_registry.registered_ops()
    assert (
        op_def_proto.summarize(ops["Add"]) == "Op<name=Add; signature=x:T, y:T -> z:T>"
    )
    assert (
        op_def_proto.summarize(ops["Split"]) == "Op<name=Split; signature=x:T -> y:N*T>"
    )
    assert "Ref(T)" in op_def_proto.summarize(ops["Assign"])


def test_an_unknown_type_is_refused() -> None:
    proto = OpDef(name="X")
    proto.input_arg.add(name="a").type = 99
    with pytest.raises(InvalidArgumentError, match="unknown data type 99"):
        op_def_proto.from_proto(proto)
