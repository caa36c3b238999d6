"""The session of Keras, and values of variables through it.

Where no session is the default one, Keras has its own, and initializes the variables of
its layers there when it first needs their values.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    get_default_graph,
    get_default_session,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session

_layer_variables: weakref.WeakKeyDictionary[Graph, weakref.WeakSet[Any]] = (
    weakref.WeakKeyDictionary()
)
_initialized: weakref.WeakSet[Any] = weakref.WeakSet()
# variable -> (placeholder, assignment), so that setting it twice adds no nodes.
_assignments: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = (
    weakref.WeakKeyDictionary()
)
_own_session: list[Any] = []


def track_variable(variable: Any) -> None:
    """Remembers a variable of a layer, to initialize it when it is needed."""
    graph = get_default_graph()
    _layer_variables.setdefault(graph, weakref.WeakSet()).add(variable)


@export("keras.backend.get_session")
def get_session(op_input_list: Any = ()) -> Session:
    """The default session, or Keras's own; the layers' variables are initialized.

    Args:
      op_input_list: not used: the graph is the default one.
    """
    del op_input_list
    session: Any = get_default_session()
    if session is None:
        session = _keras_session()
    with session.graph.as_default():
        _initialize(session)
    return session  # type: ignore[no-any-return]


@export("keras.backend.set_session")
def set_session(session: Any) -> None:
    """Makes a session Keras's own."""
    _own_session[:] = [] if session is None else [session]


def _keras_session() -> Any:
    from tensorloom.client.session.session import Session

    if not _own_session or _own_session[0].graph is not get_default_graph():
        set_session(Session())
    return _own_session[0]


def _initialize(session: Any) -> None:
    from tensorloom.client.variables.variable_lists import variables_initializer
    from tensorloom.client.variables.variables import is_variable_initialized

    known = _layer_variables.get(get_default_graph(), ())
    waiting = [variable for variable in known if variable not in _initialized]
    if not waiting:
        return
    flags = session.run([is_variable_initialized(variable) for variable in waiting])
    unset = [v for v, flag in zip(waiting, flags, strict=True) if not flag]
    _initialized.update(waiting)
    if unset:
        session.run(variables_initializer(unset))


@export("keras.backend.batch_get_value")
def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of variables as arrays."""
    return get_session().run(list(tensors)) if tensors else []


@export("keras.backend.batch_set_value")
def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Sets variables: (variable, value) each."""
    if not tuples:
        return
    feeds, assignments = {}, []
    for variable, value in tuples:
        kind = dtypes.as_dtype(variable.dtype).base_dtype
        array = np.asarray(value, dtype=kind.as_numpy_dtype)
        if variable not in _assignments:
            fed = placeholder(kind, shape=[None] * array.ndim)
            _assignments[variable] = fed, variable.assign(fed)
        fed, assignment = _assignments[variable]
        feeds[fed] = array
        assignments.append(assignment)
    get_session().run(assignments, feed_dict=feeds)
