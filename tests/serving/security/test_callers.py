"""Who may call: keys, TLS, and certificates of callers."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from tensorloom.framework import errors
from tensorloom.protos.serving import get_model_status_pb2, health_pb2
from tensorloom.serving.security.api_keys import VARIABLE, ApiKeys
from tensorloom.serving.security.server_tls import find_tls
from tests.certificates import make_certificates
from tests.serving import models

if TYPE_CHECKING:
    from tests.serving.servers import Served

STATUS = "/tensorflow.serving.ModelService/GetModelStatus"


def _serve(
    start_server: Callable[..., Served], tmp_path: Path, **options: Any
) -> Served:
    models.half_plus(tmp_path / "half", 1)
    return start_server(
        model_name="half", model_base_path=str(tmp_path / "half"), **options
    )


def test_keys(start_server: Callable[..., Served], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("first\n\nsecond\n")
    served = _serve(
        start_server, tmp_path, api_key_file=str(keys), access_log=str(tmp_path / "log")
    )
    path, body = "/v1/models/half:predict", {"inputs": [1]}
    status, answer = served.rest(path, body)
    assert (status, answer) == (
        401,
        {"error": "This server needs an API key that it knows"},
    )
    assert served.rest(path, body, x_api_key="third")[0] == 401
    assert served.rest(path, body, x_api_key="second")[0] == 200
    assert served.rest(path, body, authorization="Bearer first")[0] == 200
    assert served.rest("/v1/health/ready")[0] == 200
    assert served.rest("/monitoring/prometheus/metrics")[0] == 401
    request: Any = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "half"
    response: Any = get_model_status_pb2.GetModelStatusResponse
    assert served.fails(STATUS, request, response)[0] == "UNAUTHENTICATED"
    metadata = (("authorization", "Bearer second"),)
    assert served.call(STATUS, request, response, metadata=metadata)
    health: Any = health_pb2.HealthCheckResponse
    check = "/grpc.health.v1.Health/Check"
    assert served.call(check, health_pb2.HealthCheckRequest(), health).status == 1
    log = (tmp_path / "log").read_text()
    assert "second" not in log
    entry = json.loads(log.splitlines()[0])
    assert (entry["model"], entry["status"], entry["version"]) == ("half", "OK", 1)


def test_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    ApiKeys.find().check({})
    monkeypatch.setenv(VARIABLE, "one, two")
    keys = ApiKeys.find()
    keys.check({"x-api-key": "two"})
    for headers in ({}, {"x-api-key": ""}, {"authorization": "Basic two"}):
        with pytest.raises(errors.UnauthenticatedError):
            keys.check(headers)


def test_a_file_without_keys(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("\n")
    with pytest.raises(ValueError, match="has no API key"):
        ApiKeys.find(str(tmp_path / "keys"))


def _ssl_config(folder: Path, **changes: str) -> str:
    texts = {
        "server_key": (folder / "task.key").read_text(),
        "server_cert": (folder / "task.pem").read_text(),
        "custom_ca": (folder / "ca.pem").read_text(),
        **changes,
    }
    lines = [f"{name}: {json.dumps(text)}" for name, text in texts.items()]
    file = folder / "ssl.config"
    file.write_text("\n".join([*lines, "client_verify: true"]))
    return str(file)


def test_mutual_tls(start_server: Callable[..., Served], tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    make_certificates(folder, "server", "IP:127.0.0.1")
    served = _serve(start_server, tmp_path, ssl_config_file=_ssl_config(folder))
    url = f"https://127.0.0.1:{served.server.rest_port}/v1/models/half"
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    with pytest.raises((urllib.error.URLError, OSError)):
        urllib.request.urlopen(url, context=context, timeout=20)
    context.load_cert_chain(folder / "task.pem", folder / "task.key")
    with urllib.request.urlopen(url, context=context, timeout=20) as response:
        assert json.load(response)["model_version_status"]
    address = f"127.0.0.1:{served.server.grpc_port}"
    ca, key, cert = (
        (folder / name).read_bytes() for name in ("ca.pem", "task.key", "task.pem")
    )
    for credentials, fine in (
        (grpc.ssl_channel_credentials(ca, key, cert), True),
        (grpc.ssl_channel_credentials(ca), False),
    ):
        with grpc.secure_channel(address, credentials) as channel:
            ask = channel.unary_unary("/grpc.health.v1.Health/Check")
            if fine:
                assert ask(b"", timeout=20)
            else:
                with pytest.raises(grpc.RpcError):
                    ask(b"", timeout=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server_key": ""}, "no server_cert or no server_key"),
        ({"custom_ca": ""}, "needs a custom_ca"),
        ({"server_cert": "nonsense"}, "Cannot use the certificate or key for TLS"),
    ],
)
def test_wrong_files(tmp_path: Path, changes: Any, message: str) -> None:
    make_certificates(tmp_path, "server", "IP:127.0.0.1")
    with pytest.raises(errors.InvalidArgumentError) as caught:
        find_tls(_ssl_config(tmp_path, **changes))
    assert message in caught.value.message
