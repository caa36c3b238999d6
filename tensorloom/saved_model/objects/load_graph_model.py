"""SavedModels of graphs, which sessions wrote, as objects: `tf.saved_model.load_v2`.

The graph becomes the body of a function. Its resource variables stand in the default
graph, as those of other loaded models do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.concrete_function import trace
from tensorloom.client.functions.wrap_function import wrap_function
from tensorloom.client.variables.uninitialized_variable import UninitializedVariable
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_default_graph,
)
from tensorloom.framework.graph.graph_def import functions_from_proto
from tensorloom.framework.runtime.scopes import uid
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.trackable_structures import AutoTrackable
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import placeholder as placeholder_ops
from tensorloom.ops.lookup.trackable_resources import (
    CapturableResource,
    TrackableAsset,
)
from tensorloom.saved_model import assets
from tensorloom.saved_model.loader import SavedModelLoader, get_init_op
from tensorloom.saved_model.objects.function_library import (
    new_names,
    rename_in_library,
    rename_in_node,
)
from tensorloom.saved_model.objects.signatures import SignatureMap
from tensorloom.train.meta_graph.meta_graph_import import (
    import_meta_graph_with_return_elements,
)
from tensorloom.train.sessions.scaffold import Scaffold

if TYPE_CHECKING:
    from tensorloom.client.functions.concrete_function import ConcreteFunction
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.client.functions.wrap_function import WrappedFunction


class _Initializer(CapturableResource):
    """What fills tables of the model, and sets local variables."""

    def __init__(self, function: WrappedFunction, paths: list[TrackableAsset]) -> None:
        self._function = function
        self._paths = paths

    def _create_resource(self) -> Any:
        # Nobody reads it: what is initialized is not a resource, but many.
        return placeholder_ops.placeholder(dtypes.resource, [], name="unused_resource")

    def _initialize(self) -> Any:
        return self._function(*[one.asset_path for one in self._paths])[0]


def load(export_dir: str, tags: set[str] | None) -> Any:
    """The object of a SavedModel of a graph.

    Raises:
      ValueError: there are several MetaGraphs, and no tags.
      RuntimeError: no MetaGraph has the tags.
    """
    loader = SavedModelLoader(export_dir)
    graphs = loader.saved_model.meta_graphs
    if tags is None and len(graphs) != 1:
        raise ValueError(
            "Importing a SavedModel with tf.saved_model.load requires a 'tags=' "
            "argument if there is more than one MetaGraph. Got 'tags=None', but there "
            f"are {len(graphs)} MetaGraphs in the SavedModel with tag sets "
            f"{[list(one.meta_info_def.tags) for one in graphs]}. Pass a 'tags=' "
            "argument to load this SavedModel."
        )
    found = graphs[0] if tags is None else loader.get_meta_graph_def_from_tags(tags)
    return _Loading(loader, _renamed(found)).root()


def _renamed(meta_graph_def: Any) -> Any:
    """The MetaGraphDef with names of functions and resources that no other has."""
    result = type(meta_graph_def)()
    result.CopyFrom(meta_graph_def)
    names = new_names(result.graph_def.library)
    suffix = f"_load_{uid()}"
    rename_in_library(result.graph_def.library, names, suffix)
    for node in result.graph_def.node:
        rename_in_node(node, names, suffix)
    return result


class _Loading:
    """One loading: the graph as a function, and what is made of it."""

    def __init__(self, loader: SavedModelLoader, meta_graph_def: Any) -> None:
        self._loader = loader
        self._meta_graph = meta_graph_def
        self._saver: Any = None
        self._init_op: Any = None
        self._anchor: Any = None
        self._variables = {
            node.name: UninitializedVariable(
                name=node.name,
                dtype=node.attr["dtype"].type,
                shape=TensorShape(node.attr["shape"].shape),
            )
            for node in meta_graph_def.graph_def.node
            if node.op == "VarHandleOp"
        }
        library = functions_from_proto(meta_graph_def.graph_def.library)
        for function in library.values():
            get_default_graph().add_function(function)
        self._wrapped = wrap_function(self._import, signature=[])

    def _import(self) -> None:
        graph: Any = get_default_graph()
        graph._collections = {}  # those of the model are not the program's
        handles = {
            f"{name}:0": graph.capture(variable.handle)
            for name, variable in self._variables.items()
        }
        self._saver, _ = import_meta_graph_with_return_elements(
            self._meta_graph, input_map=handles
        )
        self._init_op = get_init_op(self._meta_graph)
        if self._init_op is None:
            self._init_op = Scaffold.default_local_init_op()
        # A tensor to fetch beside operations.
        self._anchor = constant_op.constant(0.0, name="dummy_fetch")

    def root(self) -> Any:
        """The object."""
        self._restore()
        root: Any = AutoTrackable()
        root.initializer, root.asset_paths = self._initializer()
        root.signatures = self._signatures()
        root.variables = list(self._variables.values())
        info = self._meta_graph.meta_info_def
        root.tensorflow_version = info.tensorflow_version
        root.tensorflow_git_version = info.tensorflow_git_version
        root.graph = self._wrapped.graph
        root.prune = self._wrapped.prune
        return root

    def _restore(self) -> None:
        """Makes the restoring of all variables the initializer of each."""
        definition = getattr(self._saver, "saver_def", None)
        if definition is None:
            return
        graph = self._wrapped.graph
        filename = graph.as_graph_element(definition.filename_tensor_name)
        restore_op = graph.as_graph_element(definition.restore_op_name)
        restore = self._wrapped.prune([filename], [filename, restore_op])
        restored, _ = restore(constant_op.constant(self._loader.variables_path))
        # Where there is no variable to hang it on, as with references.
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, restored)
        for variable in self._variables.values():
            variable._initializer_op = restored

    def _initializer(self) -> tuple[_Initializer, list[TrackableAsset]]:
        fed = assets.feeds(self._loader.export_dir, self._meta_graph, None)
        paths = [TrackableAsset(path) for path in fed.values()]
        function = self._wrapped.prune(list(fed), [self._anchor, self._init_op])
        initializer = _Initializer(function, paths)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, initializer._initialize())
        return initializer, paths

    def _signatures(self) -> SignatureMap:
        found = SignatureMap()
        for key, definition in self._meta_graph.signature_def.items():
            if definition.inputs or definition.outputs:
                found._add_signature(key, self._signature(definition))
        return found

    def _signature(self, definition: Any) -> ConcreteFunction:
        names = sorted(definition.inputs)
        feeds = [definition.inputs[name].name for name in names]
        fetches = {name: one.name for name, one in definition.outputs.items()}
        pruned = self._wrapped.prune(feeds, fetches)

        def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
            return [], {
                name: graph.add_argument(inside.dtype, inside.shape, name)
                for name, inside in zip(names, pruned.inputs, strict=False)
            }

        def signature_wrapper(**kwargs: Any) -> Any:
            return pruned(*[kwargs[name] for name in names])

        made = trace("signature_wrapper", make_arguments, signature_wrapper, names)
        made.name_arguments(names, 1 if len(names) == 1 else 0)
        return made
