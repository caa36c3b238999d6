"""`tf.saved_model.Builder`: the default graph and its variables as a SavedModel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import _all_saveable_objects
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_default_graph
from tensorloom.framework.graph.operation import Operation
from tensorloom.saved_model import assets, constants
from tensorloom.saved_model.export_directory import ExportDirectory, variables_path
from tensorloom.saved_model.signature_defs import predict_signature_def
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.checkpoints.saver_builder import V2
from tensorloom.train.meta_graph import meta_graph

_MAX_BYTES = 2**31
_MAX_CONSTANT_BYTES = 2**31 - 2**26  # some room for the nodes


@export("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder:
    """Writes a SavedModel: MetaGraphs with tags, that share variables and assets.

    The first MetaGraph comes with the variables, more of them without; then `save`. On
    the local disk `export_dir` appears with `save`, whole.

    Args:
      export_dir: a directory of any file system that is empty or not there.

    Raises:
      AssertionError: it is not empty.
    """

    def __init__(self, export_dir: Any) -> None:
        from tensorloom.protos import saved_model_pb2

        self._saved_model = saved_model_pb2.SavedModel(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
        )
        self._directory = ExportDirectory(export_dir)
        self._export_dir = export_dir
        self._has_saved_variables = False
        # Constants that are too large for the message, see `large_graph.py`.
        self._constants: BundleWriter | None = None
        self._constant_bytes = 0

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, and the values of its variables in a session.

        Args:
          sess: a session whose variables are initialized.
          tags: the set by which a loader finds this MetaGraph.
          signature_def_map: `SignatureDef` messages by their keys.
          assets_collection: scalar string constants, the paths of files to bring along.
          legacy_init_op: an older name of `main_op`.
          clear_devices: leave the devices of operations out.
          main_op: an operation that a loader runs after restoring the variables.
          strip_default_attrs: leave attrs with their default value out, for readers of
            other versions.
          saver: saves the variables; one of all variables, sharded, when None.

        Raises:
          AssertionError: variables were saved before, or a `TensorInfo` is incomplete.
          KeyError: a key of a signature is reserved.
          TypeError, ValueError: `main_op` is no operation, or there is one already.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. "
                "Please invoke `add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op, None)
        saver = self._maybe_create_saver(saver)
        directory = self._directory.path()
        filesystem.make_directories(
            filesystem.join(directory, constants.VARIABLES_DIRECTORY)
        )
        saver.save(
            sess, variables_path(directory), write_meta_graph=False, write_state=False
        )
        meta_graph_def = self._export(saver, clear_devices, strip_default_attrs)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph; its variables are those of the first MetaGraph.

        See `add_meta_graph_and_variables`, which comes before.

        Raises:
          AssertionError: no variables were saved, or a `TensorInfo` is incomplete.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. "
                "Please invoke `add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op, None)
        saver = self._maybe_create_saver(saver)
        meta_graph_def = self._export(saver, clear_devices, strip_default_attrs)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)

    def add_train_op(self, train_op: Any) -> None:
        """Marks the training step of the default graph; None marks nothing."""
        self._add_collections(None, None, train_op)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the message: the directory is a SavedModel from then on.

        Args:
          as_text: in text format, which other versions cannot read if it has fields
            that they do not know.

        Returns:
          The path of the message's file.

        Raises:
          ValueError: the MetaGraphs have more than 2 GB.
        """
        if as_text:
            from google.protobuf import text_format

            data = text_format.MessageToString(self._saved_model).encode()
            name = constants.SAVED_MODEL_FILENAME_PBTXT
        else:
            if self._saved_model.ByteSize() >= _MAX_BYTES:
                raise ValueError("SavedModel cannot be larger than 2GB.")
            data = self._saved_model.SerializeToString()
            name = constants.SAVED_MODEL_FILENAME_PB
        if self._constants is not None:
            self._constants.finish()
        path = self._directory.publish(name, data)
        program_log.info("SavedModel written to: %s", path)
        return path.encode()

    # --- parts -----------------------------------------------------------------------

    def _export(self, saver: Any, clear_devices: bool, strip_defaults: bool) -> Any:
        """The MetaGraphDef; constants beside it where they are too large for it."""
        graph = get_default_graph()
        self._constant_bytes += large_graph.constant_bytes(graph)
        if self._constant_bytes < _MAX_CONSTANT_BYTES:
            return saver.export_meta_graph(
                clear_devices=clear_devices, strip_default_attrs=strip_defaults
            )
        if self._constants is None:
            path = self._directory.path()
            name = filesystem.join(path, constants.SAVED_MODEL_FILENAME_PB)
            self._constants = BundleWriter(large_graph.constants_prefix(name))
        number = len(self._saved_model.meta_graphs)
        return meta_graph.export_meta_graph(
            graph_def=large_graph.split_constants(
                graph, self._constants, b"%d/" % number, add_shapes=True
            ),
            saver_def=saver.saver_def,
            clear_devices=clear_devices,
            strip_default_attrs=strip_defaults,
        )

    def _add_collections(
        self, assets_collection: Iterable[Any] | None, main_op: Any, train_op: Any
    ) -> None:
        """Puts assets and operations into the collections that are exported."""
        graph = get_default_graph()
        found = assets.collect(assets_collection or ())
        for name, _, tensor in found:
            graph.add_to_collection(constants.ASSETS_KEY, assets.to_any(name, tensor))
        if found:
            assets.write(found, self._directory.path())
        if main_op is not None:
            _add_main_op(graph, main_op)
        if train_op is not None:
            graph.add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def _maybe_create_saver(self, saver: Any = None) -> Any:
        """The saver that was given, or a sharded one of all variables."""
        return saver or Saver(
            _all_saveable_objects(), sharded=True, write_version=V2, allow_empty=True
        )

    def _tag_and_add_meta_graph(
        self,
        meta_graph_def: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None,
    ) -> None:
        meta_graph_def.meta_info_def.tags.extend(tags)
        for key, signature in (signature_def_map or {}).items():
            meta_graph_def.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.append(meta_graph_def)


def _add_main_op(graph: Any, main_op: Any) -> None:
    if not isinstance(main_op, Operation):
        raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if graph.get_collection(key):
            raise ValueError(
                "Graph already contains one or more main ops under the collection "
                f"{key}."
            )
    graph.add_to_collection(constants.MAIN_OP_KEY, main_op)


def _check_signatures(signature_def_map: Mapping[str, Any]) -> None:
    for signature in signature_def_map.values():
        for infos in (signature.inputs, signature.outputs):
            for info in infos.values():
                _check_tensor_info(info)
    for key, what in (
        (constants.INIT_OP_SIGNATURE_KEY, "initialization"),
        (constants.TRAIN_OP_SIGNATURE_KEY, "the train op"),
    ):
        if key in signature_def_map:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {what}. Please use a '
                "different key."
            )


def _check_tensor_info(info: Any) -> None:
    encoding = None if info is None else info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the "
            f"'encoding' fields (e.g., name or coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for part in info.composite_tensor.components:
            _check_tensor_info(part)
    elif not info.dtype:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have the dtype "
            f"field set: {info}"
        )


@export("saved_model.simple_save")
def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Writes a SavedModel for serving: tag `serve`, one signature, the default one.

    Args:
      session: a session whose variables are initialized.
      export_dir: a directory of any file system that is empty or not there.
      inputs: what the model takes, tensors by their keys.
      outputs: what it gives.
      legacy_init_op: an operation that a loader runs after restoring the variables.
    """
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[constants.SERVING],
        signature_def_map={
            constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(
                inputs, outputs
            )
        },
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
