"""Traces by OpenTelemetry, as its standard environment variables say.

    OTEL_EXPORTER_OTLP_ENDPOINT   where spans are sent to
    OTEL_TRACES_EXPORTER          otlp (where there is an endpoint), console, none
    OTEL_SERVICE_NAME             tensorloom-serving where it is not set

Without them, and in a process whose own code has set up no traces, a request costs
nothing for it. The caller's `traceparent` is the parent of a request's span.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tensorloom.framework import errors


class Tracing:
    """Makes the spans of requests, if anybody wants them."""

    def __init__(self, provider: Any = None) -> None:
        """Takes a `TracerProvider`; None: what the environment says.

        Raises:
          errors.UnimplementedError: it asks for traces, and OpenTelemetry is not
            installed.
        """
        self._own = None if provider is not None else _provider_of_environment()
        provider = provider or self._own
        self._tracer: Any = None
        if provider is not None:
            from opentelemetry.trace.propagation.tracecontext import (
                TraceContextTextMapPropagator,
            )

            self._propagator = TraceContextTextMapPropagator()
            self._tracer = provider.get_tracer("tensorloom.serving")

    def request(
        self, name: str, headers: Mapping[str, str], **attributes: str
    ) -> AbstractContextManager[Any]:
        """The span of a request, as a child of what its headers name."""
        if self._tracer is None:
            return nullcontext()
        from opentelemetry.trace import SpanKind

        span: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            name,
            context=self._propagator.extract(headers),
            kind=SpanKind.SERVER,
            attributes=attributes,
        )
        return span

    def stop(self) -> None:
        """Sends what was not sent yet."""
        if self._own is not None:
            self._own.shutdown()


def trace_id(headers: Mapping[str, str]) -> str:
    """The id of the caller's trace; "" without one."""
    parts = headers.get("traceparent", "").split("-")
    return parts[1] if len(parts) == 4 and len(parts[1]) == 32 else ""


def _provider_of_environment() -> Any:
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    )
    wanted = os.environ.get("OTEL_TRACES_EXPORTER", "otlp" if endpoint else "none")
    if wanted == "none":
        return None
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import (
            BatchSpanProcessor,
            ConsoleSpanExporter,
            SimpleSpanProcessor,
        )
    except ImportError:
        raise errors.UnimplementedError(
            None,
            None,
            "The environment asks for traces, which need OpenTelemetry: install "
            "tensorloom[otel]",
        ) from None
    service = os.environ.get("OTEL_SERVICE_NAME", "tensorloom-serving")
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    if wanted == "console":
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
        return provider
    if wanted != "otlp":
        raise errors.UnimplementedError(
            None, None, f"OTEL_TRACES_EXPORTER={wanted}: there are otlp, console, none"
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
