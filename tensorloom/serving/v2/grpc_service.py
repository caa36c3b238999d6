"""The Open Inference Protocol over gRPC: `inference.GRPCInferenceService`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import json_format

from tensorloom.framework import errors
from tensorloom.serving.calls.step import finish
from tensorloom.serving.rpc.service import Method, Methods
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

SERVICE: Final = "inference.GRPCInferenceService"

# The typed list of each datatype; the others come and go as bytes alone.
_CONTENTS: Final = {
    "BOOL": "bool_contents",
    **dict.fromkeys(("INT8", "INT16", "INT32"), "int_contents"),
    "INT64": "int64_contents",
    **dict.fromkeys(("UINT8", "UINT16", "UINT32"), "uint_contents"),
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}


class V2Service:
    """The service's methods."""

    def __init__(self, models: Models, repository: Repository) -> None:
        self._models, self._repository = models, repository

    def methods(self) -> Methods:
        """Them, by path."""
        from tensorloom.protos.serving import grpc_predict_v2_pb2 as v2

        found = {
            "ServerLive": Method(v2.ServerLiveRequest, self._live, is_guarded=False),
            "ServerReady": Method(v2.ServerReadyRequest, self._ready, is_guarded=False),
            "ModelReady": Method(v2.ModelReadyRequest, self._model_ready),
            "ServerMetadata": Method(v2.ServerMetadataRequest, self._server),
            "ModelMetadata": Method(v2.ModelMetadataRequest, self._model),
            "ModelInfer": Method(
                v2.ModelInferRequest, self._infer, begin=self._wait_infer
            ),
            "ModelStreamInfer": Method(v2.ModelInferRequest, self._stream, True, True),
            "ModelConfig": Method(v2.ModelConfigRequest, self._config),
            "ModelStatistics": Method(v2.ModelStatisticsRequest, self._statistics),
            "RepositoryIndex": Method(v2.RepositoryIndexRequest, self._index),
            "RepositoryModelLoad": Method(v2.RepositoryModelLoadRequest, self._load),
            "RepositoryModelUnload": Method(
                v2.RepositoryModelUnloadRequest, self._unload
            ),
        }
        return {f"/{SERVICE}/{name}": method for name, method in found.items()}

    def _live(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ServerLiveResponse

        return ServerLiveResponse(live=True)

    def _ready(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ServerReadyResponse

        return ServerReadyResponse(ready=self._models.is_server_ready)

    def _model_ready(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ModelReadyResponse

        is_ready = self._models.is_ready(request.name, request.version)
        return ModelReadyResponse(ready=is_ready)

    def _server(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ServerMetadataResponse

        return ServerMetadataResponse(
            name=SERVER_NAME, version=server_version(), extensions=EXTENSIONS
        )

    def _model(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ModelMetadataResponse

        facts = self._models.facts(request.name, request.version, call)
        response: Any = ModelMetadataResponse(
            name=facts.name, versions=facts.versions, platform=PLATFORM
        )
        for given, field in (
            (facts.inputs, response.inputs),
            (facts.outputs, response.outputs),
        ):
            for t in given:
                field.add(name=t.name, datatype=t.datatype, shape=t.shape)
        return response

    def _index(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import (
            RepositoryIndexResponse,
        )

        response: Any = RepositoryIndexResponse()
        for name, version, state, reason in self._models.index():
            if state == "READY" or not request.ready:
                response.models.add(
                    name=name, version=version, state=state, reason=reason
                )
        return response

    def _config(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ModelConfigResponse

        found = self._repository.config(request.name, request.version, call)
        return json_format.ParseDict({"config": found}, ModelConfigResponse())

    def _statistics(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import (
            ModelStatisticsResponse,
        )

        found = self._repository.statistics(request.name, request.version)
        return json_format.ParseDict(found, ModelStatisticsResponse())

    def _load(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import (
            RepositoryModelLoadResponse,
        )

        self._repository.load(request.model_name, list(request.parameters))
        return RepositoryModelLoadResponse()

    def _unload(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import (
            RepositoryModelUnloadResponse,
        )

        self._repository.unload(request.model_name)
        return RepositoryModelUnloadResponse()

    # --- infer -----------------------------------------------------------------------

    def _infer(self, request: Any, call: Call) -> Any:
        return finish(self._wait_infer(request, call))

    async def _wait_infer(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import ModelInferResponse

        if self._models.is_logged(request.model_name):
            await call.limits.leave_thread()
        key = ""
        if SIGNATURE in request.parameters:
            key = request.parameters[SIGNATURE].string_param
        servable, outputs = await self._models.wait_infer(
            self._models.spec(request.model_name, request.model_version, key),
            call,
            lambda signature: _inputs(request, signature),
            [output.name for output in request.outputs],
        )
        response: Any = ModelInferResponse(
            model_name=request.model_name,
            model_version=str(servable.version),
            id=request.id,
        )
        names = [datatypes.name_of(slot.dtype) for slot, _ in outputs]
        is_raw = bool(request.raw_input_contents) or not _CONTENTS.keys() >= set(names)
        for (slot, array), datatype in zip(outputs, names, strict=True):
            output = response.outputs.add(
                name=slot.alias, datatype=datatype, shape=array.shape
            )
            if is_raw:
                response.raw_output_contents.append(datatypes.to_bytes(array))
            else:
                flat = array.reshape(-1).tolist()
                getattr(output.contents, _CONTENTS[datatype]).extend(flat)
        return response

    def _stream(self, requests: Iterable[Any], call: Call) -> Iterator[Any]:
        """A response for each request, in order; one that fails ends nothing."""
        from tensorloom.protos.serving.grpc_predict_v2_pb2 import (
            ModelStreamInferResponse,
        )

        for request in requests:
            response: Any = ModelStreamInferResponse()
            try:
                response.infer_response.CopyFrom(self._infer(request, call))
            except errors.OpError as error:
                response.error_message = error.message
                response.infer_response.id = request.id
            yield response


def _inputs(request: Any, signature: Signature) -> dict[str, Any]:
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise invalid(
            f"there are {len(request.inputs)} inputs, and {len(raw)} raw_input_contents"
        )
    found: dict[str, Any] = {}
    for place, entry in enumerate(request.inputs):
        slot = slot_of(signature, entry.name)
        if slot.alias in found:
            raise invalid(f"input '{slot.alias}' comes twice")
        datatypes.check(entry.datatype, slot)
        shape = list(entry.shape)
        if raw:
            found[slot.alias] = datatypes.from_bytes(raw[place], shape, slot)
        else:
            found[slot.alias] = _from_contents(entry, shape, slot)
    return found


def _from_contents(entry: Any, shape: Sequence[int], slot: Slot) -> Any:
    field = _CONTENTS.get(entry.datatype)
    if field is None:
        raise invalid(
            f"input '{slot.alias}' of {entry.datatype} must be in raw_input_contents"
        )
    count = datatypes.count_of(shape, slot.alias)
    elements = list(getattr(entry.contents, field))
    try:
        return datatypes.as_array(elements, count, shape, slot)
    except OverflowError:
        raise invalid(
            f"input '{slot.alias}' has an element that is no {entry.datatype}"
        ) from None
