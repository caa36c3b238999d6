"""Warm-up: requests that a model brings along, run before it takes any other.

VERSION/assets.extra/tf_serving_warmup_requests     a TFRecord of PredictionLogs
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.calls import examples
from tensorloom.serving.calls.limits import CallLimits
from tensorloom.serving.calls.predict import predict
from tensorloom.serving.calls.step import finish
from tensorloom.storage.files import filesystem
from tensorloom.storage.records.record_io import tf_record_iterator
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.options import ServerOptions

_logger = logging.getLogger("tensorloom.serving")
FILE: Final = "assets.extra/tf_serving_warmup_requests"
MOST_RECORDS: Final = 1000

_CALLS: Final[dict[str, Callable[[Any, Any, CallLimits], Any]]] = {
    "predict_log": lambda *call: finish(predict(*call)),
    "classify_log": examples.classify,
    "regress_log": examples.regress,
    "multi_inference_log": examples.multi_inference,
}


#: (directory of a version, status code, seconds)
WarmedUp = Callable[[str, int, float], None]


def warm_up_as_asked(
    servable: Servable, options: ServerOptions, warmed_up: WarmedUp
) -> None:
    """Runs a servable's warm-up requests, if the options say so; tells how it went.

    Raises:
      errors.OpError: as `warm_up`.
    """
    if not options.enable_model_warmup:
        return
    started, code = time.monotonic(), errors.OK
    try:
        iterations = max(1, options.num_request_iterations_for_warmup)
        if not warm_up(servable, iterations):
            return
    except Exception as error:
        code, _ = status.to_wire(error)
        raise
    finally:
        warmed_up(servable.path, code, time.monotonic() - started)


def warm_up(servable: Servable, iterations: int = 1) -> int:
    """Runs the warm-up requests of a servable; returns their number.

    Args:
      servable: that is not available yet.
      iterations: how often each is run.

    Raises:
      errors.DataLossError: the file is damaged.
      errors.InvalidArgumentError: it has too many records, or no `PredictionLog`s.
      errors.UnimplementedError: a record is of a call that there is not.
      errors.OpError: a request failed.
    """
    path = filesystem.join(servable.path, FILE)
    if not filesystem.exists(path):
        return 0
    count = 0
    try:
        for record in tf_record_iterator(path):
            count += 1
            if count > MOST_RECORDS:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "Number of warmup records exceeds the maximum "
                    f"({MOST_RECORDS}) at {path}",
                )
            call, request = _decode(record, path)
            for _ in range(iterations):
                call(servable, request, CallLimits())
    except errors.DataLossError as error:
        raise errors.DataLossError(
            None,
            None,
            f"{error.message}. Please verify your warmup data is in TFRecord format.",
        ) from None
    _logger.info(
        "%s version %d: %d warm-up requests", servable.name, servable.version, count
    )
    return count


def _decode(record: bytes, path: str) -> tuple[Callable[..., Any], Any]:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.serving.prediction_log_pb2 import PredictionLog

    try:
        log = PredictionLog.FromString(record)
    except DecodeError:
        raise errors.InvalidArgumentError(
            None, None, f"Failed to parse warmup record: {record[:80]!r} from {path}"
        ) from None
    kind = log.WhichOneof("log_type")
    call = _CALLS.get(str(kind))
    if call is None:
        raise errors.UnimplementedError(
            None, None, f"Unsupported log_type for warmup: {kind}"
        )
    return call, getattr(log, str(kind)).request
