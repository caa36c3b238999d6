"""Checkpoints of a `Network`: its variables by the names within it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.contrib.eager.networks import Network
from tensorloom.framework.export import export
from tensorloom.framework.runtime.default_stack import get_default_session
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_utils import (
    list_variables,
    load_checkpoint,
)
from tensorloom.train.checkpoints.saver import Saver

_INHERIT: Final = "Please inherit from tf.keras.Model instead of tfe.Network, and use "
_NamesOf = Callable[[str], str]


@export("contrib.eager.save_network_checkpoint")
@deprecated(None, f"{_INHERIT}tf.keras.Model.save_weights.")
def save_network_checkpoint(
    network: Any,
    save_path: Any,
    global_step: Any = None,
    map_func: _NamesOf | None = None,
) -> Any:
    """Writes a network's variables by the default session. Returns the path.

    Args:
      network: a `Network` that was called.
      save_path: the prefix of the files, or a folder, in which they have the network's
        name.
      global_step: goes into the path; the graph's global step when None.
      map_func: gives the name in the checkpoint of a variable's name; when None the
        network's own name is left out.

    Raises:
      ValueError: the network was not called, or two variables come to one name.
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means "
            "variables have not yet been created, so there is nothing to save."
        )
    network._set_scope()
    if global_step is None:
        global_step = training_util.get_global_step()
    names = _Names(network, map_func, is_saving=True)
    return Saver(names.by_name(network.variables)).save(
        get_default_session(),
        _path_of(network, save_path),
        write_meta_graph=False,
        global_step=global_step,
    )


@export("contrib.eager.restore_network_checkpoint")
@deprecated(None, f"{_INHERIT}tf.keras.Model.load_weights.")
def restore_network_checkpoint(
    network: Any, save_path: Any, map_func: _NamesOf | None = None
) -> None:
    """Restores a network's variables by the default session.

    Variables that are not there yet get their values when they are made.

    Args:
      network: a `Network`.
      save_path: what `save_network_checkpoint` gave, or its folder.
      map_func: what was given to it.

    Raises:
      ValueError: two variables come to one name.
    """
    network._finalize_name(None)
    network._set_scope()
    path = _path_of(network, save_path)
    names = _Names(network, map_func, is_saving=False)
    present = names.by_name(network.variables)
    session = get_default_session()
    if present:
        Saver(present).restore(session, path)
    reader = load_checkpoint(path)
    waiting = {
        name: reader.get_tensor(name)
        for name, _ in list_variables(path)
        if name not in present
    }
    if waiting:
        _restore_when_made(network, _Deferred(names, waiting, session))


def _path_of(network: Any, save_path: Any) -> Any:
    path = os.fspath(save_path)
    if os.path.isdir(path):
        return os.path.join(path, network.name.replace("/", "_"))
    return path


class _Names:
    """Names of variables in a checkpoint, and what to say if two are the same."""

    def __init__(
        self, network: Any, map_func: _NamesOf | None, is_saving: bool
    ) -> None:
        # Not the network itself: it should go when the program is done with it.
        self._name, self._scope_name = network.name, network.scope_name
        self._is_own = map_func is not None
        self._is_saving = is_saving
        prefix = f"{network.scope_name}/"
        self.map = map_func or (lambda name: name.removeprefix(prefix))

    def by_name(self, variables: Any) -> dict[str, Any]:
        """The variables by their names in the checkpoint."""
        found: dict[str, Any] = {}
        for variable in variables:
            name = self.map(variable.op.name)
            self.check(name, found.setdefault(name, variable), variable)
        return found

    def check(self, name: str, first: Any, second: Any) -> None:
        """Raises ValueError if a name stands for two variables."""
        if first is second:
            return
        both = f"'{name}' ('{first.op.name}' and '{second.op.name}')"
        about = f"for the Network '{self._name}' resulted in two variables named {both}"
        if not self._is_own:
            raise ValueError(
                f"The default checkpoint variable name mapping strategy for Network "
                f"'{self._name}' resulted in a naming conflict. We attempted to strip "
                f"off the variable prefix for the Network ('{self._scope_name}'), but "
                f"this resulted in two variables named {both}. Variables of layers "
                "that were first added to another Network have its prefix. Pass "
                "`map_func=lambda n: n` to save and restore by full names."
            )
        if self._is_saving:
            raise ValueError(
                f"The map_func passed to save_network_checkpoint {about}. Try "
                "stripping less from the variable names, or renaming parts of the "
                "Network."
            )
        raise ValueError(
            f"The map_func passed to restore_network_checkpoint {about}. Since this is "
            "also an error when saving, this Network was probably not saved with this "
            "map_func. Note that map_func always maps from full variable names to "
            "checkpoint names; there is no need to specify an inverse mapping."
        )


@dataclass(frozen=True)
class _Deferred:
    """Values for variables that are not there yet."""

    names: _Names
    # By the name in the checkpoint; None: a variable has got it.
    values: dict[str, Any]
    session: Any
    restored: dict[str, Any] = field(default_factory=dict)


def _restore_when_made(layer: Any, deferred: _Deferred) -> None:
    """A layer's new variables and those of its layers take values; latest first."""
    if isinstance(layer, Network):
        layer._set_scope()
    waiting = layer.__dict__.get("_deferred_restorations")
    if waiting is None:
        waiting = layer._deferred_restorations = []
        layer._custom_getter = _getter(waiting)
    layer._scope.set_custom_getter(layer._custom_getter)
    waiting.append(deferred)
    if isinstance(layer, Network):
        for inner in layer.layers:
            if not isinstance(inner, Network):
                layer._set_scope_of_layer(inner)
            _restore_when_made(inner, deferred)


def _getter(waiting: list[_Deferred]) -> Callable[..., Any]:
    def get(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        for deferred in reversed(waiting):
            saved_as = deferred.names.map(name)
            if saved_as in deferred.values:
                return _get_restored(deferred, saved_as, getter, name, args, kwargs)
        return getter(name, *args, **kwargs)

    return get


def _get_restored(
    deferred: _Deferred,
    saved_as: str,
    getter: Any,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    value = deferred.values[saved_as]
    if value is None:
        variable = getter(name, *args, **kwargs)
    else:
        # The value has a shape of its own.
        options = {**kwargs, "initializer": value, "shape": None}
        variable = getter(name, *args[1:], **options)
        deferred.values[saved_as] = None
        deferred.session.run(variable.initializer)
    first = deferred.restored.setdefault(saved_as, variable)
    deferred.names.check(saved_as, first, variable)
    return variable
