"""Servers in this process, and how tests speak with them."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tensorloom.protos.serving.predict_pb2 import PredictRequest
from tensorloom.serving.model_server import ModelServer
from tensorloom.serving.options import ServerOptions


@dataclass
class Served:
    """A running server, and how to speak with it."""

    server: ModelServer
    base: Path

    def rest(
        self, path: str, body: Any = None, method: str | None = None, **headers: str
    ) -> tuple[int, Any]:
        """(status, parsed JSON or raw body) of a request."""
        status, content, sent = self.raw(path, body, method, **headers)
        if sent.get("content-type", "").startswith("application/json") and content:
            return status, json.loads(content)
        return status, content

    def raw(
        self, path: str, body: Any = None, method: str | None = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        """(status, body, headers) of a request."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.rest_port, timeout=30
        )
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        method = method or ("GET" if body is None else "POST")
        connection.request(method, path, body, names)
        response = connection.getresponse()
        found = {k.lower(): v for k, v in response.getheaders()}
        content = response.read()
        connection.close()
        return response.status, content, found

    def call(self, path: str, request: Any, response: Any, **options: Any) -> Any:
        """The answer of a gRPC method."""
        import grpc

        options.setdefault("timeout", 30)
        with grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}") as channel:
            method = channel.unary_unary(
                path, type(request).SerializeToString, response.FromString
            )
            return method(request, **options)

    def fails(self, path: str, request: Any, response: Any) -> tuple[str, str]:
        """(code, message) of a gRPC method that fails."""
        import grpc

        with pytest.raises(grpc.RpcError) as caught:
            self.call(path, request, response)
        return caught.value.code().name, caught.value.details()


def start(base: Path, **options: Any) -> Served:
    """Starts a server for the config file beside the models, or for one model."""
    chosen = {"port": -1, "rest_api_port": -1, "max_num_load_retries": 0, **options}
    server = ModelServer(ServerOptions(**chosen))
    server.start(60)
    return Served(server, base)


def write_config(base: Path, *names: str, extra: str = "") -> str:
    """A config file for models in folders of their names."""
    file = base / "models.config"
    entries = "".join(
        f'config {{ name: "{name}" base_path: "{base / name}" '
        f'model_platform: "tensorflow" {extra} }}\n'
        for name in names
    )
    file.write_text(f"model_config_list {{\n{entries}}}\n")
    return str(file)


def rows_request(value: float) -> Any:
    """A `PredictRequest` for the signature `rows` of `models.moody`."""
    request: Any = PredictRequest()
    request.model_spec.name = "moody"
    request.model_spec.signature_name = "rows"
    x = request.inputs["x"]
    x.dtype = 1
    for size in (1, 2):
        x.tensor_shape.dim.add().size = size
    x.float_val.extend([value, 1.0])
    return request
