"""TensorFlow Serving's REST calls: from a path and a body to an answer."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.serving.calls import about_models
from tensorloom.serving.calls.limits import LITTLE_BYTES
from tensorloom.serving.calls.step import finish
from tensorloom.serving.rest import json_requests, json_responses, json_values, paths
from tensorloom.serving.rest.answers import PROTOBUF, Answer

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi
    from tensorloom.serving.observe.observer import Call
    from tensorloom.serving.rest.paths import Target


class ModelHandlers:
    """The calls below `/v1/models`."""

    def __init__(self, api: ModelApi, pads: bool = False) -> None:
        """`pads`: whether rows of different lengths are filled up."""
        self._api, self._pads = api, pads

    def answer(self, method: str, path: str, body: bytes, call: Call) -> Answer:
        """The answer to a request.

        Raises:
          errors.OpError: it failed.
        """
        target = paths.parse(method, path)
        if target.verb == "metadata":
            return self._metadata(target, call)
        if target.verb == "status":
            return self._status(target, call)
        if call.headers.get("content-type", "").startswith(PROTOBUF):
            return self._with_message(target, body, call)
        if target.verb == "predict":
            return finish(self._predict(target, body, call))
        return self._with_examples(target, body, call)

    def begin(
        self, method: str, path: str, body: bytes, call: Call
    ) -> Coroutine[Any, Any, Answer] | None:
        """The answer to a predict call with little JSON, from within an event loop.

        Returns:
          What to wait for; None: `answer` has to be called, in a thread.

        Raises:
          errors.OpError: the request is wrong.
        """
        if method != "POST" or len(body) > LITTLE_BYTES:
            return None
        target = paths.parse(method, path)
        is_json = not call.headers.get("content-type", "").startswith(PROTOBUF)
        if not is_json or target.verb != "predict" or self._api.is_logged(target.name):
            return None
        return self._predict(target, body, call)

    # --- JSON ------------------------------------------------------------------------

    async def _predict(self, target: Target, body: bytes, call: Call) -> Answer:
        from tensorloom.protos.serving.model_pb2 import ModelSpec

        # Not before the model is found: who asks for one that is not there hears so.
        parsed = json_requests.parse(body)
        spec = target.fill(ModelSpec())
        spec.signature_name = json_requests.signature_name(parsed)
        _, signature, values = await self._api.predict_values(
            spec,
            call,
            lambda found: json_requests.input_values(parsed, found, self._pads),
            check=lambda servable: _check_signature(servable, spec.signature_name),
        )
        write = (
            json_responses.predictions
            if "instances" in parsed
            else json_responses.outputs
        )
        return Answer(write(signature, values))

    def _with_examples(self, target: Target, body: bytes, call: Call) -> Answer:
        from tensorloom.protos.serving.classification_pb2 import ClassificationRequest
        from tensorloom.protos.serving.regression_pb2 import RegressionRequest

        is_classify = target.verb == "classify"
        request: Any = ClassificationRequest() if is_classify else RegressionRequest()
        parsed = json_values.parse(body)
        target.fill(request.model_spec)
        request.model_spec.signature_name = json_requests.signature_name(parsed)
        json_requests.fill_examples(parsed, request.input)
        if is_classify:
            response = self._api.classify(request, call)
            return Answer(json_responses.classifications(response.result))
        response = self._api.regress(request, call)
        return Answer(json_responses.regressions(response.result))

    # --- messages as bodies ----------------------------------------------------------

    def _with_message(self, target: Target, body: bytes, call: Call) -> Answer:
        """The same calls with a request of gRPC as the body, and its response."""
        from google.protobuf.message import DecodeError

        from tensorloom.protos.serving import (
            classification_pb2,
            predict_pb2,
            regression_pb2,
        )

        kinds: dict[str, tuple[Any, Any]] = {
            "predict": (predict_pb2.PredictRequest, self._api.predict),
            "classify": (classification_pb2.ClassificationRequest, self._api.classify),
            "regress": (regression_pb2.RegressionRequest, self._api.regress),
        }
        request_class, run = kinds[target.verb]
        try:
            request = request_class.FromString(body)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None, None, f"The body is no {request_class.__name__}"
            ) from None
        target.fill(request.model_spec)
        return Answer(run(request, call).SerializeToString(), 200, PROTOBUF)

    # --- about models ----------------------------------------------------------------

    def _status(self, target: Target, call: Call) -> Answer:
        from google.protobuf import json_format

        from tensorloom.protos.serving.get_model_status_pb2 import GetModelStatusRequest

        request = GetModelStatusRequest()
        target.fill(request.model_spec)
        response = self._api.model_status(request, call)
        text = json_format.MessageToJson(
            response, always_print_fields_with_no_presence=True, indent=1
        )
        return Answer(text.encode())

    def _metadata(self, target: Target, call: Call) -> Answer:
        from google.protobuf import json_format

        from tensorloom.protos.serving.get_model_metadata_pb2 import (
            GetModelMetadataRequest,
            SignatureDefMap,
        )

        request = GetModelMetadataRequest()
        request.metadata_field.append(about_models.SIGNATURE_DEF)
        target.fill(request.model_spec)
        response = self._api.model_metadata(request, call)
        found = SignatureDefMap()
        response.metadata[about_models.SIGNATURE_DEF].Unpack(found)

        def text(message: Any) -> str:
            return json_format.MessageToJson(
                message,
                always_print_fields_with_no_presence=True,
                preserving_proto_field_name=True,
                indent=1,
            )

        body = (
            f'{{\n"model_spec":{text(response.model_spec)},\n'
            f'"metadata": {{"signature_def": {text(found)}}}\n}}\n'
        )
        return Answer(body.encode())


def _check_signature(servable: Any, key: str) -> None:
    """REST has an error of its own for a signature that is not there."""
    if servable.signature(key) is None:
        name = key or "serving_default"
        raise errors.InvalidArgumentError(
            None, None, f'Serving signature name: "{name}" not found in signature def'
        )
