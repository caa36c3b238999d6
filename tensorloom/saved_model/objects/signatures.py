"""The signatures of a SavedModel of objects: functions from names to named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.concrete_function import ConcreteFunction, trace
from tensorloom.client.functions.def_function import Function
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest
from tensorloom.framework.types.trackable import Trackable, functions_among
from tensorloom.saved_model import constants
from tensorloom.saved_model.objects.function_messages import argument_specs
from tensorloom.saved_model.objects.revived_types import (
    VersionedTypeRegistration,
    register_revived_type,
)

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.saved_model.objects.object_view import SavedObjectView

SIGNATURE_ATTRIBUTE_NAME = "signatures"
_DEFAULT_SIGNATURE_ATTR = "_default_save_signature"


class SignatureMap(Mapping[str, Any], Trackable):
    """The signatures of a SavedModel: its attribute `signatures` when it is loaded."""

    def __init__(self) -> None:
        self._signatures: dict[str, Any] = {}

    def _add_signature(self, name: str, concrete_function: Any) -> None:
        self._signatures[name] = concrete_function

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        return functions_among(self)


register_revived_type(
    "signature_map",
    lambda obj: isinstance(obj, SignatureMap),
    [
        VersionedTypeRegistration(
            object_factory=lambda proto: SignatureMap(),
            version=1,
            min_producer_version=1,
            min_consumer_version=1,
            setter=SignatureMap._add_signature,
        )
    ],
)


def find_function_to_export(view: SavedObjectView) -> Any:
    """The only function of the root that can be a signature; None if not just one."""
    functions = view.functions(view.root)
    default = functions.get(_DEFAULT_SIGNATURE_ATTR)
    if default is not None:
        return default
    possible = [
        concrete
        for concrete in map(_concrete, functions.values())
        if concrete is not None and _can_be_signature(concrete)
    ]
    return possible[0] if len(possible) == 1 else None


def _concrete(function: Any) -> ConcreteFunction | None:
    if isinstance(function, Function) and function.input_signature is not None:
        function = function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def _can_be_signature(concrete: ConcreteFunction) -> bool:
    if not concrete.has_outputs:
        return False
    try:
        _named_outputs(concrete.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def canonicalize_signatures(signatures: Any) -> SignatureMap:
    """The given functions as functions from named arguments to dicts of tensors.

    Args:
      signatures: a function, or a mapping from keys to functions; None for none.

    Raises:
      ValueError: one is no function with a signature, or returns structures.
    """
    found = SignatureMap()
    if signatures is None:
        return found
    if not isinstance(signatures, Mapping):
        signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    for key, function in signatures.items():
        concrete = _concrete(function)
        if concrete is None:
            raise ValueError(
                "Expected a TensorFlow function to generate a signature for, but got "
                f"{function}. Only `tf.functions` with an input signature or concrete "
                "functions can be used as a signature."
            )
        found._add_signature(key, _wrapped(concrete, key))
    return found


def _wrapped(concrete: ConcreteFunction, key: str) -> ConcreteFunction:
    specs = dict(zip(concrete.argument_names, argument_specs(concrete), strict=True))
    names = sorted(specs)

    def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
        return [], {
            name: graph.add_argument(specs[name].dtype, specs[name].shape, name)
            for name in names
        }

    def signature_wrapper(**kwargs: Any) -> Any:
        ordered = [kwargs[name] for name in specs]
        return _named_outputs(concrete.call_flat(ordered), concrete.name.decode(), key)

    made = trace("signature_wrapper", make_arguments, signature_wrapper, names)
    # A SignatureDef has no order: several arguments are told apart by name.
    made._num_positional_args = 1 if len(names) == 1 else 0
    return made


def _named_outputs(outputs: Any, function_name: str, key: str) -> Mapping[str, Any]:
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not _is_tensor(value):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key "
                    f"{name} in the output of the function {function_name} used to "
                    "generate a SavedModel signature. Dictionaries outputs for "
                    "functions used as signatures should have one Tensor output per "
                    "string key."
                )
        return outputs
    flat = outputs if isinstance(outputs, Sequence) else [outputs]
    if any(nest.is_nested(one) or not _is_tensor(one) for one in flat):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel "
            f"signature '{key}'. Signatures have one Tensor per output, so to have "
            "predictable names Python functions used to generate these signatures "
            "should avoid outputting Tensors in nested structures."
        )
    return {f"output_{index}": one for index, one in enumerate(flat)}


def _is_tensor(value: Any) -> bool:
    from tensorloom.data.specs import TensorSpec  # of functions that were loaded

    return isinstance(value, Tensor | TensorSpec)


def validate_signature_name(view: SavedObjectView) -> None:
    """Checks that the root has no attribute of its own in the signatures' place.

    Raises:
      ValueError: it has one.
    """
    for name, dependency in view.root._checkpoint_dependencies:
        if name == SIGNATURE_ATTRIBUTE_NAME and not isinstance(
            dependency, SignatureMap
        ):
            raise ValueError(
                f"Exporting an object {view.root} which has an attribute named "
                f"'{name}'. This is a reserved attribute used to store SavedModel "
                "signatures in objects which come from `tf.saved_model.load`. Delete "
                f"this attribute (e.g. 'del obj.{name}') before saving if this "
                "shadowing is acceptable."
            )
