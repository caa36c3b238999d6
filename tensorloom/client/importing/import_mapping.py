"""The `input_map` of an import: what stands in for outputs of the imported nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.tensor import Tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


def parse_tensor_name(name: str) -> tuple[str, int]:
    """("node", index) of "node:index"; of "node" the output 0.

    Raises:
      ValueError: it is neither.
    """
    op_name, colon, index = name.partition(":")
    if not colon:
        return op_name, 0
    if not index.isdigit():
        raise ValueError(f"Cannot convert {name!r} to a tensor name.")
    return op_name, int(index)


class InputMapping:
    """Replaces mapped inputs in a GraphDef by stand-ins, and knows what those are.

    A stand-in is a node of its own with the dtype of the tensor that is used in its
    place, so that the checks of reading a GraphDef see a whole graph.
    """

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self._keys = {_parse_key(key): key for key in mapping}
        self._values: dict[tuple[str, int], Any] = {
            _parse_key(key): value for key, value in mapping.items()
        }
        self._used: set[tuple[str, int]] = set()
        self._stand_ins: dict[str, Any] = {}  # by the name of the stand-in
        self._originals: dict[str, str] = {}  # name of the stand-in -> what is mapped

    def apply(self, proto: Any) -> None:
        """Rewrites the inputs of a GraphDef in place."""
        if not self._values:
            return
        taken = {node.name for node in proto.node}
        names: dict[tuple[str, int], str] = {}
        for node in proto.node:
            for i, text in enumerate(node.input):
                key = _parse_input(text)
                if key not in self._values:
                    continue
                self._used.add(key)
                if key not in names:
                    names[key] = self._make_name(key, taken)
                node.input[i] = ("^" if key[1] < 0 else "") + names[key]
        for key, name in names.items():
            value = self._values[key]
            stand_in = proto.node.add(name=name, op="NoOp")
            if key[1] >= 0:
                stand_in.op = "Placeholder"
                stand_in.attr["dtype"].type = value.dtype.as_datatype_enum

    def _make_name(self, key: tuple[str, int], taken: set[str]) -> str:
        number = len(self._stand_ins)
        while (name := f"input_map_{number}") in taken:
            number += 1
        taken.add(name)
        self._stand_ins[name] = self._values[key]
        self._originals[name] = self._values[key].name.partition(":")[0]
        return name

    def tensor(self, name: str) -> Tensor | None:
        """The tensor that a stand-in stands for; None if it is none."""
        value: Tensor | None = self._stand_ins.get(name)
        return value

    def operation(self, name: str) -> Operation | None:
        """The operation that the stand-in of a control input stands for."""
        value = self._stand_ins.get(name)
        return value.op if isinstance(value, Tensor) else value

    def replacement(self, name: str, index: int) -> Any:
        """What an output of the GraphDef is mapped to, or None."""
        return self._values.get((name, index))

    def unknown_keys(self, output_counts: Mapping[str, int]) -> list[str]:
        """The keys that no input uses and that name nothing in the GraphDef."""
        return [
            text
            for key, text in self._keys.items()
            if key not in self._used and key[1] >= output_counts.get(key[0], -1)
        ]

    def readable(self, message: str, prefix: str) -> str:
        """An error's text with the mapped tensors' names in place of stand-ins."""
        for name, original in self._originals.items():
            message = message.replace(f"{prefix}/{name}", original)
            message = message.replace(name, original)
        return message


def _parse_key(key: str) -> tuple[str, int]:
    return (key[1:], -1) if key.startswith("^") else parse_tensor_name(key)


def _parse_input(text: str) -> tuple[str, int]:
    """An input as a NodeDef writes it; ("", 0) for one that is malformed."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.partition(":")
    if colon and not index.isdigit():
        return "", 0
    return name, int(index) if colon else 0
