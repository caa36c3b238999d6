"""From a version's directory to a `Servable`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import Graph
from tensorloom.saved_model.loader import SavedModelLoader, maybe_saved_model_directory
from tensorloom.serving.manager.engine import SessionEngine
from tensorloom.serving.manager.followed_checkpoints import (
    FollowedCheckpoints,
    followed_directory,
)
from tensorloom.serving.manager.frozen_graph import (
    add_types,
    find_frozen_graph,
    read_frozen_graph,
)
from tensorloom.serving.manager.quick_steps import QuickSteps, plain_outputs
from tensorloom.serving.manager.servable import Servable
from tensorloom.serving.manager.signature import decode_signatures
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.serving.manager.signature import Signature
    from tensorloom.serving.security.served_ops import ServedOps

#: With this file, which may be empty, a version asks to be compiled.
COMPILE_FILE: Final = "assets.extra/tensorloom_compile"


@dataclass(frozen=True, slots=True)
class ModelLoader:
    """Loads versions; what is set here holds for all models."""

    ops: ServedOps
    tags: Sequence[str] = ("serve",)
    #: A `ConfigProto` for their sessions.
    session_config: Any = None
    #: Requests that run on one version at a time; 0: any number.
    most_at_once: int = 0
    #: Whether a signature can be called by its own method alone.
    checks_methods: bool = False
    #: Runs the warm-up of a version that is loaded, but not yet available.
    warm_up: Callable[[Servable], None] = lambda servable: None
    #: Names or patterns of models that run as machine code once it is there.
    compiled: Sequence[str] = ()
    #: How often versions look for checkpoints that they follow; 0: once.
    poll_s: float = 1.0

    def load(self, name: str, version: int, path: str) -> Servable:
        """Loads, prepares and warms up a version.

        Raises:
          OSError, RuntimeError, ValueError, errors.OpError: it is no model that can
            be served.
        """
        session = Session(graph=Graph(), config=self._config_of(name, path))
        engine = SessionEngine(session)
        try:
            meta_graph = self._load_graph(session, path)
            self._follow(f"{name} version {version}", path, engine, meta_graph)
            servable = Servable(
                name,
                version,
                path,
                engine,
                decode_signatures(meta_graph),
                _without_graph(meta_graph),
                self.most_at_once,
                self.checks_methods,
            )
            if engine.gate is None:  # else a step may have to wait
                outputs = plain_outputs(
                    meta_graph.graph_def, servable.signatures.values()
                )
                servable.quick = QuickSteps(outputs) if outputs else None
            _prepare(engine, servable.signatures.values())
            self.warm_up(servable)
        except BaseException:
            engine.close()
            raise
        return servable

    def _follow(
        self, name: str, path: str, engine: SessionEngine, meta_graph: Any
    ) -> None:
        """Brings a version that follows a training to where that is."""
        directory = followed_directory(path)
        if directory is None:
            return
        followed = FollowedCheckpoints(name, engine, meta_graph.saver_def, directory)
        followed.look()
        if self.poll_s:
            followed.start(self.poll_s)
            engine.before_close(followed.stop)

    def _config_of(self, name: str, path: str) -> Any:
        """The `ConfigProto` for a version: the server may say it is compiled, or it."""
        if not any(fnmatchcase(name, pattern) for pattern in self.compiled) and (
            not filesystem.exists(filesystem.join(path, COMPILE_FILE))
        ):
            return self.session_config
        from tensorloom.protos.config_pb2 import ConfigProto, OptimizerOptions

        config: Any = ConfigProto()
        if self.session_config is not None:
            config.CopyFrom(self.session_config)
        options = config.graph_options.optimizer_options
        options.global_jit_level = OptimizerOptions.ON_1
        return config

    def _load_graph(self, session: Session, path: str) -> Any:
        """Fills the session; gives the `MetaGraphDef`."""
        if maybe_saved_model_directory(path):
            loader = SavedModelLoader(path)
            meta_graph = loader.get_meta_graph_def_from_tags(self.tags)
            self.ops.check(meta_graph, decode_signatures(meta_graph).values())
            return loader.load(session, self.tags)
        file = find_frozen_graph(path)
        if file is None:
            raise errors.NotFoundError(
                None, None, f"Could not find SavedModel .pb or .pbtxt at {path}"
            )
        meta_graph = read_frozen_graph(file)
        graph_def = meta_graph.graph_def
        with session.graph.as_default():
            import_graph_def(graph_def, name="")
        add_types(meta_graph, session.graph)
        self.ops.check(meta_graph, decode_signatures(meta_graph).values())
        return meta_graph


def _without_graph(meta_graph: Any) -> dict[str, Any]:
    """The signatures as messages that do not keep the graph's in memory."""
    found = {}
    for key, signature_def in meta_graph.signature_def.items():
        copy = type(signature_def)()
        copy.CopyFrom(signature_def)
        found[key] = copy
    return found


def _prepare(engine: SessionEngine, signatures: Iterable[Signature]) -> None:
    """Prunes, optimizes and compiles each signature before the first request.

    A signature whose tensors are not all there stays callable and says so then.
    """
    for signature in signatures:
        feeds = {slot.tensor for slot in signature.inputs.values()}
        fetches = {slot.tensor for slot in signature.outputs.values()} - feeds
        if fetches:
            engine.prepare(sorted(feeds), sorted(fetches))
