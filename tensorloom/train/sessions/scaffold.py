"""`tf.train.Scaffold`: what a model is initialized, checked and saved with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_default_graph,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.summary.summary import merge_all
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.sessions import resources

_FIELDS = (
    "init_op",
    "init_feed_dict",
    "ready_op",
    "ready_for_local_init_op",
    "local_init_op",
    "summary_op",
    "saver",
)


@export("train.Scaffold")
class Scaffold:
    """The operations that a session needs to begin; `finalize` makes what is missing.

    What is made goes into the collection of its name, and what is there already is
    used.

    Args:
      init_op: initializes the model when there is no checkpoint.
      init_feed_dict: feeds for it.
      init_fn: called with (scaffold, session) after it.
      ready_op: string vector, empty when the model is ready.
      ready_for_local_init_op: string vector, empty when `local_init_op` may run.
      local_init_op: run in each new session: local variables, tables.
      summary_op: what summary hooks run.
      saver: a `tf.train.Saver` or `tf.train.Checkpoint`.
      copy_from_scaffold: has what is not given.

    Raises:
      TypeError: `copy_from_scaffold` is no scaffold.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Any = None,
    ) -> None:
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._user_init_fn = init_fn
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._summary_op = summary_op
        self._saver = saver
        if copy_from_scaffold is not None:
            self._take_missing(copy_from_scaffold)
        self._init_fn: Callable[[Any], Any] | None = None
        user_init_fn = self._user_init_fn
        if user_init_fn:
            self._init_fn = lambda session: user_init_fn(self, session)

    def _take_missing(self, other: Any) -> None:
        if not isinstance(other, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        if self._user_init_fn is None:
            self._user_init_fn = other._user_init_fn
        for name in _FIELDS:
            if getattr(self, f"_{name}") is None:
                setattr(self, f"_{name}", getattr(other, name))

    def finalize(self) -> Scaffold:
        """Makes what is missing and finalizes the default graph.

        Raises:
          RuntimeError: a collection has several that could be meant.
        """
        for name, key, make in (
            ("init_op", GraphKeys.INIT_OP, _default_init_op),
            ("ready_op", GraphKeys.READY_OP, _default_ready_op),
            (
                "ready_for_local_init_op",
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                _default_ready_for_local_init_op,
            ),
            (
                "local_init_op",
                GraphKeys.LOCAL_INIT_OP,
                Scaffold.default_local_init_op,
            ),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
        ):
            if getattr(self, f"_{name}") is None:
                found = Scaffold.get_or_default(name, key, make)
                setattr(self, f"_{name}", found)
        if self._saver is None:
            self._saver = _get_saver_or_default()
        self._saver = _as_saver(self._saver)
        get_default_graph().finalize()
        program_log.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """A function of the session that initializes the model further."""
        return self._init_fn

    @property
    def init_op(self) -> Any:
        """Initializes the model."""
        return self._init_op

    @property
    def ready_op(self) -> Any:
        """Says what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Says what has to be initialized before `local_init_op`."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Initializes what each session has for itself."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """All summaries of the graph."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """Saves and restores the model."""
        return self._saver

    @property
    def init_feed_dict(self) -> Any:
        """Feeds for `init_op`."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """What a collection has, or else what is made and put there.

        Raises:
          RuntimeError: it has several.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please '
                "indicate which one to use by passing it to the tf.Scaffold "
                f"constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Initializes local variables, tables and local resources."""
        return control_flow_ops.group(
            local_variables_initializer(),
            tables_initializer(),
            resources.initialize_resources(resources.local_resources()),
        )


def _default_init_op() -> Any:
    return control_flow_ops.group(
        global_variables_initializer(),
        resources.initialize_resources(resources.shared_resources()),
    )


def _default_ready_op() -> Any:
    return array_ops.concat(
        [report_uninitialized_variables(), resources.report_uninitialized_resources()],
        0,
    )


def _default_ready_for_local_init_op() -> Any:
    return array_ops.concat(
        [
            report_uninitialized_variables(global_variables()),
            resources.report_uninitialized_resources(resources.shared_resources()),
        ],
        0,
    )


def _get_saver_or_default() -> Any:
    """The saver of the collection SAVERS, made if there is none."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate "
            "which one to use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver


def _as_saver(saver: Any) -> Any:
    """A built saver, also of what a `tf.train.Checkpoint` has."""
    from tensorloom.train.checkpoints.object_checkpoint import (
        Checkpoint,
        frozen_saveables,
    )
    from tensorloom.train.checkpoints.object_graph import ObjectGraphView

    if isinstance(saver, Checkpoint):
        return Saver(var_list=frozen_saveables(ObjectGraphView(saver)), sharded=True)
    saver.build()
    return saver
