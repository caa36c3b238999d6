"""Ops that mean something in a graph alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.worker.compile.dataflow_nodes import CLASSIC_OPS

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import OpDef

_EXCHANGE: Final = frozenset(
    {
        *("_Arg", "_Retval", "_Send", "_HostSend", "Send"),
        *("_Recv", "_HostRecv", "Recv"),
    }
)
_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})


def check(op_def: OpDef, attrs: dict[str, Any]) -> None:
    """Refuses an op that cannot run alone.

    Raises:
      errors.InvalidArgumentError: it takes or gives references, is a part of a classic
        loop or branch, or an end of a graph's edge or feed.
    """
    name = op_def.name
    if name in _PLACEHOLDERS:
        raise invalid_argument(
            f"You must feed a value for placeholder tensor '{name}' with dtype "
            f"{dtype_word(attrs['dtype'])}"
        )
    types = [*op_def.input_types(attrs), *op_def.output_types(attrs)]
    for dtype in types:
        if dtype._is_ref_dtype:
            raise invalid_argument(
                "AttrValue must not have reference type value of "
                f"{dtype_word(dtype)}: op {name} takes or gives a reference, which is "
                "an edge of a graph. Use resource variables, queues and tables "
                "(VarHandleOp, FIFOQueueV2, HashTableV2)"
            )
    if name in CLASSIC_OPS or name in _EXCHANGE:
        raise invalid_argument(
            f"Op {name} does not run alone: it is a part of a graph's control flow or "
            "edges. Use If, While or a call of a function"
        )
