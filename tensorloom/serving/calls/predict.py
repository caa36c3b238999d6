"""Predict: tensors by name in, tensors by name out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.calls import tensor_values
from tensorloom.serving.calls.step import finish, wait_step
from tensorloom.serving.manager import signature as signatures

if TYPE_CHECKING:
    from tensorloom.serving.calls.limits import CallLimits
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.signature import Signature

_METHODS: Final = (
    signatures.PREDICT_METHOD,
    signatures.CLASSIFY_METHOD,
    signatures.REGRESS_METHOD,
)


async def predict(
    servable: Servable, request: Any, limits: CallLimits, as_content: bool = False
) -> Any:
    """The `PredictResponse` to a `PredictRequest`.

    Args:
      servable: that the request means.
      request: the message.
      limits: of the call.
      as_content: whether outputs are raw bytes instead of typed lists.

    Raises:
      errors.FailedPreconditionError: there is no such signature.
      errors.InvalidArgumentError: an input or output is wrong.
      errors.OpError: the step failed.
    """
    from tensorloom.protos.serving.predict_pb2 import PredictResponse

    signature = signature_for(servable, request.model_spec.signature_name)
    if not all(map(tensor_values.is_little, request.inputs.values())):
        await limits.leave_thread()
    values = _decode_inputs(signature, request.inputs)
    aliases = chosen_outputs(signature, request.output_filter)
    outputs = await wait(servable, signature, values, aliases, limits)
    response = PredictResponse()
    fill_model_spec(
        response.model_spec, request.model_spec.name, signature.key, servable
    )
    for alias, value in zip(aliases, outputs, strict=True):
        slot = signature.outputs[alias]
        tensor_values.encode(value, slot.dtype, response.outputs[alias], as_content)
    return response


def signature_for(servable: Servable, key: str) -> Signature:
    """The signature that Predict runs; "" means the default one.

    Raises:
      errors.FailedPreconditionError: there is none.
      errors.InternalError: methods are checked, and its own is none of the known ones.
    """
    found = servable.signature(key)
    if found is None:
        raise errors.FailedPreconditionError(
            None,
            None,
            f'Serving signature key "{key or signatures.DEFAULT_KEY}" not found.',
        )
    if servable.checks_methods and found.method_name not in _METHODS:
        raise errors.InternalError(
            None,
            None,
            "Expected prediction signature method_name to be one of {"
            f"{', '.join(_METHODS)}}}. Was: {found.method_name}",
        )
    return found


def run(
    servable: Servable,
    signature: Signature,
    values: Mapping[str, Any],
    aliases: Sequence[str],
    limits: CallLimits,
) -> list[Any]:
    """The outputs of a signature for the values of all its inputs, by alias."""
    return finish(wait(servable, signature, values, aliases, limits))


async def wait(
    servable: Servable,
    signature: Signature,
    values: Mapping[str, Any],
    aliases: Sequence[str],
    limits: CallLimits,
) -> list[Any]:
    """As `run`; a call of an event loop waits without its thread."""
    feeds = {signature.inputs[alias].tensor: v for alias, v in values.items()}
    fetches = [signature.outputs[alias].tensor for alias in aliases]
    return await wait_step(servable, feeds, fetches, limits)


def _decode_inputs(signature: Signature, inputs: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted(inputs)
    check_input_names(signature, names)
    values = dict(signature.defaults)
    for alias in names:
        values[alias] = tensor_values.decode(inputs[alias], signature.inputs[alias])
    return values


def check_input_names(signature: Signature, given: Sequence[str]) -> None:
    """Checks that a request has all inputs, and no others.

    Raises:
      errors.InvalidArgumentError: it does not.
    """
    known = signature.inputs.keys()
    extra = [name for name in given if name not in known]
    missing = [
        name for name in known if name not in given and name not in signature.defaults
    ]
    if not extra and not missing:
        return
    if len(given) == len(known):
        message = (
            f"Signature input alias: {', '.join(missing)} not found in request and no "
            f"default value provided. Inputs expected to be in the request "
            f"{_braced(given)}, or default input alias set: "
            f"{','.join(sorted(signature.defaults))}"
        )
    else:
        message = (
            f"input size does not match signature: {len(given)}!={len(known)} "
            f"len({_braced(given)}) != len({_braced(known)}). Sent extra: "
            f"{_braced(extra)}. Missing but required: {_braced(missing)}."
        )
    raise errors.InvalidArgumentError(None, None, message)


def chosen_outputs(signature: Signature, wanted: Iterable[str]) -> list[str]:
    """The aliases of the outputs to compute: all, or those that a request names.

    Raises:
      errors.InvalidArgumentError: one is not there, or comes twice.
    """
    aliases = list(wanted)
    for place, alias in enumerate(aliases):
        if alias not in signature.outputs:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"output tensor alias not found in signature: {alias} Outputs "
                f"expected to be in the set {_braced(signature.outputs)}.",
            )
        if alias in aliases[:place]:
            raise errors.InvalidArgumentError(
                None, None, f"duplicate output tensor alias: {alias}"
            )
    return aliases or list(signature.outputs)


def fill_model_spec(spec: Any, name: str, key: str, servable: Servable) -> None:
    """Says in a response who answered."""
    spec.name = name
    spec.signature_name = key
    spec.version.value = servable.version


def _braced(names: Iterable[str]) -> str:
    return "{" + ",".join(names) + "}"
