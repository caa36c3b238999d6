"""The Open Inference Protocol over HTTP.

    GET  /v2                                            the server
    GET  /v2/health/live, /v2/health/ready
    GET  /v2/models/NAME[/versions/N]                   what it takes and gives
    GET  /v2/models/NAME[/versions/N]/ready
    POST /v2/models/NAME[/versions/N]/infer
    GET  /v2/models/NAME[/versions/N]/config
    GET  /v2/models[/NAME[/versions/N]]/stats
    POST /v2/repository/index
    POST /v2/repository/models/NAME/load, .../unload

Tensors are in the JSON, or, with the extension for binary data, behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import numpy as np

from tensorloom.framework import errors
from tensorloom.serving.calls.limits import LITTLE_BYTES
from tensorloom.serving.calls.step import finish
from tensorloom.serving.rest import json_values
from tensorloom.serving.rest.answers import JSON, Answer
from tensorloom.serving.v2 import datatypes
from tensorloom.serving.v2.datatypes import invalid
from tensorloom.serving.v2.models import (
    EXTENSIONS,
    PLATFORM,
    SERVER_NAME,
    SIGNATURE,
    Models,
    server_version,
    slot_of,
)

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature, Slot
    from tensorloom.serving.observe.observer import Call
    from tensorloom.serving.v2.repository import Repository

#: Says how many bytes of a body are JSON; tensors follow.
HEADER: Final = "Inference-Header-Content-Length"
_MODEL: Final = re.compile(
    r"/v2/models/([^/]+)(?:/versions/([^/]+))?(?:/(ready|infer|config|stats))?"
)

_LOAD: Final = re.compile(r"/v2/repository/models/([^/]+)/(load|unload)")


class V2Handlers:
    """The paths below `/v2`."""

    def __init__(self, models: Models, repository: Repository) -> None:
        self._models, self._repository = models, repository

    def health(self, method: str, path: str, body: bytes, call: Call) -> Answer:
        """The answer to a question after the server's health."""
        what = path.rpartition("/")[2]
        if what == "live":
            return Answer(b'{"live":true}')
        if what == "ready":
            is_ready = self._models.is_server_ready
            return Answer(
                json.dumps({"ready": is_ready}).encode(), 200 if is_ready else 503
            )
        raise _unknown(method, path)

    def answer(self, method: str, path: str, body: bytes, call: Call) -> Answer:
        """The answer to a request.

        Raises:
          errors.OpError: it failed.
        """
        if path in ("/v2", "/v2/") and method == "GET":
            return _json(
                {
                    "name": SERVER_NAME,
                    "version": server_version(),
                    "extensions": list(EXTENSIONS),
                }
            )
        if path.startswith("/v2/repository/") and method == "POST":
            return self._change(path, body)
        if path == "/v2/models/stats" and method == "GET":
            return _json(self._repository.statistics("", ""))
        match = _MODEL.fullmatch(path)
        if match is None:
            raise _unknown(method, path)
        name, version = unquote(match[1]), unquote(match[2] or "")
        if match[3] == "infer" and method == "POST":
            return finish(self._infer(name, version, body, call))
        if method != "GET" or match[3] == "infer":
            raise _unknown(method, path)
        if match[3] == "config":
            return _json(self._repository.config(name, version, call))
        if match[3] == "stats":
            return _json(self._repository.statistics(name, version))
        if match[3] == "ready":
            is_ready = self._models.is_ready(name, version)
            answer = json.dumps({"name": name, "ready": is_ready}).encode()
            return Answer(answer, 200 if is_ready else 503)
        return self._facts(name, version, call)

    def begin(
        self, method: str, path: str, body: bytes, call: Call
    ) -> Coroutine[Any, Any, Answer] | None:
        """The answer to a small `infer`, from within an event loop.

        Returns:
          What to wait for; None: `answer` has to be called, in a thread.
        """
        if method != "POST" or len(body) > LITTLE_BYTES:
            return None
        match = _MODEL.fullmatch(path)
        if match is None or match[3] != "infer":
            return None
        name, version = unquote(match[1]), unquote(match[2] or "")
        if self._models.is_logged(name):
            return None
        return self._infer(name, version, body, call)

    def _facts(self, name: str, version: str, call: Call) -> Answer:
        facts = self._models.facts(name, version, call)
        tensors = [
            [
                {"name": t.name, "datatype": t.datatype, "shape": list(t.shape)}
                for t in side
            ]
            for side in (facts.inputs, facts.outputs)
        ]
        return _json(
            {
                "name": facts.name,
                "versions": facts.versions,
                "platform": PLATFORM,
                "inputs": tensors[0],
                "outputs": tensors[1],
            }
        )

    def _change(self, path: str, body: bytes) -> Answer:
        asked = json_values.parse(body) if body else {}
        if path == "/v2/repository/index":
            return self._index(bool(asked.get("ready")))
        match = _LOAD.fullmatch(path)
        if match is None:
            raise _unknown("POST", path)
        name = unquote(match[1])
        if match[2] == "load":
            parameters = _object(asked.get("parameters", {}), "parameters")
            self._repository.load(name, list(parameters))
        else:
            self._repository.unload(name)
        return Answer(b"")

    def _index(self, is_ready_alone: bool) -> Answer:
        keys = ("name", "version", "state", "reason")
        found = [dict(zip(keys, e, strict=True)) for e in self._models.index()]
        return _json([e for e in found if e["state"] == "READY" or not is_ready_alone])

    # --- infer -----------------------------------------------------------------------

    async def _infer(self, name: str, version: str, body: bytes, call: Call) -> Answer:
        head, tail = _parts(body, call.headers)
        request = json_values.parse(head)
        parameters = _object(request.get("parameters", {}), "parameters")
        wanted = {
            str(output.get("name")): _object(output.get("parameters", {}), "parameters")
            for output in _objects(request.get("outputs", []), "outputs")
        }
        spec = self._models.spec(name, version, str(parameters.get(SIGNATURE, "")))
        servable, outputs = await self._models.wait_infer(
            spec,
            call,
            lambda signature: _inputs(request, tail, signature),
            list(wanted),
        )
        in_binary = bool(parameters.get("binary_data_output"))
        described, blobs = [], []
        for slot, array in outputs:
            entry: dict[str, Any] = {
                "name": slot.alias,
                "datatype": datatypes.name_of(slot.dtype),
                "shape": list(array.shape),
            }
            chosen = wanted.get(slot.alias, {}).get("binary_data", in_binary)
            if chosen:
                blobs.append(datatypes.to_bytes(array))
                entry["parameters"] = {"binary_data_size": len(blobs[-1])}
            else:
                entry["data"] = _data(slot, array)
            described.append(entry)
        answer = {
            "model_name": name,
            "model_version": str(servable.version),
            "outputs": described,
        }
        if "id" in request:
            answer["id"] = request["id"]
        return _with_blobs(answer, blobs)


