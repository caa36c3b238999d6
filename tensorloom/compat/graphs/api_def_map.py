"""`tensorflow.python.framework.c_api_util`: ops and how languages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import api_defs, op_def_proto, op_registry

if TYPE_CHECKING:
    from tensorloom.protos.api_def_pb2 import ApiDef
    from tensorloom.protos.op_def_pb2 import OpDef


class ApiDefMap:
    """The ApiDefs of all ops, which texts can change."""

    def __init__(self) -> None:
        ops = op_def_proto.to_op_list(op_registry.registered_ops().values())
        self._op_defs = {op.name: op for op in ops.op}
        self._api_defs = api_defs.ApiDefMap(ops.SerializeToString())

    def op_names(self) -> set[str]:
        """The names of the ops."""
        return set(self._op_defs)

    def get_op_def(self, op_name: str) -> OpDef:
        """The definition of an op. Raises ValueError for an unknown one."""
        if op_name not in self._op_defs:
            raise ValueError(f"No entry found for {op_name}.")
        return self._op_defs[op_name]

    def put_api_def(self, text: str) -> None:
        """Overlays with a message ApiDefs in text form.

        Raises:
          errors.InvalidArgumentError, errors.FailedPreconditionError: as
            `api_defs.ApiDefMap.put`.
        """
        self._api_defs.put(text)

    def get_api_def(self, op_name: str) -> ApiDef:
        """The ApiDef of an op. Raises ValueError for an unknown one."""
        from tensorloom.protos.api_def_pb2 import ApiDef

        serialized = self._api_defs.get(op_name)
        if serialized is None:
            raise ValueError(f"No entry found for {op_name}.")
        return ApiDef.FromString(serialized)
