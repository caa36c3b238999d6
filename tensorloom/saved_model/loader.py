"""`tf.saved_model.load`: a SavedModel's graph, variables and initialization, loaded."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_lists import _all_saveable_objects
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.saved_model import assets, constants
from tensorloom.saved_model.export_directory import (
    find_message,
    parse_saved_model,
    variables_path,
)
from tensorloom.saved_model.object_variables import restore_left_out
from tensorloom.saved_model.signature_defs import load_op_from_signature_def
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.checkpoints.message_text import errors_name_the_file
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.meta_graph.meta_graph_import import (
    import_meta_graph_with_return_elements,
)

if TYPE_CHECKING:
    import contextlib

_logger = logging.getLogger("tensorloom")


@export(
    "saved_model.contains_saved_model",
    "saved_model.maybe_saved_model_directory",
    "saved_model.loader.maybe_saved_model_directory",
)
def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a directory has the file of a SavedModel in it; it is not read."""
    return find_message(filesystem.path_text(export_dir)) is not None


@export("saved_model.load", "saved_model.loader.load")
def load(
    sess: Any,
    tags: Iterable[str],
    export_dir: Any,
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:
    """Loads a MetaGraph of a SavedModel into a session, which can then run it.

    SavedModels of TensorFlow 1 and 2 are loaded alike; run the tensors that a
    signature names.

    Args:
      sess: gets the graph, the values of the variables, and runs the init op.
      tags: all the tags of the MetaGraph.
      export_dir: the directory, of any file system.
      import_scope: stands before the names of what is loaded.
      saver_kwargs: for `tf.train.import_meta_graph`.

    Returns:
      The `MetaGraphDef`, whose `signature_def` names the inputs and outputs.

    Raises:
      OSError: there is no SavedModel, or its message is damaged.
      RuntimeError: it has no MetaGraph with these tags.
      errors.InvalidArgumentError, errors.DataLossError, errors.NotFoundError: the graph
        or the variables are damaged or missing; the message names the file.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """Loads MetaGraphs of one SavedModel, step by step.

    Args:
      export_dir: the directory; its mirror is used when it is lost.
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = filesystem.path_text(export_dir)
        if find_message(self._export_dir) is None:
            for other in mirror.copies_of(self._export_dir):
                if find_message(other) is not None:
                    self._export_dir = other
                    break
        self._saved_model = parse_saved_model(self._export_dir)

    @property
    def export_dir(self) -> str:
        """The directory that is read."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint."""
        return variables_path(self._export_dir)

    @property
    def saved_model(self) -> Any:
        """The `SavedModel` message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Any:
        """The `MetaGraphDef` that has exactly these tags.

        Raises:
          RuntimeError: there is none.
        """
        wanted = {tags} if isinstance(tags, str) else set(tags)
        available = []
        for meta_graph_def in self._saved_model.meta_graphs:
            found = set(meta_graph_def.meta_info_def.tags)
            if found == wanted:
                return meta_graph_def
            available.append(sorted(found))
        raise RuntimeError(
            f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in "
            f"SavedModel {self._export_dir}. `tensorloom saved-model show` tells what "
            f"there is.\navailable_tags: {available}"
        )

    def load_graph(
        self,
        graph: Any,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Any, Any]:
        """Adds a MetaGraph to a graph; returns its saver and the return elements."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default(), self._errors_name_the_file():
            # Constants too large for the message lie beside it.
            name = filesystem.join(self._export_dir, constants.SAVED_MODEL_FILENAME_PB)
            return import_meta_graph_with_return_elements(
                meta_graph_def,
                import_scope=import_scope,
                constants=large_graph.constants_prefix(name),
                **saver_kwargs,
            )

    def restore_variables(
        self, sess: Any, saver: Any, import_scope: str | None = None
    ) -> None:
        """Restores the variables in a session.

        Raises:
          ValueError: there are variables and no saver.
        """
        with sess.graph.as_default():
            if saver is None and not _all_saveable_objects(scope=import_scope):
                _logger.info(
                    "The specified SavedModel has no variables; no checkpoints were "
                    "restored."
                )
            elif isinstance(saver, Saver):
                if saver.saver_def is not None:  # that of nothing has none
                    with self._errors_name_the_file():
                        sess.graph.get_tensor_by_name(
                            saver.saver_def.filename_tensor_name
                        )
                        sess.graph.as_graph_element(saver.saver_def.restore_op_name)
                saver.restore(sess, self.variables_path)
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are variables in "
                    "the graph, a saver is required."
                )

    def run_init_ops(
        self, sess: Any, tags: Iterable[str], import_scope: str | None = None
    ) -> None:
        """Runs the init op, with the paths of the assets fed."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default(), self._errors_name_the_file():
            feeds = assets.feeds(self._export_dir, meta_graph_def, import_scope)
            for tensor in feeds:
                sess.graph.get_tensor_by_name(tensor)  # else: which file is at fault
            init_op = get_init_op(meta_graph_def, import_scope)
        if init_op is not None:
            sess.run([init_op], feed_dict=feeds)

    def load(
        self,
        sess: Any,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> Any:
        """All of it; see `tf.saved_model.load`."""
        tags = [tags] if isinstance(tags, str) else list(tags)
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            meta_graph_def = self.get_meta_graph_def_from_tags(tags)
            restore_left_out(sess, meta_graph_def, self.variables_path, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return meta_graph_def

    def _errors_name_the_file(self) -> contextlib.AbstractContextManager[None]:
        """Errors of what the message holds say which file holds it."""
        return errors_name_the_file(f"SavedModel file {find_message(self._export_dir)}")


def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The operation of the default graph to run after the variables are restored."""
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in meta_graph_def.signature_def:
        return load_op_from_signature_def(
            meta_graph_def.signature_def[key], key, import_scope
        )
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        op = _op_from_collection(meta_graph_def, key)
        if op is not None:
            return op
    return None


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The operation or tensor of the default graph that trains; None without one."""
    key = constants.TRAIN_OP_SIGNATURE_KEY
    if key in meta_graph_def.signature_def:
        return load_op_from_signature_def(
            meta_graph_def.signature_def[key], key, import_scope
        )
    return _op_from_collection(meta_graph_def, constants.TRAIN_OP_KEY)


def _op_from_collection(meta_graph_def: Any, key: str) -> Any:
    if key not in meta_graph_def.collection_def:
        return None
    names = meta_graph_def.collection_def[key].node_list.value
    if len(names) != 1:
        raise RuntimeError(
            f"Expected exactly one SavedModel init op. Found: {list(names)}"
        )
    return get_default_graph().get_collection(key)[0]