def _parts(body: bytes, headers: Mapping[str, str]) -> tuple[bytes, memoryview]:
    """The JSON of a body, and the bytes of tensors behind it."""
    text = headers.get(HEADER.lower())
    if text is None:
        return body, memoryview(b"")
    if not text.isdigit() or int(text) > len(body):
        raise invalid(f"{HEADER} is {text}; the body has {len(body)} bytes")
    return body[: int(text)], memoryview(body)[int(text) :]


def _inputs(
    request: Mapping[str, Any], tail: memoryview, signature: Signature
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    for entry in _objects(request.get("inputs"), "inputs"):
        slot = slot_of(signature, str(entry.get("name")))
        if slot.alias in found:
            raise invalid(f"input '{slot.alias}' comes twice")
        datatypes.check(str(entry.get("datatype")), slot)
        shape = entry.get("shape")
        if not isinstance(shape, list):
            raise invalid(f"input '{slot.alias}' has no shape")
        size = _object(entry.get("parameters", {}), "parameters").get(
            "binary_data_size"
        )
        if size is None:
            found[slot.alias] = _from_json(entry.get("data"), shape, slot)
            continue
        if type(size) is not int or not 0 <= size <= len(tail) - at:
            raise invalid(
                f"input '{slot.alias}' has {size} bytes; {len(tail) - at} are left"
            )
        found[slot.alias] = datatypes.from_bytes(tail[at : at + size], shape, slot)
        at += size
    if at != len(tail):
        raise invalid(f"{len(tail) - at} bytes of the body belong to no input")
    return found


def _from_json(data: Any, shape: list[Any], slot: Slot) -> Any:
    """The array of an input in JSON; its list may be flat or nested."""
    count = datatypes.count_of(shape, slot.alias)
    if not isinstance(data, list):
        raise invalid(f"input '{slot.alias}' has no data")
    array = json_values.to_array(data, slot)
    if array.size != count:
        raise invalid(
            f"input '{slot.alias}' has {array.size} elements; its shape {shape} has "
            f"{count}"
        )
    return array.reshape(shape)


def _data(slot: Slot, array: Any) -> list[Any]:
    """The elements of an output for JSON.

    Raises:
      errors.InvalidArgumentError: JSON cannot hold them.
    """
    flat = array.reshape(-1)
    if slot.dtype.name == "string":
        try:
            return [element.decode() for element in flat]
        except UnicodeDecodeError:
            raise invalid(
                f"output '{slot.alias}' has bytes that are no text: ask for binary_data"
            ) from None
    if slot.dtype.is_floating and slot.dtype.size < 8:
        # With the digits of a float32, not of the double that is nearest to it.
        return [float(text) for text in flat.astype(np.float32).astype("U")]
    data: list[Any] = flat.tolist()
    return data


def _with_blobs(answer: Any, blobs: list[bytes]) -> Answer:
    text = json.dumps(answer, separators=(",", ":")).encode()
    if not blobs:
        return Answer(text)
    return Answer(
        b"".join([text, *blobs]),
        200,
        "application/octet-stream",
        {HEADER: str(len(text))},
    )


def _json(value: Any) -> Answer:
    return Answer(json.dumps(value, separators=(",", ":")).encode(), 200, JSON)


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise invalid(f"'{what}' must be an object")
    return value


def _objects(value: Any, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise invalid(f"'{what}' must be a list of objects")
    return value


def _unknown(method: str, path: str) -> errors.NotFoundError:
    return errors.NotFoundError(None, None, f"Unknown request: {method} {path}")
