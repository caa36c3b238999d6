"""The two sides of a model server: what is answered at which address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.serving.manager.model_config import parse_text_file
from tensorloom.serving.rpc import prediction_services, reflection
from tensorloom.serving.rpc.grpc_server import GrpcServer
from tensorloom.serving.rpc.health import SERVICE as HEALTH_SERVICE
from tensorloom.serving.rpc.health import Health
from tensorloom.serving.v2.grpc_service import SERVICE as V2_SERVICE
from tensorloom.serving.v2.grpc_service import V2Service
from tensorloom.transport.peers import host_port

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi
    from tensorloom.serving.options import ServerOptions
    from tensorloom.serving.rest.answers import Answer
    from tensorloom.serving.security.api_keys import ApiKeys
    from tensorloom.serving.security.server_tls import ServerTls
    from tensorloom.serving.v2.repository import Repository


class GrpcSide:
    """gRPC at a port, at a UNIX socket, or both."""

    def __init__(
        self,
        options: ServerOptions,
        api: ModelApi,
        repository: Repository,
        keys: ApiKeys,
        tls: ServerTls | None,
    ) -> None:
        """Takes the addresses."""
        services = [
            prediction_services.PREDICTION_SERVICE,
            prediction_services.MODEL_SERVICE,
            V2_SERVICE,
        ]
        self._health = Health(
            lambda: api.core.is_ready, lambda name: is_served(api, name), services
        )
        methods = {
            **prediction_services.methods(api),
            **V2Service(repository.models, repository).methods(),
            **self._health.methods(),
            **reflection.methods([*services, HEALTH_SERVICE]),
        }
        self._server = GrpcServer(
            methods,
            _grpc_addresses(options),
            keys,
            tls,
            options.max_request_bytes,
            options.max_concurrent_requests,
            _channel_arguments(options.grpc_channel_arguments),
        )
        ports = [port for port in self._server.ports if port > 1]  # 1: a UNIX socket
        self.port = ports[0] if ports else None

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    def stop(self, grace_s: float) -> None:
        """Ends it."""
        self._health.stop()
        self._server.stop(grace_s)


class HttpSide:
    """HTTP at a port, or nothing."""

    def __init__(
        self,
        options: ServerOptions,
        api: ModelApi,
        repository: Repository,
        keys: ApiKeys,
        tls: ServerTls | None,
        pads: bool,
    ) -> None:
        """Takes the address."""
        self.port: int | None = None
        self._server: Any = None
        if options.rest_api_port == 0:
            return
        from tensorloom.serving.rest.http_app import HttpApp, HttpLimits
        from tensorloom.serving.rest.http_server import HttpServer

        limits = HttpLimits(
            options.max_request_bytes,
            options.rest_api_timeout_in_ms / 1e3,
            options.max_concurrent_requests,
        )
        app = HttpApp(
            _routes(options, api, repository, pads),
            keys,
            limits,
            options.rest_api_enable_cors_support,
        )
        port = max(0, options.rest_api_port)
        self._server = HttpServer(app, options.bind_address, port, tls)
        self.port = self._server.port

    def start(self) -> None:
        """Begins to answer."""
        if self._server is not None:
            self._server.start()

    def stop(self, grace_s: float) -> None:
        """Ends it."""
        if self._server is not None:
            self._server.stop(grace_s)


def is_served(api: ModelApi, name: str) -> bool | None:
    """Whether a model has an available version; None: there is no such model."""
    if name not in api.core.configs:
        return None
    return any(s.is_up for s in api.core.manager.available().get(name, []))


def _routes(
    options: ServerOptions, api: ModelApi, repository: Repository, pads: bool
) -> list[Any]:
    from tensorloom.serving.rest import health
    from tensorloom.serving.rest.http_app import Route
    from tensorloom.serving.rest.model_handlers import ModelHandlers
    from tensorloom.serving.rest.status_page import StatusPage
    from tensorloom.serving.v2.rest import V2Handlers

    v1 = ModelHandlers(api, pads)
    v2 = V2Handlers(repository.models, repository)
    routes = [
        Route("/v1/", v1.answer, begin=v1.begin),
        Route("/v1/health", health.handler(api.core), is_guarded=False, is_quick=True),
        Route("/v2", v2.answer, begin=v2.begin),
        Route("/v2/health", v2.health, is_guarded=False, is_quick=True),
    ]
    if options.enable_status_page:
        page = StatusPage(api)
        routes.append(Route("/", page.page, is_guarded=False, is_quick=True))
        routes.append(Route("/status", page.data))
    path = _metrics_path(options)
    if path:
        routes.append(Route(path, _metrics_handler(api, path)))
    return routes


def _metrics_path(options: ServerOptions) -> str:
    """Where metrics are read; "": nowhere.

    Without a file they are read at TensorFlow Serving's path.
    """
    from tensorloom.protos.serving.monitoring_config_pb2 import MonitoringConfig
    from tensorloom.serving.observe.metrics import PATH

    if not options.monitoring_config_file:
        return PATH
    config: Any = parse_text_file(options.monitoring_config_file, MonitoringConfig())
    if not config.prometheus_config.enable:
        return ""
    return config.prometheus_config.path or PATH


def _metrics_handler(api: ModelApi, path: str) -> Any:
    from tensorloom.serving.rest.answers import Answer

    def answer(method: str, given: str, body: bytes, call: Any) -> Answer:
        if given != path:
            text = f"Unexpected path: {given}. Should be {path}"
            return Answer(text.encode(), 400, "text/plain")
        return Answer(api.observer.metrics.page(), 200, "text/plain; version=0.0.4")

    return answer


def _grpc_addresses(options: ServerOptions) -> list[str]:
    """Where gRPC is spoken; a port of 0 means nowhere, one of -1 any free one."""
    found = []
    if options.port:
        found.append(host_port.join(options.bind_address, max(0, options.port)))
    if options.grpc_socket_path:
        found.append(f"unix:{options.grpc_socket_path}")
    return found


def _channel_arguments(text: str) -> list[tuple[str, Any]]:
    """`name=value,...`: numbers where they are numbers.

    Raises:
      ValueError: a part is not of that form.
    """
    found: list[tuple[str, Any]] = []
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"grpc_channel_arguments: {part!r} is no name=value")
        is_number = value.lstrip("-").isdigit()
        found.append((name.strip(), int(value) if is_number else value))
    return found
