"""Responses of TensorFlow Serving's REST calls.

Numbers are written as it writes them: a float with the fewest digits that give the same
float32 again, whole ones with `.0`, and NaN, Infinity and -Infinity as they are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.serving.calls.tensor_values import type_name
from tensorloom.serving.rest.json_values import invalid

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature

_BYTES_SUFFIX: Final = "_bytes"
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def predictions(signature: Signature, outputs: Mapping[str, Any]) -> bytes:
    """The body in row format: an element for each row of the outputs.

    Raises:
      errors.InvalidArgumentError: an output has no rows, or others than the first, or
        JSON has no values of its dtype.
    """
    written = _written_rows(signature, outputs)
    if len(written) == 1:
        (texts,) = written.values()
        body = ", ".join(texts)
    else:
        names = [json.dumps(name) for name in written]
        lines = zip(*written.values(), strict=True)
        body = ",".join(_row_object(names, values) for values in lines)
    return f'{{\n    "predictions": [{body}\n    ]\n}}'.encode()


def row_objects(signature: Signature, outputs: Mapping[str, Any]) -> list[bytes]:
    """An object of each row on one line, with its outputs' names.

    Raises:
      errors.InvalidArgumentError: as `predictions`.
    """
    written = _written_rows(signature, outputs)
    names = [json.dumps(name) for name in written]
    return [
        ("{" + ", ".join(map(": ".join, zip(names, texts, strict=True))) + "}").encode()
        for texts in zip(*written.values(), strict=True)
    ]


def _written_rows(
    signature: Signature, outputs: Mapping[str, Any]
) -> dict[str, list[str]]:
    rows: int | None = None
    for name, value in outputs.items():
        if not np.ndim(value):
            raise invalid(f"Tensor name: {name} has no shape information ")
        if rows is not None and len(value) != rows:
            raise invalid(
                f"Tensor name: {name} has inconsistent batch size: {len(value)} "
                f"expecting: {rows}"
            )
        rows = len(value)
    written = {name: _rows(signature, name, v) for name, v in outputs.items()}
    if not written:
        raise invalid("Cannot convert empty tensor map to JSON")
    return written


def _row_object(names: list[str], values: tuple[str, ...]) -> str:
    members = ",\n".join(
        f"            {name}: {value}"
        for name, value in zip(names, values, strict=True)
    )
    return f"\n        {{\n{members}\n        }}"


def outputs(signature: Signature, values: Mapping[str, Any]) -> bytes:
    """The body in column format; raises as `predictions`."""
    if not values:
        raise invalid("Cannot convert empty tensor map to JSON")
    texts = {name: _whole(signature, name, v) for name, v in values.items()}
    if len(texts) == 1:
        (body,) = texts.values()
    else:
        members = ",\n".join(f"        {json.dumps(n)}: {t}" for n, t in texts.items())
        body = f"{{\n{members}\n    }}"
    return f'{{\n    "outputs": {body}\n}}'.encode()


def classifications(result: Any) -> bytes:
    """The body for a `ClassificationResult`: [label, score] for each class."""
    if not result.classifications:
        raise invalid("Cannot convert empty ClassificationResults to JSON")
    rows = ", ".join(
        "["
        + ", ".join(
            f"[{json.dumps(entry.label, ensure_ascii=False)}, {number(entry.score)}]"
            for entry in row.classes
        )
        + "]"
        for row in result.classifications
    )
    return f'{{\n    "results": [{rows}\n    ]\n}}'.encode()


def regressions(result: Any) -> bytes:
    """The body for a `RegressionResult`: a number for each example."""
    if not result.regressions:
        raise invalid("Cannot convert empty RegressionResults to JSON")
    numbers = ", ".join(number(entry.value) for entry in result.regressions)
    return f'{{\n    "results": [{numbers}]\n}}'.encode()


def number(value: float) -> str:
    """A float32 in JSON."""
    text = str(np.float32(value))
    return _NOT_FINITE.get(text, text)


def _rows(signature: Signature, name: str, value: Any) -> list[str]:
    array = np.asarray(value)
    texts = _texts(signature, name, array)
    size = int(np.prod(array.shape[1:]))
    if array.ndim == 1:
        return texts
    return [
        _nested(texts[start : start + size], array.shape[1:])
        for start in range(0, size * len(array), size or 1)
    ] or ["[]"] * len(array)


def _whole(signature: Signature, name: str, value: Any) -> str:
    array = np.array(value, dtype=object) if isinstance(value, bytes) else value
    array = np.asarray(array)
    return _nested(_texts(signature, name, array), array.shape)


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """The texts of an array's elements, in the brackets of its axes."""
    if not shape:
        return texts[0]
    for size in reversed(shape[1:]):
        if not size:
            count = int(np.prod(shape[: shape.index(0)]))
            return _nested(["[]"] * count, shape[: shape.index(0)])
        texts = [
            "[" + ", ".join(texts[start : start + size]) + "]"
            for start in range(0, len(texts), size)
        ]
    return "[" + ", ".join(texts) + "]"


def _texts(signature: Signature, name: str, array: Any) -> list[str]:
    """The elements of an array in JSON."""
    dtype = signature.outputs[name].dtype
    if dtype.name == "string":
        as_bytes = name.endswith(_BYTES_SUFFIX)
        return [_string(value, as_bytes) for value in array.reshape(-1)]
    if dtype.is_bool:
        return ["true" if value else "false" for value in array.reshape(-1).tolist()]
    if dtype.is_integer and not dtype.is_quantized:
        return list(map(str, array.reshape(-1).tolist()))
    if dtype.name == "float64":
        texts = list(map(repr, array.reshape(-1).tolist()))
    elif dtype.is_floating:
        flat = array.reshape(-1).astype(np.float32)
        texts = flat.astype("U").tolist()
    else:
        raise invalid(f"Failed to write JSON value for tensor type: {type_name(dtype)}")
    if not np.isfinite(array.astype(np.float64)).all():
        return [_NOT_FINITE.get(text, text) for text in texts]
    return texts


def _string(value: bytes, as_bytes: bool) -> str:
    """A string; as base64 where its name says so, or where it is no text."""
    if not as_bytes:
        try:
            return json.dumps(value.decode(), ensure_ascii=False)
        except UnicodeDecodeError:
            pass
    return json.dumps({"b64": base64.b64encode(value).decode()})
