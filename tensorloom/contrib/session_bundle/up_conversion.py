"""Loads SavedModels and session bundles alike: these get a SavedModel's signatures."""

from __future__ import annotations

import os
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_str_any
from tensorloom.client.session.session import Session
from tensorloom.contrib.learn.utils import session_bundle as names
from tensorloom.contrib.session_bundle import reading
from tensorloom.protos import meta_graph_pb2, session_bundle_pb2
from tensorloom.saved_model import constants, loader
from tensorloom.train.meta_graph.meta_graph_import import read_meta_graph_file


def load_session_bundle_or_saved_model_bundle_from_path(
    export_dir: Any, tags: Any = None, target: str = "", config: Any = None
) -> tuple[Session, Any]:
    """Loads what a directory has: a SavedModel or a session bundle.

    Args:
      export_dir: the directory, with the version.
      tags: of the MetaGraph of a SavedModel.
      target, config: of the session.

    Returns:
      The session and the MetaGraphDef, which has signatures as a SavedModel's.

    Raises:
      RuntimeError: it has neither, or the bundle's signatures cannot be converted.
    """
    if loader.maybe_saved_model_directory(export_dir):
        session = Session(target, graph=None, config=config)
        return session, loader.load(session, tags, export_dir)
    if not reading.maybe_session_bundle_dir(export_dir):
        raise RuntimeError(
            "SessionBundle or SavedModelBundle not found at specified export "
            f"location: {export_dir}"
        )
    path = os.path.join(as_str_any(export_dir), names.META_GRAPH_DEF_FILENAME)
    meta_graph = read_meta_graph_file(path)
    if meta_graph.signature_def:
        raise RuntimeError("Legacy graph contains signature def, unable to up-convert.")
    default, named = _convert_signatures_to_signature_defs(meta_graph)
    key = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if default:
        meta_graph.signature_def[key].CopyFrom(default)
        key += "_from_named"
    if named:
        meta_graph.signature_def[key].CopyFrom(named)
    return reading.load_session_bundle_from_path(
        export_dir, target, config, meta_graph_def=meta_graph
    )


def _convert_signatures_to_signature_defs(meta_graph_def: Any) -> tuple[Any, Any]:
    """The default and the named signatures of a bundle, None for what it lacks."""
    packed = meta_graph_def.collection_def[names.SIGNATURES_KEY].any_list.value[0]
    signatures = session_bundle_pb2.Signatures.FromString(packed.value)
    default = named = None
    if signatures.HasField("default_signature"):
        default = _convert_default_signature_to_signature_def(signatures)
    if len(signatures.named_signatures) > 1:
        named = _convert_named_signatures_to_signature_def(signatures)
    return default, named


def _convert_default_signature_to_signature_def(signatures: Any) -> Any:
    """A SignatureDef of a regression or classification; None, logged, for others."""
    default = signatures.default_signature
    kind = default.WhichOneof("type")
    made = meta_graph_pb2.SignatureDef()
    if kind == names.REGRESSION_SIGNATURE:
        regression = default.regression_signature
        made.method_name = constants.REGRESS_METHOD_NAME
        _add_input_to_signature_def(
            regression.input.tensor_name, constants.REGRESS_INPUTS, made
        )
        _add_output_to_signature_def(
            regression.output.tensor_name, constants.REGRESS_OUTPUTS, made
        )
        return made
    if kind == names.CLASSIFICATION_SIGNATURE:
        classification = default.classification_signature
        made.method_name = constants.CLASSIFY_METHOD_NAME
        _add_input_to_signature_def(
            classification.input.tensor_name, constants.CLASSIFY_INPUTS, made
        )
        for tensor, key in (
            (classification.classes, constants.CLASSIFY_OUTPUT_CLASSES),
            (classification.scores, constants.CLASSIFY_OUTPUT_SCORES),
        ):
            _add_output_to_signature_def(tensor.tensor_name, key, made)
        return made
    program_log.error(
        "Only classification and regression default signatures are supported for "
        "up-conversion. %s is not supported",
        kind,
    )
    return None


def _convert_named_signatures_to_signature_def(signatures: Any) -> Any:
    """A SignatureDef of a prediction, from the signatures "inputs" and "outputs".

    Raises:
      RuntimeError: one of them is not generic.
    """
    inputs = signatures.named_signatures[constants.PREDICT_INPUTS]
    outputs = signatures.named_signatures[constants.PREDICT_OUTPUTS]
    kinds = [inputs.WhichOneof("type"), outputs.WhichOneof("type")]
    if kinds != [names.GENERIC_SIGNATURE] * 2:
        raise RuntimeError(
            "Named input and output signatures can only be up-converted if they are "
            f"generic signature. Input signature type is {kinds[0]}, output signature "
            f"type is {kinds[1]}"
        )
    made = meta_graph_pb2.SignatureDef(method_name=constants.PREDICT_METHOD_NAME)
    for key, tensor in inputs.generic_signature.map.items():
        _add_input_to_signature_def(tensor.tensor_name, key, made)
    for key, tensor in outputs.generic_signature.map.items():
        _add_output_to_signature_def(tensor.tensor_name, key, made)
    return made


def _add_input_to_signature_def(tensor_name: str, key: str, signature: Any) -> None:
    signature.inputs[key].CopyFrom(meta_graph_pb2.TensorInfo(name=tensor_name))


def _add_output_to_signature_def(tensor_name: str, key: str, signature: Any) -> None:
    signature.outputs[key].CopyFrom(meta_graph_pb2.TensorInfo(name=tensor_name))
