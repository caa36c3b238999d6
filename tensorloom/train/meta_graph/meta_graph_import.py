"""`tf.train.import_meta_graph`: graph, collections and saver of a MetaGraphDef."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import _all_saveable_objects
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, get_default_graph
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.checkpoints.message_text import errors_name_the_file, parse_text
from tensorloom.train.meta_graph import meta_graph_collections
from tensorloom.train.meta_graph.meta_graph import export_scoped_meta_graph


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Any:
    """Adds the graph and the collections of a MetaGraphDef to the default graph.

    Args:
      meta_graph_or_file: a `MetaGraphDef`, or the path of one, binary or text.
      clear_devices: leave the devices of operations out.
      import_scope: a scope for the names.
      kwargs: `input_map`, `restore_collections_predicate`, as for
        `import_scoped_meta_graph_with_return_elements`.

    Returns:
      A saver for its variables; None when it has none.

    Raises:
      OSError: there is no such file, or it is no MetaGraphDef.
      ValueError: inputs are unbound that `input_map` does not have.
      errors.InvalidArgumentError: it is malformed; the message names the file.
    """
    return import_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    constants: str = "",
    **kwargs: Any,
) -> tuple[Any, Any]:
    """As `import_meta_graph`; also returns operations and tensors by name.

    Args:
      constants: the bundle of those that are too large for the message.
    """
    meta_graph_def, file = _opened(meta_graph_or_file)
    named = (
        errors_name_the_file(f"MetaGraph file {file}")
        if file
        else contextlib.nullcontext()
    )
    with named:
        variables, elements = import_scoped_meta_graph_with_return_elements(
            meta_graph_def,
            clear_devices=clear_devices,
            import_scope=import_scope,
            return_elements=return_elements,
            constants=constants or _constants_beside(file),
            **kwargs,
        )
        return _make_saver(meta_graph_def, import_scope, variables), elements


def _make_saver(
    meta_graph_def: Any, import_scope: str | None, variables: Mapping[str, Any]
) -> Any:
    from tensorloom.train.checkpoints.saver import Saver

    if meta_graph_def.HasField("saver_def"):
        scope = import_scope
        if variables:
            # The scope may have been made unique.
            name, variable = next(iter(variables.items()))
            scope = variable.name[: -len(name)]
        saver_def = type(meta_graph_def.saver_def)()
        saver_def.CopyFrom(meta_graph_def.saver_def)
        return Saver(saver_def=saver_def, name=scope)
    if _all_saveable_objects(scope=import_scope):
        return Saver()
    program_log.info(
        "Saver not created because there are no variables in the graph to restore"
    )
    return None


def read_meta_graph_file(filename: Any) -> Any:
    """The MetaGraphDef in a file, binary or text.

    Raises:
      OSError: there is no such file, or it is no MetaGraphDef.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from tensorloom.protos import meta_graph_pb2

    path = filesystem.path_text(filename)
    if not filesystem.exists(path):
        raise OSError(f"File {path} does not exist.")
    data = filesystem.read_file(path)
    result = meta_graph_pb2.MetaGraphDef()
    try:
        result.ParseFromString(data)
    except DecodeError:
        result.Clear()
        try:
            parse_text(data, result)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise OSError(f"Cannot parse file {path}: {error}.") from None
    return result


def _opened(value: Any) -> tuple[Any, str]:
    """A MetaGraphDef, and the path of its file if it is of one."""
    from tensorloom.protos import meta_graph_pb2

    if isinstance(value, meta_graph_pb2.MetaGraphDef):
        return value, ""
    return read_meta_graph_file(value), filesystem.path_text(value)


