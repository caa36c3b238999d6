"""`tensorflow.python.framework.op_def_registry`: operations as OpDef messages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_def_proto import to_proto

if TYPE_CHECKING:
    from tensorloom.protos import op_def_pb2


@cache
def get_registered_ops() -> dict[str, op_def_pb2.OpDef]:
    """The messages of all operations by name."""
    registered = op_registry.registered_ops()
    return {name: to_proto(op_def) for name, op_def in registered.items()}


def register_op_list(op_list: op_def_pb2.OpList) -> None:
    """Checks that operations are those that are registered.

    Raises:
      TypeError: it is no `OpList`.
      ValueError: another operation has one of the names.
    """
    from tensorloom.protos.op_def_pb2 import OpList

    if not isinstance(op_list, OpList):
        raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
    known = get_registered_ops()
    for op_def in op_list.op:
        if known.setdefault(op_def.name, op_def) != op_def:
            raise ValueError(
                f"Registered op_def for {op_def.name} ({known[op_def.name]}) not equal "
                f"to op_def to register ({op_def})"
            )
