"""The functions of a context: messages, read once something calls one of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.function_op_def import signature_of
from tensorloom.framework.graph import graph_def
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import OpDef

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.protos import function_pb2


class FunctionLibrary:
    """Functions by name. They may call those that are added later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._definitions: dict[str, function_pb2.FunctionDef] = {}
        self._gradients: dict[str, str] = {}
        self._read: dict[str, FunctionIR] = {}
        self._unread: set[str] = set()

    def add(self, definition: Any, gradient: str = "") -> bool:
        """Adds a function; one that is there already stays. True if it is new.

        Args:
          definition: a `FunctionDef`, of whichever package, or one's bytes.
          gradient: the name of its gradient function.

        Raises:
          errors.InvalidArgumentError: it is no FunctionDef, has no name or that of an
            op, or another function has its name.
        """
        made = _decoded(definition)
        name = made.signature.name
        if not name:
            raise invalid_argument("A FunctionDef without a name cannot be added")
        if op_registry.find(name) is not None:
            raise invalid_argument(
                f"Cannot add function '{name}' because an op with the same name "
                "already exists."
            )
        with self._lock:
            known = self._definitions.get(name)
            if known is not None and known != made:
                raise invalid_argument(
                    f"Cannot add function '{name}' because a different function with "
                    "the same name already exists."
                )
            if gradient:
                self._gradients[name] = gradient
            if known is not None:
                return False
            self._definitions[name] = made
            self._unread.add(name)
        return True

    def remove(self, name: str) -> None:
        """Removes a function.

        Raises:
          errors.NotFoundError: there is none of that name.
        """
        with self._lock:
            if self._definitions.pop(name, None) is None:
                raise errors.NotFoundError(
                    None,
                    None,
                    f"Tried to remove non-existent function '{name}'.",
                )
            self._gradients.pop(name, None)
            # Those that call it are read anew.
            self._unread.update(self._definitions)
            self._read = {}

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    def definition(self, name: str) -> function_pb2.FunctionDef:
        """The message of a function.

        Raises:
          errors.NotFoundError: there is none of that name.
        """
        found = self._definitions.get(name)
        if found is None:
            raise errors.NotFoundError(
                None, None, f"Unable to find FunctionDef with name: {name}"
            )
        return found

    def functions(self) -> dict[str, FunctionIR]:
        """All functions; those that cannot be called have a problem."""
        with self._lock:
            if self._unread:
                self._read = self._read_more()
                self._unread = set()
            return self._read

    def _read_more(self) -> dict[str, FunctionIR]:
        """With those that are not read yet, or call one that was not there before."""
        from tensorloom.protos.function_pb2 import FunctionDefLibrary

        known = {n: f for n, f in self._read.items() if f.problem is None}
        names = [name for name in self._definitions if name not in known]
        library = FunctionDefLibrary(function=[self._definitions[n] for n in names])
        for name in names:
            if name in self._gradients:
                gradient = self._gradients[name]
                library.gradient.add(function_name=name, gradient_func=gradient)
        return {**known, **graph_def.functions_from_proto(library, known)}

    def signature(self, name: str) -> OpDef | None:
        """The definition of calls of a function; None if there is none of that name.

        Raises:
          errors.OpError: its signature is malformed.
        """
        if name not in self._definitions:
            return None
        function = self.functions()[name]
        found = signature_of(function)
        if not isinstance(found, OpDef):
            raise found.error()
        return found


def _decoded(definition: Any) -> function_pb2.FunctionDef:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.function_pb2 import FunctionDef

    if not isinstance(definition, bytes):
        definition = definition.SerializeToString()
    try:
        return FunctionDef.FromString(definition)
    except DecodeError:
        raise invalid_argument("Invalid FunctionDef proto") from None
