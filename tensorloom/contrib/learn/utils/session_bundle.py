"""Exports in the format that came before SavedModels: session bundles.

DIR/00000100/export.meta                      the graph, with its signatures
DIR/00000100/export.index, export.data-...    the variables
DIR/00000100/assets/                          files that the graph reads
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.any_pb2 import Any as AnyMessage

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_str_any
from tensorloom.contrib.learn.utils import gc
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    add_to_collection,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.protos import graph_pb2, session_bundle_pb2
from tensorloom.storage.files import gfile
from tensorloom.train import training_util
from tensorloom.train.checkpoints.saver import Saver

VERSION_FORMAT_SPECIFIER: Final = "%08d"
ASSETS_DIRECTORY: Final = "assets"
EXPORT_BASE_NAME: Final = "export"
EXPORT_SUFFIX_NAME: Final = "meta"
META_GRAPH_DEF_FILENAME: Final = "export.meta"
VARIABLES_FILENAME: Final = "export"
# Of the first format of checkpoints, and of the second.
VARIABLES_FILENAME_PATTERN: Final = "export-?????-of-?????"
VARIABLES_FILENAME_PATTERN_V2: Final = "export.data-?????-of-?????"
VARIABLES_INDEX_FILENAME_V2: Final = "export.index"
# Collections of the exported graph.
INIT_OP_KEY: Final = "serving_init_op"
SIGNATURES_KEY: Final = "serving_signatures"
ASSETS_KEY: Final = "serving_assets"
GRAPH_KEY: Final = "serving_graph"
# Kinds of signatures, as fields of `Signature`.
REGRESSION_SIGNATURE: Final = "regression_signature"
CLASSIFICATION_SIGNATURE: Final = "classification_signature"
GENERIC_SIGNATURE: Final = "generic_signature"


def gfile_copy_callback(files_to_copy: dict[str, str], export_dir_path: Any) -> None:
    """Copies files, by their paths, into a directory under other names."""
    directory = as_str_any(export_dir_path)
    program_log.info("Write assets into: %s using gfile_copy.", directory)
    gfile.makedirs(directory)
    for source, name in files_to_copy.items():
        target = os.path.join(directory, as_str_any(name))
        program_log.info("Copying asset %s to path %s.", source, target)
        gfile.copy(source, target, overwrite=True)


def regression_signature(input_tensor: Any, output_tensor: Any) -> Any:
    """The signature of one tensor to one of numbers."""
    made = session_bundle_pb2.Signature()
    made.regression_signature.input.tensor_name = input_tensor.name
    made.regression_signature.output.tensor_name = output_tensor.name
    return made


def classification_signature(
    input_tensor: Any, classes_tensor: Any = None, scores_tensor: Any = None
) -> Any:
    """The signature of one tensor to classes, scores or both."""
    made = session_bundle_pb2.Signature()
    signature = made.classification_signature
    signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.scores.tensor_name = scores_tensor.name
    return made


def generic_signature(name_tensor_map: dict[str, Any]) -> Any:
    """The signature of any tensors, by their keys."""
    made = session_bundle_pb2.Signature()
    for name, tensor in name_tensor_map.items():
        made.generic_signature.map[name].tensor_name = tensor.name
    return made


def _add_message(collection: str, message: Any) -> None:
    packed = AnyMessage(
        type_url=f"type.googleapis.com/{message.DESCRIPTOR.full_name}",
        value=message.SerializeToString(),
    )
    add_to_collection(collection, packed)


class Exporter:
    """Writes session bundles of the default graph.

    Args:
      saver: saves the variables.
    """

    def __init__(self, saver: Any) -> None:
        saver_def = saver.as_saver_def()
        # An export keeps one checkpoint, its own.
        saver_def.ClearField("max_to_keep")
        self._saver = Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy: dict[str, str] = {}
        self._assets_callback: Callable[..., None] | None = None

    def init(
        self,
        graph_def: Any = None,
        init_op: Any = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: dict[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        assets_callback: Callable[..., None] | None = gfile_copy_callback,
    ) -> None:
        """Adds what a server needs to know to collections of the graph.

        Args:
          graph_def: the graph that is served; the default one when None.
          init_op: what a server runs first.
          clear_devices: whether the served graph has no devices.
          default_graph_signature: a `Signature`.
          named_graph_signatures: `Signature`s by their names.
          assets_collection: constants that are paths of files to copy.
          assets_callback: copies them.

        Raises:
          RuntimeError: it was called already.
          TypeError: `init_op` is no operation, or an asset is no constant string.
        """
        assets = [(_path_of(tensor), tensor) for tensor in assets_collection or ()]
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            served = graph_pb2.GraphDef()
            served.CopyFrom(graph_def or get_default_graph().as_graph_def())
            if clear_devices:
                for node in served.node:
                    node.device = ""
            _add_message(GRAPH_KEY, served)
        if init_op:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(INIT_OP_KEY, init_op)
        signatures = session_bundle_pb2.Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _add_message(SIGNATURES_KEY, signatures)
        for path, tensor in assets:
            self._assets_to_copy[path] = os.path.basename(path)
            asset = session_bundle_pb2.AssetFile(filename=os.path.basename(path))
            asset.tensor_binding.tensor_name = tensor.name
            _add_message(ASSETS_KEY, asset)
        self._assets_callback = assets_callback

    def export(
        self,
        export_dir_base: Any,
        global_step_tensor: Any,
        sess: Any = None,
        exports_to_keep: gc.Filter | None = None,
    ) -> str:
        """Writes the bundle; gives its directory, which is named after the global step.

        Args:
          export_dir_base: where bundles go.
          global_step_tensor: the global step.
          sess: has the variables.
          exports_to_keep: which bundles stay; all when None.

        Raises:
          RuntimeError: `init` was not called, or there is a bundle of this step.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = as_str_any(export_dir_base).removesuffix("/")
        step = training_util.global_step(sess, global_step_tensor)
        directory = os.path.join(base, VERSION_FORMAT_SPECIFIER % step)
        if gfile.exists(directory):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. "
                f"Duplicate export dir: {directory}"
            )
        temporary = f"{directory}-tmp"
        gfile.makedirs(temporary)
        self._saver.save(
            sess,
            os.path.join(temporary, EXPORT_BASE_NAME),
            meta_graph_suffix=EXPORT_SUFFIX_NAME,
        )
        if self._assets_callback and self._assets_to_copy:
            assets = os.path.join(temporary, ASSETS_DIRECTORY)
            self._assets_callback(self._assets_to_copy, assets)
        gfile.rename(temporary, directory)
        if exports_to_keep:
            for path in gc.negation(exports_to_keep)(gc.get_paths(base, _versioned)):
                gfile.delete_recursively(path.path)
        return directory


def _versioned(path: Any) -> Any:
    name = os.path.basename(path.path)
    if not re.fullmatch(r"\d{8}", name):
        return None
    return path._replace(export_version=int(name))


def _path_of(tensor: Any) -> str:
    """The path in a constant."""
    if not isinstance(tensor, Tensor):
        raise TypeError("tensor is not a Tensor")
    if tensor.op.type != "Const":
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != dtypes.string:
        raise TypeError("File paths should be string")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Only scalar tensors are supported")
    if not values[0]:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    return as_str_any(values[0])
