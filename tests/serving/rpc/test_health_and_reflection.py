"""What a client asks that knows nothing yet: health and reflection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool

from tensorloom.protos.serving import health_pb2, reflection_pb2

if TYPE_CHECKING:
    from tests.serving.servers import Served

CHECK = "/grpc.health.v1.Health/Check"


def test_check(served: Served) -> None:
    for name in ("", "tensorflow.serving.PredictionService", "ModelService", "half"):
        request = health_pb2.HealthCheckRequest(service=name)
        found = served.call(CHECK, request, health_pb2.HealthCheckResponse)
        assert found.status == health_pb2.HealthCheckResponse.SERVING
    request = health_pb2.HealthCheckRequest(service="none")
    assert (
        served.fails(CHECK, request, health_pb2.HealthCheckResponse)[0] == "NOT_FOUND"
    )


def test_watch(served: Served) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{served.server.grpc_port}") as channel:
        watch = channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        for name, status in (("", "SERVING"), ("none", "SERVICE_UNKNOWN")):
            stream = watch(health_pb2.HealthCheckRequest(service=name), timeout=30)
            found = next(iter(stream)).status
            stream.cancel()
            assert health_pb2.HealthCheckResponse.ServingStatus.Name(found) == status


def test_reflection_tells_all_types(served: Served) -> None:
    def ask(**request: Any) -> Any:
        with grpc.insecure_channel(f"127.0.0.1:{served.server.grpc_port}") as channel:
            method = channel.stream_stream(
                "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                reflection_pb2.ServerReflectionRequest.SerializeToString,
                reflection_pb2.ServerReflectionResponse.FromString,
            )
            requests = iter([reflection_pb2.ServerReflectionRequest(**request)])
            return next(iter(method(requests, timeout=30)))

    services = [s.name for s in ask(list_services="").list_services_response.service]
    assert "tensorflow.serving.PredictionService" in services
    for service in services:
        if service.startswith("grpc.reflection.v1alpha"):
            continue
        response = ask(file_containing_symbol=service).file_descriptor_response
        files = [
            descriptor_pb2.FileDescriptorProto.FromString(content)
            for content in response.file_descriptor_proto
        ]
        pool = descriptor_pool.DescriptorPool()
        for file in reversed(files):  # what is imported first
            _add(pool, file, {f.name: f for f in files})
        assert pool.FindServiceByName(service).methods
    assert ask(file_containing_symbol="no.Such").error_response.error_code == 5
    name = "tensorloom/protos/tensor.proto"
    assert ask(file_by_filename=name).HasField("file_descriptor_response")


def _add(pool: Any, file: Any, files: dict[str, Any]) -> None:
    try:
        pool.FindFileByName(file.name)
    except KeyError:
        for name in file.dependency:
            _add(pool, files[name], files)
        pool.Add(file)
