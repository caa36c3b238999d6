"""`Inference`: a batch of messages through the newest version of a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.calls import predict as predicting
from tensorloom.serving.calls.limits import CallLimits
from tensorloom.serving.manager.loader_options import names
from tensorloom.serving.stream import codecs

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.server_core import ServerCore
    from tensorloom.serving.manager.signature import Signature
    from tensorloom.serving.stream.options import StreamOptions

#: What no message causes: it is tried again.
TRANSIENT: Final = (
    errors.UnavailableError,
    errors.ResourceExhaustedError,
    errors.AbortedError,
    errors.NotFoundError,
)

#: The answer to a message, or why there is none.
Outcome = bytes | errors.OpError


class Inference:
    """Answers messages."""

    def __init__(self, core: ServerCore, model: str, options: StreamOptions) -> None:
        from tensorloom.protos.serving.model_pb2 import ModelSpec

        self._core, self._options = core, options
        self._spec = ModelSpec(name=model, signature_name=options.signature_name)
        self._decode = codecs.DECODERS[options.input_format]
        self._encode = codecs.ENCODERS[options.output_format]
        self._wanted = names(options.outputs)

    def run(self, values: Sequence[bytes]) -> list[Outcome]:
        """The answers to messages, in their order, by one version of the model.

        A message that is wrong gets an error; the others of its batch do not.

        Raises:
          errors.UnavailableError and others of `TRANSIENT`: try again.
          errors.FailedPreconditionError: the model does not go with the stream.
        """
        with self._core.held(self._spec) as servable:
            signature, aliases = self._signature(servable)
            return self._run(servable, signature, aliases, values)

    def check(self) -> None:
        """Checks that the model goes with the stream; raises as `run`."""
        with self._core.held(self._spec) as servable:
            self._signature(servable)

    def _signature(self, servable: Servable) -> tuple[Signature, list[str]]:
        options = self._options
        try:
            signature = predicting.signature_for(servable, options.signature_name)
            aliases = predicting.chosen_outputs(signature, self._wanted)
        except errors.InvalidArgumentError as error:
            raise errors.FailedPreconditionError(None, None, error.message) from None
        codecs.check(signature, options.input_format, options.output_format, aliases)
        return signature, aliases

    def _run(
        self,
        servable: Servable,
        signature: Signature,
        aliases: list[str],
        values: Sequence[bytes],
    ) -> list[Outcome]:
        try:
            found = self._run_together(servable, signature, aliases, values)
        except TRANSIENT:
            raise
        except errors.OpError as error:
            if len(values) == 1:
                return [error]
            # The wrong one is found by halves.
            half = len(values) // 2
            parts = (values[:half], values[half:])
            return [
                outcome
                for part in parts
                for outcome in self._run(servable, signature, aliases, part)
            ]
        return list(found)

    def _run_together(
        self,
        servable: Servable,
        signature: Signature,
        aliases: list[str],
        values: Sequence[bytes],
    ) -> list[bytes]:
        given: dict[str, Any] = self._decode(values, signature)
        predicting.check_input_names(signature, list(given))
        limits = CallLimits(time.monotonic() + self._options.step_timeout_ms / 1e3)
        outputs = predicting.run(
            servable, signature, {**signature.defaults, **given}, aliases, limits
        )
        found = self._encode(signature, dict(zip(aliases, outputs, strict=True)))
        if len(found) != len(values):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The outputs have {len(found)} rows for {len(values)} messages",
            )
        return found
