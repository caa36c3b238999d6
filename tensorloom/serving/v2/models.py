"""What both forms of the protocol, REST and gRPC, ask of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager.model_states import State
from tensorloom.serving.v2 import datatypes

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.signature import Signature, Slot
    from tensorloom.serving.observe.observer import Call

SERVER_NAME: Final = "tensorloom"
EXTENSIONS: Final = (
    "binary_tensor_data",
    "model_configuration",
    "model_repository",
    "statistics",
)
PLATFORM: Final = "tensorflow_savedmodel"
#: The parameter of a request that names a signature other than the default one.
SIGNATURE: Final = "signature_name"


def server_version() -> str:
    """The version of this package."""
    try:
        return metadata.version("tensorloom")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """An input or output, as the protocol describes it."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model's versions, and its default signature's tensors."""

    name: str
    versions: list[str]
    inputs: list[TensorFacts]
    outputs: list[TensorFacts]


class Models:
    """The protocol's calls on models."""

    def __init__(self, api: ModelApi) -> None:
        self._api = api
        self._core = api.core

    @property
    def is_server_ready(self) -> bool:
        """Whether the server takes requests."""
        return self._core.is_ready

    def spec(self, name: str, version: str, signature: str = "") -> Any:
        """The `ModelSpec` of a request; a version that is no number is a label."""
        from tensorloom.protos.serving.model_pb2 import ModelSpec

        found = ModelSpec(name=name, signature_name=signature)
        if version.isascii() and version.isdigit() and int(version) < 2**63:
            found.version.value = int(version)
        elif version:
            found.version_label = version
        return found

    def is_ready(self, name: str, version: str) -> bool:
        """Whether a version, or some version, takes requests.

        Raises:
          errors.NotFoundError, errors.InvalidArgumentError: there is no such model, or
            no such label.
        """
        if name not in self._core.configs:
            raise errors.NotFoundError(
                None, None, f"Request for unknown model: '{name}' is not found"
            )
        number = self._core.version_of(self.spec(name, version))
        available = self._core.manager.available().get(name, [])
        return any(s.is_up for s in available if number in (None, s.version))

    def facts(self, name: str, version: str, call: Call) -> ModelFacts:
        """What a model takes and gives.

        Raises:
          errors.NotFoundError: there is no such version.
        """
        return self._api.observer.observe(
            "ModelMetadata", name, call, lambda: self._facts(name, version, call)
        )

    def _facts(self, name: str, version: str, call: Call) -> ModelFacts:
        with self._core.held(self.spec(name, version)) as servable:
            call.version = servable.version
            signature = servable.signature("")
            slots = (
                ([], [])
                if signature is None
                else (signature.inputs.values(), signature.outputs.values())
            )
        available = self._core.manager.available().get(name, [])
        return ModelFacts(
            name,
            [str(other.version) for other in available],
            [_tensor_facts(slot) for slot in slots[0]],
            [_tensor_facts(slot) for slot in slots[1]],
        )

    def index(self) -> list[tuple[str, str, str, str]]:
        """(model, version, state, reason) of all versions."""
        states = self._core.manager.states
        return [
            (
                name,
                str(version),
                "READY" if entry.state is State.AVAILABLE else "UNAVAILABLE",
                entry.error_message,
            )
            for name in states.models()
            for version, entry in sorted(states.versions(name).items())
        ]

    def is_logged(self, name: str) -> bool:
        """Whether requests of a model may be written to files."""
        return self._api.is_logged(name)

    async def wait_infer(
        self,
        spec: Any,
        call: Call,
        decode: Callable[[Signature], Mapping[str, Any]],
        wanted: Sequence[str],
    ) -> tuple[Servable, list[tuple[Slot, Any]]]:
        """Runs a request; a call of an event loop waits without its thread.

        Args:
          spec: from `spec`.
          call: the request.
          decode: gives the values of inputs once the signature is known.
          wanted: names of outputs; none: all.

        Returns:
          Who answered; the outputs with their arrays.

        Raises:
          errors.OpError: the request is wrong, or the step failed.
        """
        servable, signature, outputs = await self._api.predict_values(
            spec, call, decode, wanted, "ModelInfer"
        )
        return servable, [
            (signature.outputs[name], datatypes.output_array(value))
            for name, value in outputs.items()
        ]


def slot_of(signature: Signature, name: str) -> Slot:
    """The input of a name.

    Raises:
      errors.InvalidArgumentError: there is none.
    """
    slot = signature.inputs.get(name)
    if slot is None:
        known = ", ".join(signature.inputs)
        raise datatypes.invalid(f"unexpected input '{name}'; the model takes: {known}")
    return slot


def _tensor_facts(slot: Slot) -> TensorFacts:
    shape = (-1,) if slot.shape is None else slot.shape
    return TensorFacts(
        slot.alias,
        datatypes.name_of(slot.dtype),
        tuple(-1 if size is None else size for size in shape),
    )
