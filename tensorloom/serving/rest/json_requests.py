"""Bodies of TensorFlow Serving's REST calls: row and column format, and examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.serving.rest import json_values, number_lists
from tensorloom.serving.rest.json_values import invalid, kind_of, shown
from tensorloom.serving.rest.number_lists import NumberLists

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature


def parse(body: bytes) -> dict[str, Any]:
    """The object in the body of a predict call; what is `NumberLists` may be those.

    Raises:
      errors.InvalidArgumentError: it is no JSON, or no object.
    """
    return number_lists.read(body) or json_values.parse(body)


def signature_name(body: Mapping[str, Any]) -> str:
    """The signature that a body names; "" if it names none.

    Raises:
      errors.InvalidArgumentError: the name is no string.
    """
    name = body.get("signature_name", "")
    if not isinstance(name, str):
        raise invalid(
            f"JSON Value: {shown(body)} not formatted correctly. 'signature_name' key "
            "must be a string value."
        )
    return name


def is_row_format(body: Mapping[str, Any]) -> bool:
    """Whether a body has `instances`, and not `inputs`.

    Raises:
      errors.InvalidArgumentError: it has both, or neither.
    """
    if "instances" in body and "inputs" in body:
        raise invalid(
            f"JSON Value: {shown(body)} Not formatted correctly expecting only one of "
            "'inputs' or 'instances' keys to exist "
        )
    if "instances" not in body and "inputs" not in body:
        raise invalid("Missing 'inputs' or 'instances' key")
    return "instances" in body


def input_values(
    body: Mapping[str, Any], signature: Signature, pads: bool = False
) -> dict[str, Any]:
    """The arrays of a body, by alias.

    Args:
      body: of a predict call.
      signature: that it is for.
      pads: whether lists of different lengths are filled up.

    Raises:
      errors.InvalidArgumentError: something of it is wrong.
    """
    if not signature.inputs:
        raise invalid(f"Failed to get input map for signature: {signature.key}")
    for key, value in body.items():
        if isinstance(value, NumberLists):
            array = _only_floats(value, signature)
            if array is not None:
                return {next(iter(signature.inputs)): array}
            body = {**body, key: value.lists()}
    if is_row_format(body):
        return _from_rows(body, signature, pads)
    return _from_columns(body["inputs"], signature, pads)


def _only_floats(value: NumberLists, signature: Signature) -> Any:
    """The array of a signature's only input; None: it has others, or other dtypes."""
    slots = list(signature.inputs.values())
    if len(slots) > 1 or slots[0].dtype.name not in ("float32", "float64"):
        return None
    return value.floats(slots[0].dtype.np_dtype)


def _from_columns(value: Any, signature: Signature, pads: bool) -> dict[str, Any]:
    slots = signature.inputs
    is_named = isinstance(value, dict) and not json_values.is_base64(value)
    if not is_named:
        if len(slots) > 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple "
                "input tensors required as per tensorinfo_map"
            )
        (slot,) = slots.values()
        return {slot.alias: json_values.to_array(value, slot, pads)}
    found = {}
    for alias, slot in slots.items():
        if alias in value:
            found[alias] = json_values.to_array(value[alias], slot, pads)
        elif alias not in signature.defaults:
            raise invalid(f"Missing named input: {alias} in 'inputs' object.")
    return found


def _from_rows(
    body: Mapping[str, Any], signature: Signature, pads: bool
) -> dict[str, Any]:
    rows = body["instances"]
    if not isinstance(rows, list):
        raise invalid(
            f"JSON Value: {shown(body)} Expecting 'instances' to be an list/array"
        )
    if not rows:
        raise invalid(f"JSON Value: {shown(body)} No values in 'instances' array")
    if not _is_named(rows[0]):
        return _from_plain_rows(rows, signature, pads)
    names = signature.inputs.keys() - signature.defaults.keys()
    for place, row in enumerate(rows):
        if not _is_named(row):
            kind = "list" if isinstance(row, list) else "value"
            raise invalid(
                f"Expecting object but got {kind} at item {place} of input list"
            )
        if not names <= row.keys() <= signature.inputs.keys():
            raise _wrong_keys(row, place, signature)
    return {
        alias: _stack([row[alias] for row in rows], signature, alias, pads)
        for alias in signature.inputs
        if all(alias in row for row in rows)
    }


