"""`ModelServer`: all the parts of a model server, put together."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.serving.batching.batcher import Batcher
from tensorloom.serving.batching.parameters import (
    BatchingOptions,
    parameters_of_model,
    read_parameters,
)
from tensorloom.serving.calls import warm_up
from tensorloom.serving.calls.model_api import ModelApi
from tensorloom.serving.logs.request_logs import RequestLogs
from tensorloom.serving.manager import model_config
from tensorloom.serving.manager.followed_checkpoints import followed_directory
from tensorloom.serving.manager.loader_options import make_loader
from tensorloom.serving.manager.model_manager import ManagerOptions, ModelManager
from tensorloom.serving.manager.server_core import ServerCore
from tensorloom.serving.manager.transitions import POLICIES
from tensorloom.serving.observe.access_log import AccessLog
from tensorloom.serving.observe.metrics import Metrics
from tensorloom.serving.observe.observer import Observer
from tensorloom.serving.observe.tracing import Tracing
from tensorloom.serving.process.process_loader import ProcessLoader
from tensorloom.serving.security.api_keys import ApiKeys
from tensorloom.serving.security.server_tls import find_tls
from tensorloom.serving.server_addresses import GrpcSide, HttpSide
from tensorloom.serving.v2.repository import Repository

if TYPE_CHECKING:
    from tensorloom.serving.manager.model_config import ModelConfig
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.options import ServerOptions

_logger = logging.getLogger("tensorloom.serving")


class ModelServer:
    """Serves models in this process.

    server = ModelServer(ServerOptions(model_name="m", model_base_path="/models/m"))
    server.start()
    ...
    server.stop()
    """

    def __init__(self, options: ServerOptions) -> None:
        """Reads the files that the options name, and takes the addresses.

        Raises:
          errors.OpError: a file says something wrong, or an address is taken.
          ValueError: an option is wrong.
          OSError: a file cannot be read.
        """
        self.options = options
        self._configs = _configs(options)
        self._batching = _batching(options)
        self.metrics = Metrics()
        self._tracing = Tracing()
        self._access_log = AccessLog(options.access_log) if options.access_log else None
        self._loader = make_loader(options, self._make_ready)
        self._processes = ProcessLoader(
            options, self.metrics.warm_up, self.metrics.process_ended
        )
        self.manager = ModelManager(
            self._load,
            _manager_options(options),
            loaded=self._note_loaded,
        )
        self._logs = RequestLogs(
            lambda name: self.core.configs.get(name),
            options.saved_model_tags,
            self.metrics.logged,
        )
        self.core = ServerCore(
            self.manager,
            options.file_system_poll_wait_seconds,
            options.model_config_file,
            options.model_config_file_poll_wait_seconds,
            options.allow_version_labels_for_unavailable_models,
            self._logs.follow,
        )
        self.observer = Observer(
            self.metrics,
            self._tracing,
            self._access_log,
            lambda name: name in self.core.configs,
        )
        self.api = ModelApi(
            self.core,
            self.observer,
            self._logs,
            options.enable_serialization_as_tensor_content,
            options.enable_config_reload,
            options.request_log_directory,
        )
        self._watch()
        keys = ApiKeys.find(options.api_key_file)
        tls = find_tls(options.ssl_config_file)
        pads = self._batching is not None and self._batching.pads_rows
        repository = Repository(self.api)
        self._grpc = GrpcSide(options, self.api, repository, keys, tls)
        try:
            self._http = HttpSide(options, self.api, repository, keys, tls, pads)
        except BaseException:
            self._grpc.stop(0.0)
            raise

    # --- life ------------------------------------------------------------------------

    @property
    def grpc_port(self) -> int | None:
        """Where gRPC is spoken; None: nowhere."""
        return self._grpc.port

    @property
    def rest_port(self) -> int | None:
        """Where HTTP is spoken; None: nowhere."""
        return self._http.port

    def start(self, timeout_s: float | None = None) -> bool:
        """Begins to answer, and waits until all models are available.

        Until then it is alive, but not ready.

        Returns:
          False if the time was over, or the server was stopped, before.

        Raises:
          errors.UnknownError: a model could not be loaded.
          errors.FailedPreconditionError: a label stands for no available version.
        """
        self._grpc.start()
        self._http.start()
        return self.core.start(self._configs, timeout_s)

    def stop(self, grace_s: float = 5.0) -> None:
        """Ends it: requests under way get so long to finish."""
        self.core.stop()
        self._grpc.stop(grace_s)
        self._http.stop(grace_s)
        self._processes.cancel_loads()
        self.manager.stop()
        self._processes.stop()
        self._tracing.stop()
        self._logs.close()
        if self._access_log is not None:
            self._access_log.close()

    # --- models ----------------------------------------------------------------------

    def _load(self, name: str, version: int, path: str) -> Servable:
        if self._processes.has(name, path):
            servable = self._processes.load(name, version, path)
            self._put_together(servable)
            return servable
        return self._loader.load(name, version, path)

    def _make_ready(self, servable: Servable) -> None:
        """The last of loading: batches, and warm-up through them."""
        self._put_together(servable)
        warm_up.warm_up_as_asked(servable, self.options, self.metrics.warm_up)

    def _put_together(self, servable: Servable) -> None:
        batching = self._batching
        if batching is not None and self.options.enable_per_model_batching_parameters:
            batching = parameters_of_model(servable.path)
        if batching is not None:
            self._add_batcher(servable, batching)

    def _add_batcher(self, servable: Servable, batching: BatchingOptions) -> None:
        def report(
            reason: str, rows: list[int], waits_s: list[float], padding: int
        ) -> None:
            servable.statistics.waited(sum(waits_s), len(waits_s))
            self.metrics.batched(
                servable.name, reason, rows, waits_s, padding, batching.pool_name
            )

        batcher = Batcher(
            servable.run,
            batching,
            report,
            servable.wait_up,
            # Of two steps each may see another state of the training.
            in_one_step=followed_directory(servable.path) is not None,
        )
        servable.runner, servable.starter = batcher.run, batcher.start
        servable.waiting = lambda: batcher.waiting

    def _note_loaded(
        self, name: str, version: int, path: str, seconds: float | None
    ) -> None:
        self.metrics.load(name, path, seconds)

    def _watch(self) -> None:
        def of_models(read: Any) -> Any:
            return lambda: {
                name: float(sum(map(read, servables)))
                for name, servables in self.manager.available().items()
            }

        watch = self.metrics.watch
        watch("versions", "Available versions.", "model", of_models(lambda s: 1))
        watch(
            "running_requests",
            "Requests under way.",
            "model",
            of_models(lambda s: s.holders),
        )
        watch(
            "queued_requests",
            "Requests that wait for their batch to start.",
            "model",
            of_models(lambda s: s.waiting()),
        )
        watch(
            "model_bytes",
            "The estimated memory of the available versions.",
            "model",
            of_models(lambda s: self.manager.budget.size_of(s.name, s.version)),
        )
        watch(
            "process_bytes",
            "The memory of the processes that models have of their own.",
            "model",
            self._processes.resident_bytes,
        )


def _configs(options: ServerOptions) -> Mapping[str, ModelConfig]:
    if options.model_config_file:
        return model_config.read_config_file(options.model_config_file)
    if not options.model_base_path:
        raise ValueError(
            "Both server_options.model_base_path and server_options.model_config_file "
            "are empty! Give --model_base_path or --model_config_file"
        )
    return model_config.single_model(options.model_name, options.model_base_path)


def _batching(options: ServerOptions) -> BatchingOptions | None:
    if not options.enable_batching:
        if options.batching_parameters_file:
            raise ValueError(
                "server_options.batching_parameters_file is set without setting "
                "server_options.enable_batching to true."
            )
        return None
    if options.batching_parameters_file:
        return read_parameters(options.batching_parameters_file)
    return BatchingOptions()


def _manager_options(options: ServerOptions) -> ManagerOptions:
    policy = POLICIES.get(options.version_transition)
    if policy is None:
        raise ValueError(
            f"version_transition must be one of {', '.join(POLICIES)}; was "
            f"{options.version_transition!r}"
        )
    limit_mb = options.model_memory_limit_mb
    return ManagerOptions(
        policy,
        options.num_load_threads,
        options.max_num_load_retries,
        options.load_retry_interval_micros / 1e6,
        options.unload_grace_seconds,
        (limit_mb << 20) or None,
    )