def _constants_beside(file: str) -> str:
    return large_graph.constants_prefix(file) if file else ""


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Any = None,
    constants: str = "",
) -> tuple[dict[str, Any], Any]:
    """Adds a MetaGraphDef to a graph.

    Args:
      graph: the default graph when None.
      input_map: what to use for inputs of the graph, see `import_graph_def`.
      unbound_inputs_col_name: the collection that names inputs that must be given.
      restore_collections_predicate: which collections are taken over, by key.
      return_elements: names of operations and tensors to return.
      constants: the bundle of those that are too large for the message; that beside
        the file if it is empty.

    Returns:
      The variables by their names in the file, and the return elements.

    Raises:
      ValueError: inputs are unbound that `input_map` does not have.
    """
    meta_graph_def, file = _opened(meta_graph_or_file)
    if unbound_inputs_col_name:
        _check_unbound(meta_graph_def, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    with graph.as_default():
        info = meta_graph_def.meta_info_def
        op_list = info.stripped_op_list if info.HasField("stripped_op_list") else None
        graph_def = meta_graph_def.graph_def
        is_large = large_graph.has_outside_constants(graph_def)
        if clear_devices or is_large:
            graph_def = type(graph_def)()
            graph_def.CopyFrom(meta_graph_def.graph_def)
        if clear_devices:
            for node in graph_def.node:
                node.device = ""
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        prefix = constants or _constants_beside(file)
        elements = large_graph.import_with_constants(
            graph_def,
            prefix if is_large else "",
            input_map=input_map,
            return_elements=return_elements,
            name=import_scope or scope,
            producer_op_list=op_list,
        )
        known: dict[bytes, Any] = {}
        for key, collection in _ordered_collections(meta_graph_def):
            if key == unbound_inputs_col_name:
                continue
            if restore_collections_predicate(key):
                restorer = _Collection(graph, meta_graph_def, scope, key, known)
                restorer.restore(collection)
    found = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {strip_scope(v.name, scope): v for v in found}, elements


def _check_unbound(
    meta_graph_def: Any, key: str, input_map: Mapping[str, Any] | None
) -> None:
    if key not in meta_graph_def.collection_def:
        return
    names = [
        value.decode() for value in meta_graph_def.collection_def[key].bytes_list.value
    ]
    if names and sorted(names) != sorted(input_map or ()):
        missing = ",".join(n for n in names if not input_map or n not in input_map)
        raise ValueError(
            f"Graph contains unbound inputs: {missing}. Must provide these inputs "
            "through input_map."
        )


def _ordered_collections(meta_graph_def: Any) -> Iterator[tuple[str, Any]]:
    """Trainable variables first: files of old versions tell no other way what they are.

    The objects that they make are then the same in the other collections.
    """
    collections = dict(meta_graph_def.collection_def.items())
    first = GraphKeys.TRAINABLE_VARIABLES
    if first in collections:
        yield first, collections.pop(first)
    yield from sorted(collections.items(), key=lambda item: item[0])


class _Collection:
    """One collection on its way into a graph."""

    def __init__(
        self,
        graph: Any,
        meta_graph_def: Any,
        scope: str,
        key: str,
        known: dict[bytes, Any],
    ) -> None:
        self._graph = graph
        self._scope = scope
        self._key = key
        self._has_trainable = _has_trainable(meta_graph_def.meta_info_def)
        # One object for a variable that is in several collections.
        self._known = known

    def restore(self, collection: Any) -> None:
        kind = collection.WhichOneof("kind")
        if kind is None:
            program_log.error(
                "Cannot identify data type for collection %s. Skipping.", self._key
            )
            return
        functions = meta_graph_collections.proto_functions(self._key)
        values = getattr(collection, kind).value
        if functions is not None and kind == "bytes_list":
            for data in values:
                self._add(self._from_proto(functions, data))
        elif kind == "node_list":
            for name in values:
                self._add(
                    self._graph.as_graph_element(prepend_scope(name, self._scope))
                )
        elif kind == "bytes_list":
            for data in values:
                self._add(_with_scope(data, self._scope))
        else:
            for value in values:
                self._add(value)

    def _add(self, item: Any) -> None:
        self._graph.add_to_collection(self._key, item)

    def _from_proto(self, functions: Any, data: bytes) -> Any:
        proto = functions.proto_type()()
        proto.ParseFromString(data)
        if self._key not in GraphKeys._VARIABLE_COLLECTIONS:
            return functions.from_proto(proto, import_scope=self._scope)
        variable = self._known.get(data)
        if variable is None:
            if not self._has_trainable:
                proto.trainable = self._key == GraphKeys.TRAINABLE_VARIABLES
            variable = functions.from_proto(proto, import_scope=self._scope)
            self._known[data] = variable
        return variable


def _with_scope(data: bytes, scope: str) -> Any:
    """A string of a collection: it may be a name, so it gets the scope."""
    if not scope:
        return data
    try:
        return prepend_scope(data.decode("utf-8"), scope)
    except UnicodeDecodeError:
        return data


def _has_trainable(info: Any) -> bool:
    """VariableDef tells whether it is trainable since version 1.9."""
    if not info.tensorflow_version:
        return True
    numbers = [int(x) for x in re.findall(r"\d+", info.tensorflow_version)[:2]]
    return numbers >= [1, 9]


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """`import_scoped_meta_graph_with_return_elements` without elements: the variables
    that were added, by name."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def copy_scoped_meta_graph(
    from_scope: str,
    to_scope: str,
    from_graph: Graph | None = None,
    to_graph: Graph | None = None,
) -> dict[str, Any]:
    """Copies what is in a scope into another scope or graph.

    Args:
      from_scope: what is copied.
      to_scope: where the copy is.
      from_graph, to_graph: the graphs; the default graph each.

    Returns:
      The variables copied, by their names in the scope.

    Raises:
      ValueError: the scopes are the same in one graph.
    """
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in "
            "the same graph."
        )
    copied, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(copied, graph=to_graph, import_scope=to_scope)
