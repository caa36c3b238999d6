"""`tf.contrib.training.HParams`: hyperparameters as attributes, each of one type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.training.hparam_values import as_type, parse_values
from tensorloom.framework.export import export
from tensorloom.protos.hparam_pb2 import HParamDef


@export("contrib.training.HParams")
class HParams:
    """Hyperparameters: numbers, bools, strings, or lists of one of them.

    Args:
      hparam_def: an `HParamDef` message to begin with;
      kwargs: or names with their values.
      model_structure: anything; it is kept beside the values.

    Raises:
      ValueError: both are given, a name is an attribute already, or a list empty.
    """

    def __init__(
        self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any
    ) -> None:
        # By name the type of the value, or of a list's elements, and whether it is one.
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def and kwargs:
            raise ValueError(
                "hparam_def and initialization values are mutually exclusive"
            )
        if hparam_def and not isinstance(hparam_def, HParamDef):
            raise AssertionError(f"hparam_def is no HParamDef: {hparam_def!r}")
        values = _values_in(hparam_def) if hparam_def else kwargs
        for name, value in values.items():
            self.add_hparam(name, value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter, whose type is that of its value.

        Raises:
          ValueError: the name is an attribute already, or the list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, list | tuple)
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a parameter that is there.

        Raises:
          KeyError: it is not there.
          ValueError: the value is of another type, or a list where there was none.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) and not is_list:
            raise ValueError(
                f"Must not pass a list for single-valued parameter: {name}"
            )
        if is_list and not isinstance(value, list):
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        if is_list:
            setattr(self, name, [as_type(name, kind, each) for each in value])
        else:
            setattr(self, name, as_type(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets parameters from text such as `a=1,b=[2,3]`; returns itself.

        Raises:
          ValueError: the text cannot be read, or a name or type is wrong.
        """
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets the parameters of a dict; returns itself. Errors as of `set_hparam`."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """The older name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        """Sets what is kept beside the values."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """What is kept beside the values."""
        return self._model_structure

    def to_json(
        self, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """The values as JSON; arguments as of `json.dumps`."""
        return json.dumps(
            self.values(), indent=indent, separators=separators, sort_keys=sort_keys
        )

    def parse_json(self, values_json: str) -> HParams:
        """Sets parameters from JSON; returns itself. Errors as of `set_hparam`."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A parameter; the default where it is not there.

        Raises:
          ValueError: the default is of another type than the parameter.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        shown = f"list<{kind}>" if is_list else str(kind)
        message = (
            f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        )
        if is_list != isinstance(default, list):
            raise ValueError(message)
        try:
            for value in default if is_list else [default]:
                as_type(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{message}. {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    def to_proto(self, export_scope: str | None = None) -> HParamDef:
        """The parameters as an `HParamDef` message.

        Raises:
          ValueError: a value is of a type that it cannot hold.
        """
        from tensorloom.protos.hparam_pb2 import HParamDef

        message = HParamDef()
        for name, (kind, is_list) in self._hparam_types.items():
            family = _family(kind)
            value = getattr(self, name)
            values = value if is_list else [value]
            if family == "bytes":
                values = [v.encode() if isinstance(v, str) else v for v in values]
            if is_list:
                getattr(message.hparam[name], f"{family}_list").value.extend(values)
            else:
                setattr(message.hparam[name], f"{family}_value", values[0])
        return message

    @staticmethod
    def from_proto(hparam_def: HParamDef, import_scope: str | None = None) -> HParams:
        """The parameters in a message."""
        return HParams(hparam_def=hparam_def)


def _family(kind: type) -> str:
    """The name that messages have for a type."""
    for base, name in (
        (bool, "bool"),
        (int, "int64"),
        ((str, bytes), "bytes"),
        (float, "float"),
    ):
        if issubclass(kind, base):
            return str(name)
    raise ValueError(f"Unsupported parameter type: {kind}")


def _values_in(message: HParamDef) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, held in message.hparam.items():
        kind = held.WhichOneof("kind") or ""
        value: Any = getattr(held, kind)
        is_list = kind.endswith("_list")
        values = list(value.value) if is_list else [value]
        if kind.startswith("bytes"):
            values = [each.decode() for each in values]
        found[name] = values if is_list else values[0]
    return found
