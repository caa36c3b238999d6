"""Metrics, traces and the access log of requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tensorloom.framework import errors
from tensorloom.serving.observe.metrics import Metrics
from tensorloom.serving.observe.tracing import Tracing, trace_id
from tests.serving import models

if TYPE_CHECKING:
    from tests.serving.servers import Served

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def _sample(page: str, name: str, *labels: str) -> float:
    """The value of a line of metrics that has these labels."""
    for line in page.splitlines():
        start, _, value = line.rpartition(" ")
        if start.split("{")[0] == name and all(text in start for text in labels):
            return float(value)
    raise AssertionError(f"{name} {labels} is not in\n{page}")


def test_metrics(start_server: Callable[..., Served], tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    batching = tmp_path / "batching"
    batching.write_text("max_batch_size { value: 4 } allowed_batch_sizes: 4")
    served = start_server(
        model_name="half",
        model_base_path=str(tmp_path / "half"),
        enable_batching=True,
        batching_parameters_file=str(batching),
    )
    for body in ({"inputs": [1, 2]}, {"inputs": ["x"]}, {"inputs": [1] * 5}):
        served.rest("/v1/models/half:predict", body)
    served.rest("/v1/models/unheard-of:predict", {"inputs": [1]})
    status, page, _ = served.raw("/monitoring/prometheus/metrics")
    assert status == 200
    text = page.decode()
    serving = ":tensorflow:serving:"
    model = 'model_name="half"'
    for name, labels, value in (
        (f"{serving}request_count", (model, 'status="OK"'), 1),
        (f"{serving}request_count", (model, 'status="INVALID_ARGUMENT"'), 2),
        (
            f"{serving}request_latency_count",
            (model, 'API="Predict"', 'entrypoint="REST"'),
            1,
        ),
        (f"{serving}runtime_latency_count", (model, 'runtime="TF1"'), 2),
        (f"{serving}batching_session:padding_size_sum", ('size="4"',), 2),
        (f"{serving}batching_session:input_batch_size_sum", (), 2),
        (f"{serving}batching_session:processed_batch_size_sum", (), 4),
        (f"{serving}batching_session:wrapped_run_count", (), 1),
        (":tensorflow:cc:saved_model:load_attempt_count", ('status="success"',), 1),
        ("tensorloom_serving_requests_total", ('model="half"', 'code="OK"'), 1),
        ("tensorloom_serving_requests_total", ('model=""', "NOT_FOUND"), 1),
        ("tensorloom_serving_batches_total", ('reason="timeout"',), 1),
        ("tensorloom_serving_versions", ('model="half"',), 1),
        ("tensorloom_serving_queued_requests", ('model="half"',), 0),
    ):
        assert _sample(text, name, *labels) == value
    assert "unheard-of" not in text
    assert _sample(text, "tensorloom_serving_resident_bytes") > 1 << 20
    assert served.raw("/monitoring/prometheus/metrics/x")[0] == 400


def test_a_path_of_ones_own(
    start_server: Callable[..., Served], tmp_path: Path
) -> None:
    models.half_plus(tmp_path / "half", 1)
    config = tmp_path / "monitoring"
    base = {"model_name": "half", "model_base_path": str(tmp_path / "half")}
    config.write_text('prometheus_config { enable: true path: "/metrics" }')
    served = start_server(**base, monitoring_config_file=str(config))
    assert served.raw("/metrics")[0] == 200
    assert served.raw("/monitoring/prometheus/metrics")[0] == 404
    config.write_text("prometheus_config { enable: false }")
    served = start_server(**base, monitoring_config_file=str(config))
    assert served.raw("/monitoring/prometheus/metrics")[0] == 404


def test_the_access_log(start_server: Callable[..., Served], tmp_path: Path) -> None:
    models.half_plus(tmp_path / "half", 1)
    log = tmp_path / "log"
    served = start_server(
        model_name="half",
        model_base_path=str(tmp_path / "half"),
        access_log=str(log),
    )
    served.rest("/v1/models/half:predict", {"inputs": [1]}, traceparent=PARENT)
    served.rest("/v1/models/half/versions/4:predict", {"inputs": [1]})
    first, second = map(json.loads, log.read_text().splitlines())
    assert first["trace_id"] == PARENT.split("-")[1]
    assert (first["entrypoint"], first["method"]) == ("REST", "Predict")
    assert first["ms"] >= first["step_ms"] > 0
    assert (second["status"], second["version"]) == ("NOT_FOUND", None)


def test_spans_are_children_of_the_callers() -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (
        InMemorySpanExporter,
    )

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider)
    with tracing.request("Predict", {"traceparent": PARENT}, model="m"):
        pass
    with pytest.raises(KeyError), tracing.request("Predict", {}, model="m"):
        raise KeyError
    first, second = exporter.get_finished_spans()
    context: Any = first.context
    assert f"{context.trace_id:032x}" == PARENT.split("-")[1]
    assert first.attributes == {"model": "m"}
    assert not second.status.is_ok


def test_the_environment_says_where_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_TRACES_EXPORTER", raising=False)
    with Tracing().request("Predict", {}) as span:
        assert span is None
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    with pytest.raises(errors.UnimplementedError, match="there are otlp, console"):
        Tracing()
    assert trace_id({"traceparent": "nonsense"}) == ""


def test_versions_that_are_long_gone_have_no_metrics() -> None:
    """Else those of a server that takes versions over for years fill its memory."""
    metrics = Metrics()
    for number in range(1100):
        metrics.load("m", f"/m/{number}", 0.5)
        metrics.warm_up(f"/m/{number}", 0, 0.5)
        metrics.load("m", "/m/0", None)
    page = metrics.page().decode()
    assert 'load_latency_count{model_path="/m/1099"} 1.0' in page
    assert 'load_attempt_count{model_path="/m/0",status="fail"} 1100.0' in page
    for number, is_there in ((1, False), (100, False), (101, True)):
        assert (f'model_path="/m/{number}"' in page) is is_there
