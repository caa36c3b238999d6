"""`RequestLogs`: a sample of each model's requests, with their responses, in files.

Each is a record of TensorFlow Serving's `PredictionLog`s, so that a file of the log can
be a version's warm-up file.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.serving.calls import tensor_values
from tensorloom.serving.logs.record_files import RecordFiles
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.serving.logs.log_options import LogOptions
    from tensorloom.serving.manager.model_config import ModelConfig
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.signature import Signature

_logger = logging.getLogger("tensorloom.serving")

#: Fills the request and the response of a log.
Fill = Callable[[Any, Any], None]


class RequestLogs:
    """The logs of one server."""

    def __init__(
        self,
        config_of: Callable[[str], ModelConfig | None],
        tags: str,
        logged: Callable[[str, int], None],
    ) -> None:
        """Logs nothing yet.

        Args:
          config_of: the config of a model that is in force.
          tags: of the served graphs, with commas.
          logged: is told the model and the status code of each attempt.
        """
        self._config_of, self._logged = config_of, logged
        self._tags = [tag for tag in tags.split(",") if tag]
        self._lock = threading.Lock()
        self._files: dict[str, RecordFiles] = {}
        self._random = random.Random()

    def log(self, kind: str, servable: Servable, key: str, fill: Fill) -> None:
        """Logs a request that went well, if it is of the sample.

        A log that cannot be written is told to the metrics, and fails no request.

        Args:
          kind: the field of `PredictionLog`.
          servable: that has answered.
          key: of the signature.
          fill: is called if it is logged.
        """
        config = self._config_of(servable.name)
        options = None if config is None else config.log
        if options is None or self._random.random() >= options.rate:
            return
        code = errors.OK
        try:
            record = self._record(kind, servable, key, options, fill)
            self._files_of(options.prefix).write(record)
        except Exception as error:
            code, _ = status.to_wire(error)
            _logger.exception("A request of model %s was not logged", servable.name)
        self._logged(servable.name, code)

    def _record(
        self, kind: str, servable: Servable, key: str, options: LogOptions, fill: Fill
    ) -> bytes:
        from tensorloom.protos.serving.prediction_log_pb2 import PredictionLog

        log: Any = PredictionLog()
        metadata = log.log_metadata
        metadata.model_spec.name = servable.name
        metadata.model_spec.version.value = servable.version
        metadata.model_spec.signature_name = key
        metadata.sampling_config.sampling_rate = options.rate
        metadata.saved_model_tags.extend(self._tags)
        metadata.timestamp_secs = int(time.time())
        filled = getattr(log, kind)
        fill(filled.request, filled.response)
        content: bytes = log.SerializeToString()
        return content

    def _files_of(self, prefix: str) -> RecordFiles:
        with self._lock:
            return self._files.setdefault(prefix, RecordFiles(prefix))

    def follow(self, configs: Mapping[str, ModelConfig]) -> None:
        """Finishes the files of logs that no config has any longer."""
        kept = {config.log.prefix for config in configs.values() if config.log}
        with self._lock:
            ended = [p for p in self._files if p not in kept]
            files = [self._files.pop(prefix) for prefix in ended]
        for each in files:
            each.close()

    def close(self) -> None:
        """Finishes all files."""
        self.follow({})


def fill_messages(request: Any, response: Any) -> Fill:
    """Fills a log with the messages of a call."""

    def fill(logged_request: Any, logged_response: Any) -> None:
        logged_request.CopyFrom(request)
        logged_response.CopyFrom(response)

    return fill


def fill_predict(
    servable: Servable,
    signature: Signature,
    given: Mapping[str, Any],
    outputs: Mapping[str, Any],
) -> Fill:
    """Fills a `PredictLog` with the values of a call that had no messages."""

    def fill(request: Any, response: Any) -> None:
        for spec in (request.model_spec, response.model_spec):
            spec.name = servable.name
            spec.signature_name = signature.key
        response.model_spec.version.value = servable.version
        for alias, value in given.items():
            dtype = signature.inputs[alias].dtype
            tensor_values.encode(value, dtype, request.inputs[alias])
        for alias, value in outputs.items():
            dtype = signature.outputs[alias].dtype
            tensor_values.encode(value, dtype, response.outputs[alias])

    return fill
