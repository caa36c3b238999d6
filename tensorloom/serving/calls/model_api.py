"""`ModelApi`: every call of the server, from a message to a message.

gRPC and REST both end here; what they add is how messages come and go.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.serving.calls import about_models, examples
from tensorloom.serving.calls import predict as predicting
from tensorloom.serving.calls.step import finish
from tensorloom.serving.logs import request_logs
from tensorloom.serving.logs.log_options import is_below
from tensorloom.serving.manager import model_config

if TYPE_CHECKING:
    from tensorloom.serving.calls.limits import CallLimits
    from tensorloom.serving.logs.request_logs import RequestLogs
    from tensorloom.serving.manager.model_config import ModelConfig
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.server_core import ServerCore
    from tensorloom.serving.manager.signature import Signature
    from tensorloom.serving.observe.observer import Call, Observer

#: (servable, request, limits) -> response
_OnServable = Callable[["Servable", Any, "CallLimits"], Any]


class ModelApi:
    """The calls. Each raises `errors.OpError`s with TensorFlow Serving's codes."""

    def __init__(
        self,
        core: ServerCore,
        observer: Observer,
        logs: RequestLogs,
        as_content: bool = False,
        may_reload: bool = True,
        log_directory: str = "",
    ) -> None:
        """Makes the calls of a core.

        Args:
          core: holds the models.
          observer: is told of each call.
          logs: of requests that went well.
          as_content: whether tensors of responses are raw bytes.
          may_reload: whether callers may change what is served.
          log_directory: below it they may have requests logged; "": nowhere.
        """
        self.core, self.observer, self._logs = core, observer, logs
        self._log_directory = log_directory
        self._as_content, self._may_reload = as_content, may_reload

    # --- PredictionService -----------------------------------------------------------

    def predict(self, request: Any, call: Call) -> Any:
        """The `PredictResponse` to a `PredictRequest`."""
        return finish(self.wait_predict(request, call))

    async def wait_predict(self, request: Any, call: Call) -> Any:
        """As `predict`; a call leaves a thread that it shares if it is not quick."""
        spec = request.model_spec
        if self.is_logged(spec.name):
            await call.limits.leave_thread()
        with (
            self.observer.observed("Predict", spec.name, call),
            self._held(spec, call) as servable,
        ):
            response = await predicting.predict(
                servable, request, call.limits, self._as_content
            )
            self._log("predict_log", servable, request, response)
            return response

    def _log(self, kind: str, servable: Servable, request: Any, response: Any) -> None:
        # A response with several heads has one in each of its results.
        spec = getattr(response, "model_spec", None)
        key = "" if spec is None else spec.signature_name
        self._logs.log(
            kind, servable, key, request_logs.fill_messages(request, response)
        )

    async def predict_values(
        self,
        model_spec: Any,
        call: Call,
        decode: Callable[[Signature], Mapping[str, Any]],
        wanted: Sequence[str] = (),
        api: str = "Predict",
        check: Callable[[Servable], None] = lambda servable: None,
    ) -> tuple[Servable, Signature, dict[str, Any]]:
        """Predict without messages, for REST; `step.finish` runs it in a thread.

        Args:
          model_spec: model, version and signature.
          call: the request.
          decode: gives the values of inputs, by alias, once the signature is known.
          wanted: aliases of outputs; none: all.
          api: the name of the call in metrics.
          check: is called with the servable, before anything else.

        Returns:
          Who answered, the signature, and the outputs by alias.
        """
        with (
            self.observer.observed(api, model_spec.name, call),
            self._held(model_spec, call) as servable,
        ):
            check(servable)
            signature = predicting.signature_for(servable, model_spec.signature_name)
            given = decode(signature)
            predicting.check_input_names(signature, list(given))
            aliases = predicting.chosen_outputs(signature, wanted)
            values = {**signature.defaults, **given}
            outputs = await predicting.wait(
                servable, signature, values, aliases, call.limits
            )
            found = dict(zip(aliases, outputs, strict=True))
            fill = request_logs.fill_predict(servable, signature, given, found)
            self._logs.log("predict_log", servable, signature.key, fill)
            return servable, signature, found

    def is_logged(self, model: str) -> bool:
        """Whether requests of a model may be written to files."""
        config = self.core.configs.get(model)
        return config is not None and config.log is not None

    def classify(self, request: Any, call: Call) -> Any:
        """The `ClassificationResponse` to a `ClassificationRequest`."""
        return self._on_examples(
            "Classify", "classify_log", request, call, examples.classify
        )

    def regress(self, request: Any, call: Call) -> Any:
        """The `RegressionResponse` to a `RegressionRequest`."""
        return self._on_examples(
            "Regress", "regress_log", request, call, examples.regress
        )

    def _on_examples(
        self, api: str, log: str, request: Any, call: Call, run: _OnServable
    ) -> Any:
        self._count_examples(request.model_spec.name, request.input)
        spec = request.model_spec
        return self._on_servable(api, spec, request, call, self._logged(log, run))

    def _logged(self, log: str, run: _OnServable) -> _OnServable:
        """Runs a call with examples, and logs it."""

        def run_logged(servable: Servable, request: Any, limits: CallLimits) -> Any:
            response = run(servable, request, limits)
            self._log(log, servable, request, response)
            return response

        return run_logged

    def multi_inference(self, request: Any, call: Call) -> Any:
        """The `MultiInferenceResponse` to a `MultiInferenceRequest`."""
        name = request.tasks[0].model_spec.name if request.tasks else ""

        def run() -> Any:
            examples.check_tasks(request)
            self._count_examples(name, request.input)
            logged = self._logged("multi_inference_log", examples.multi_inference)
            return self._hold(request.tasks[0].model_spec, request, call, logged)

        return self.observer.observe("MultiInference", name, call, run)

    def _count_examples(self, model: str, message: Any) -> None:
        kind = message.WhichOneof("kind")
        if kind is not None and model in self.core.configs:
            count = len(getattr(message, kind).examples)
            self.observer.metrics.examples(model, count)

    def model_metadata(self, request: Any, call: Call) -> Any:
        """The `GetModelMetadataResponse` to a `GetModelMetadataRequest`."""

        def run() -> Any:
            with self.core.held(request.model_spec) as servable:
                call.version = servable.version
                about_models.check_metadata_fields(request)
                return about_models.metadata(servable, request)

        name = request.model_spec.name
        return self.observer.observe("GetModelMetadata", name, call, run)

    # --- ModelService ----------------------------------------------------------------

    def model_status(self, request: Any, call: Call) -> Any:
        """The `GetModelStatusResponse` to a `GetModelStatusRequest`."""
        return self.observer.observe(
            "GetModelStatus",
            request.model_spec.name,
            call,
            lambda: about_models.model_status(self.core, request),
        )

    def reload_config(self, request: Any, call: Call) -> Any:
        """The `ReloadConfigResponse` to a `ReloadConfigRequest`."""
        return self.observer.observe(
            "HandleReloadConfigRequest", "", call, lambda: self._reload(request)
        )

    def check_may_reload(self) -> None:
        """Checks that callers may change what is served.

        Raises:
          errors.PermissionDeniedError: they may not.
        """
        if not self._may_reload:
            raise errors.PermissionDeniedError(
                None, None, "This server does not take another config from its callers"
            )

    def _reload(self, request: Any) -> Any:
        from tensorloom.protos.serving.model_management_pb2 import ReloadConfigResponse

        self.check_may_reload()
        if request.config.WhichOneof("config") != "model_config_list":
            raise errors.InvalidArgumentError(
                None,
                None,
                "ServerModelConfig type not supported by HandleReloadConfigRequest. "
                "Only ModelConfigList is currently supported",
            )
        count_of = self.observer.metrics.count_of
        before = {name: count_of(name) for name in request.metric_names}
        configs = model_config.decode(request.config.model_config_list)
        for config in configs.values():
            self._check_log(config)
        self.core.reload(configs)
        response: Any = ReloadConfigResponse()
        response.status.error_code = errors.OK
        for name, count in before.items():
            response.metric.add(name=name, int64_value_increase=count_of(name) - count)
        return response

    def _check_log(self, config: ModelConfig) -> None:
        """Callers write files where they may, or where that is done already."""
        present = self.core.configs.get(config.name)
        if config.log is None or (present is not None and config.log == present.log):
            return
        if not is_below(config.log.prefix, self._log_directory):
            raise errors.PermissionDeniedError(
                None,
                None,
                f"Requests of model {config.name} cannot be logged at "
                f"{config.log.prefix}: callers may have that done below "
                f"{self._log_directory or 'no directory'}",
            )

    # --- all -------------------------------------------------------------------------

    def _on_servable(
        self, api: str, model_spec: Any, request: Any, call: Call, run: _OnServable
    ) -> Any:
        return self.observer.observe(
            api,
            model_spec.name,
            call,
            lambda: self._hold(model_spec, request, call, run),
        )

    def _hold(self, model_spec: Any, request: Any, call: Call, run: _OnServable) -> Any:
        with self._held(model_spec, call) as servable:
            return run(servable, request, call.limits)

    @contextlib.contextmanager
    def _held(self, model_spec: Any, call: Call) -> Iterator[Servable]:
        """The servable of a call, which is the `with` block."""
        with self.core.held(model_spec) as servable:
            call.version = servable.version
            started, is_good = time.perf_counter(), False
            try:
                yield servable
                is_good = True
            finally:
                seconds = time.perf_counter() - started
                servable.statistics.request(seconds, is_good)
