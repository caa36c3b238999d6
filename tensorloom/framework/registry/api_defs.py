"""How ops are shown in a language: ApiDefs made of OpDefs, overlaid with others."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable
from typing import Any, Final

from tensorloom.framework.errors import FailedPreconditionError, invalid_argument

# `field: <<END`, and the lines up to one that begins with END.
_MULTILINE: Final = re.compile(r"<<(\S+)\n(.*?)\n?^\1", re.DOTALL | re.MULTILINE)


class ApiDefMap:
    """The ApiDefs of the ops of an OpList."""

    def __init__(self, serialized: bytes) -> None:
        """Makes the ApiDef of each op of a serialized OpList.

        Raises:
          InvalidArgumentError: the bytes are no OpList.
        """
        from google.protobuf.message import DecodeError

        from tensorloom.protos.op_def_pb2 import OpList

        try:
            op_list = OpList.FromString(serialized)
        except DecodeError:
            raise invalid_argument("Unparseable OpList") from None
        self._lock = threading.Lock()
        self._are_finished = False
        self._api_defs = {op.name: _of_op_def(op) for op in op_list.op}

    def put(self, text: str) -> None:
        """Overlays with a message ApiDefs in text form; other ops are left out.

        Raises:
          InvalidArgumentError: the text is none.
          FailedPreconditionError: it names what the op does not have, or `get` was
            called before.
        """
        from google.protobuf import text_format

        from tensorloom.protos.api_def_pb2 import ApiDefs

        try:
            message = text_format.Parse(_with_plain_strings(text), ApiDefs())
        except text_format.ParseError as error:
            raise invalid_argument(f"Unparseable ApiDefs: {error}") from None
        with self._lock:
            if self._are_finished:
                raise _failed(
                    "TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been "
                    "called."
                )
            for overlay in message.op:
                base = self._api_defs.get(overlay.graph_op_name)
                if base is not None:
                    _overlay(base, overlay)

    def get(self, name: str) -> bytes | None:
        """The serialized ApiDef of an op; None if it is not in the map."""
        with self._lock:
            if not self._are_finished:
                self._are_finished = True
                for api_def in self._api_defs.values():
                    _rename_in_docs(api_def)
            found = self._api_defs.get(name)
            return None if found is None else found.SerializeToString()


def _failed(message: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, message)


def _of_op_def(op: Any) -> Any:
    from tensorloom.protos.api_def_pb2 import ApiDef

    api_def = ApiDef(
        graph_op_name=op.name,
        visibility=ApiDef.VISIBLE,
        summary=op.summary,
        description=op.description,
        arg_order=[arg.name for arg in op.input_arg],
    )
    api_def.endpoint.add(name=op.name)
    pairs: tuple[tuple[Any, Any], ...] = (
        (api_def.in_arg, op.input_arg),
        (api_def.out_arg, op.output_arg),
        (api_def.attr, op.attr),
    )
    for field, args in pairs:
        for arg in args:
            made = field.add(
                name=arg.name, rename_to=arg.name, description=arg.description
            )
            if field is api_def.attr and arg.HasField("default_value"):
                made.default_value.CopyFrom(arg.default_value)
    return api_def


def _with_plain_strings(text: str) -> str:
    """The text with its strings of several lines as strings in quotes."""
    return _MULTILINE.sub(lambda found: json.dumps(found[2]), text)


# --- Overlays ---------------------------------------------------------------------


def _overlay(base: Any, new: Any) -> None:
    """Replaces what `new` says.

    Raises:
      FailedPreconditionError: it names an argument or attr that is not there.
    """
    if new.visibility:
        base.visibility = new.visibility
    if new.endpoint:
        del base.endpoint[:]
        base.endpoint.extend(new.endpoint)
    for field in ("in_arg", "out_arg", "attr"):
        _overlay_args(base, getattr(base, field), getattr(new, field))
    if new.arg_order:
        if sorted(new.arg_order) != sorted(base.arg_order):
            raise _failed(
                f"Invalid arg_order: {', '.join(new.arg_order)} for "
                f"{base.graph_op_name}. All elements in arg_order override must match "
                f"base arg_order: {', '.join(base.arg_order)}"
            )
        base.arg_order[:] = new.arg_order
    base.summary = new.summary or base.summary
    parts = (
        new.description_prefix,
        new.description or base.description,
        new.description_suffix,
    )
    has_more = bool(parts[0]), True, bool(parts[2])
    base.description = "\n".join(
        part for part, is_there in zip(parts, has_more, strict=True) if is_there
    )


def _overlay_args(base: Any, known: Iterable[Any], news: Iterable[Any]) -> None:
    by_name = {arg.name: arg for arg in known}
    for new in news:
        arg = by_name.get(new.name)
        if arg is None:
            raise _failed(
                f"Argument {new.name} not defined in base api for {base.graph_op_name}"
            )
        arg.rename_to = new.rename_to or arg.rename_to
        arg.description = new.description or arg.description
        has_default = "default_value" in new.DESCRIPTOR.fields_by_name
        if has_default and new.HasField("default_value"):
            arg.default_value.CopyFrom(new.default_value)


def _rename_in_docs(api_def: Any) -> None:
    """Puts new names where the documentation has the earlier ones."""
    args = [*api_def.in_arg, *api_def.out_arg, *api_def.attr]
    pairs = [(api_def.graph_op_name, api_def.endpoint[0].name)]
    pairs += [(arg.name, arg.rename_to) for arg in args]
    for old, new in pairs:
        if old == new:
            continue
        for holder in args:
            holder.description = _renamed(holder.description, old, new)
        api_def.summary = _renamed(api_def.summary, old, new)
        api_def.description = _renamed(api_def.description, old, new)


def _renamed(text: str, old: str, new: str) -> str:
    return text.replace(f"`{old}`", f"`{new}`")