def _from_plain_rows(
    rows: list[Any], signature: Signature, pads: bool
) -> dict[str, Any]:
    if len(signature.inputs) > 1:
        raise invalid(
            "instances is a plain list, but expecting list of objects as multiple "
            "input tensors required as per tensorinfo_map"
        )
    for place, row in enumerate(rows):
        if _is_named(row):
            raise invalid(
                f"Expecting value/list but got object at item {place} of input list"
            )
    (alias,) = signature.inputs
    return {alias: _stack(rows, signature, alias, pads)}


def _is_named(row: Any) -> bool:
    return isinstance(row, dict) and not json_values.is_base64(row)


def _stack(rows: list[Any], signature: Signature, alias: str, pads: bool) -> Any:
    """The rows of one input as an array; if that fails, the row that is wrong."""
    slot = signature.inputs[alias]
    try:
        return json_values.to_array(rows, slot, pads)
    except Exception:
        first: tuple[int, ...] | None = None
        for place, row in enumerate(rows):
            try:
                shape = np.shape(json_values.to_array(row, slot))
            except Exception as error:
                raise _failed_row(place, error) from None
            if first is not None and shape != first:
                raise _failed_row(place, _difference(first, shape)) from None
            first = shape
        raise


def _difference(first: tuple[int, ...], shape: tuple[int, ...]) -> Exception:
    sizes = int(np.prod(first)), int(np.prod(shape))
    if sizes[0] != sizes[1]:
        return invalid(f"Expecting tensor size: {sizes[0]} but got: {sizes[1]}")
    texts = ["[" + ",".join(map(str, s)) + "]" for s in (first, shape)]
    return invalid(f"Expecting shape {texts[0]} but got: {texts[1]}")


def _failed_row(place: int, error: Exception) -> Exception:
    message = getattr(error, "message", None) or str(error)
    return invalid(
        f"Failed to process element: {place} of 'instances' list. Error: "
        f"INVALID_ARGUMENT: {message}"
    )


def _wrong_keys(row: dict[str, Any], place: int, signature: Signature) -> Exception:
    for name in row:
        if name not in signature.inputs:
            return invalid(
                f"Failed to process element: {place} key: {name} of 'instances' list. "
                "Error: INVALID_ARGUMENT: JSON object: does not have named input: "
                f"{name}"
            )
    return invalid(
        f"Failed to process element: {place} of 'instances' list. JSON object: "
        f"{shown(row)} keys must be equal to: {','.join(sorted(signature.inputs))}"
    )


# --- classify and regress ------------------------------------------------------------


def fill_examples(body: Mapping[str, Any], message: Any) -> None:
    """Fills an `Input` from the body of a classify or regress call.

    Raises:
      errors.InvalidArgumentError: something of it is wrong.
    """
    together: Any = message.example_list
    if "context" in body:
        together = message.example_list_with_context
        _fill_example(body["context"], together.context)
    if "examples" not in body:
        raise invalid(
            f"JSON Value: {shown(body)} When method is classify, key 'examples' is "
            "expected and was not found"
        )
    examples = body["examples"]
    if not isinstance(examples, list):
        raise invalid(
            f"JSON Value: {shown(body)} Expecting 'examples' value to be an list/array"
        )
    if not examples:
        raise invalid(f"JSON Value: {shown(body)} 'examples' value is an empty array")
    for example in examples:
        _fill_example(example, together.examples.add())


def _fill_example(value: Any, example: Any) -> None:
    if not isinstance(value, dict):
        raise invalid(f"Example must be JSON object but got JSON {kind_of(value)}")
    for name, content in value.items():
        feature = example.features.feature[name]
        for element in content if isinstance(content, list) else [content]:
            _add_to_feature(element, name, feature)


def _add_to_feature(element: Any, name: str, feature: Any) -> None:
    kind: str
    value: Any
    if isinstance(element, str):
        kind, value = "bytes_list", element.encode(errors="surrogatepass")
    elif json_values.is_base64(element):
        kind, value = "bytes_list", json_values.decode_base64(element["b64"])
    elif isinstance(element, bool | int):
        kind, value = "int64_list", int(element)
    elif isinstance(element, float):
        kind, value = "float_list", element
    else:
        raise invalid(
            f"Feature: {name} has element with unexpected JSON type: {kind_of(element)}"
        )
    known = feature.WhichOneof("kind")
    if known not in (None, kind):
        raise invalid(
            f"Unexpected element type in feature: {name} expecting type: "
            f"{known.removesuffix('_list')}"
        )
    if kind == "int64_list" and not -(2**63) <= value < 2**63:
        raise invalid(
            f"Feature: {name} has uint64_t element. Only int64_t is supported."
        )
    getattr(feature, kind).value.append(value)
