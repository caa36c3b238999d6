"""GetModelMetadata and GetModelStatus: what is served, and how it is with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.server_core import ServerCore

SIGNATURE_DEF: Final = "signature_def"


def check_metadata_fields(request: Any) -> None:
    """Checks what a `GetModelMetadataRequest` asks for.

    Raises:
      errors.InvalidArgumentError: nothing, or something that is not there.
    """
    if not request.HasField("model_spec"):
        raise errors.InvalidArgumentError(None, None, "Missing ModelSpec")
    if not request.metadata_field:
        raise errors.InvalidArgumentError(
            None,
            None,
            "GetModelMetadataRequest must specify at least one metadata_field",
        )
    for field in request.metadata_field:
        if field != SIGNATURE_DEF:
            raise errors.InvalidArgumentError(
                None, None, f"Metadata field {field} is not supported"
            )


def metadata(servable: Servable, request: Any) -> Any:
    """The `GetModelMetadataResponse` to a checked request."""
    from tensorloom.protos.serving.get_model_metadata_pb2 import (
        GetModelMetadataResponse,
    )

    response = GetModelMetadataResponse()
    response.model_spec.name = request.model_spec.name
    response.model_spec.version.value = servable.version
    response.metadata[SIGNATURE_DEF].Pack(signature_def_map(servable))
    return response


def signature_def_map(servable: Servable) -> Any:
    """The `SignatureDefMap` of a servable."""
    from tensorloom.protos.serving.get_model_metadata_pb2 import SignatureDefMap

    found = SignatureDefMap()
    for key, signature_def in servable.signature_defs.items():
        found.signature_def[key].CopyFrom(signature_def)
    return found


def model_status(core: ServerCore, request: Any) -> Any:
    """The `GetModelStatusResponse`: of one version, or of all, the newest first.

    Raises:
      errors.InvalidArgumentError: no model is named, or an unknown label.
      errors.NotFoundError: there is no such version.
    """
    from tensorloom.protos.serving.get_model_status_pb2 import GetModelStatusResponse

    if not request.HasField("model_spec"):
        raise errors.InvalidArgumentError(None, None, "Missing ModelSpec")
    name = request.model_spec.name
    version = core.version_of(request.model_spec)
    versions = core.manager.states.versions(name)
    if version is not None:
        if version not in versions:
            raise errors.NotFoundError(
                None, None, f"Could not find version {version} of model {name}"
            )
        versions = {version: versions[version]}
    if not versions:
        raise errors.NotFoundError(
            None, None, f"Could not find any versions of model {name}"
        )
    response: Any = GetModelStatusResponse()
    for number, entry in versions.items():
        status = response.model_version_status.add()
        status.version = number
        status.state = int(entry.state)
        status.status.error_code = entry.error_code
        status.status.error_message = entry.error_message
    return response
