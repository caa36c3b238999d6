"""gRPC's server reflection: what a client without stubs asks first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pb2

from tensorloom.framework import errors
from tensorloom.protos.pool import POOL
from tensorloom.serving.rpc.service import Method, Methods

if TYPE_CHECKING:
    from tensorloom.serving.observe.observer import Call

SERVICE: Final = "grpc.reflection.v1.ServerReflection"
# The same messages under the name that most clients still use.
_EARLIER: Final = "grpc.reflection.v1alpha.ServerReflection"


def methods(services: Iterable[str]) -> Methods:
    """The methods, for a server with these services."""
    # What is imported is what the pool knows.
    from tensorloom.protos.serving import (  # noqa: F401
        grpc_predict_v2_pb2,
        health_pb2,
        model_service_pb2,
        prediction_service_pb2,
    )
    from tensorloom.protos.serving.reflection_pb2 import ServerReflectionRequest

    names = sorted({*services, SERVICE, _EARLIER})

    def answer(requests: Iterable[Any], call: Call) -> Iterator[Any]:
        return (_answer(request, names) for request in requests)

    method = Method(ServerReflectionRequest, answer, True, True)
    return {f"/{name}/ServerReflectionInfo": method for name in (SERVICE, _EARLIER)}


def _answer(request: Any, services: list[str]) -> Any:
    from tensorloom.protos.serving.reflection_pb2 import ServerReflectionResponse

    response: Any = ServerReflectionResponse(
        valid_host=request.host, original_request=request
    )
    kind = request.WhichOneof("message_request")
    try:
        if kind == "list_services":
            for name in services:
                response.list_services_response.service.add().name = name
        elif kind == "file_by_filename":
            _fill_files(response, POOL.FindFileByName(request.file_by_filename))
        elif kind == "file_containing_symbol":
            symbol = request.file_containing_symbol.replace(_EARLIER, SERVICE)
            _fill_files(response, POOL.FindFileContainingSymbol(symbol))
        elif kind == "all_extension_numbers_of_type":
            name = request.all_extension_numbers_of_type
            POOL.FindMessageTypeByName(name)
            response.all_extension_numbers_response.base_type_name = name
        else:  # there are no extensions
            raise KeyError
    except KeyError:
        response.error_response.error_code = errors.NOT_FOUND
        response.error_response.error_message = "There is no such symbol or file"
    return response


def _fill_files(response: Any, file: Any) -> None:
    """The file, and what it imports, each once."""
    found: dict[str, bytes] = {}
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current.name not in found:
            proto = descriptor_pb2.FileDescriptorProto()
            current.CopyToProto(proto)
            found[current.name] = proto.SerializeToString()
            waiting.extend(current.dependencies)
    response.file_descriptor_response.file_descriptor_proto.extend(found.values())
