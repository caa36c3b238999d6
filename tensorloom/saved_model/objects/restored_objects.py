"""The objects that loading a SavedModel makes, besides variables and functions."""

from __future__ import annotations

import functools
from typing import Any

from tensorloom.client.variables.uninitialized_variable import UninitializedVariable
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.trackable_structures import (
    AutoTrackable,
    DictWrapper,
    ListWrapper,
)
from tensorloom.ops.lookup.mutable_tables import TableSaveable
from tensorloom.ops.lookup.trackable_resources import CapturableResource
from tensorloom.saved_model.objects.revived_types import (
    VersionedTypeRegistration,
    deserialize,
    register_revived_type,
)


def user_object(message: Any) -> tuple[Any, Any]:
    """The object of a `SavedUserObject`, and what sets its attributes.

    An object of a class that is not registered is one that has the attributes. It can
    be called if it has a `__call__` among them.
    """
    known = deserialize(message)
    if known is not None:
        return known

    # A class of its own for each, since calls look up `__call__` in the class.
    class _UserObject(AutoTrackable):
        pass

    return _UserObject(), set_attribute


def set_attribute(obj: Any, name: str, value: Any) -> None:
    """Sets an attribute; `__call__` makes objects of the class callable."""
    setattr(obj, name, value)
    if name == "__call__" and not callable(obj):
        type(obj).__call__ = _call_attribute


def _call_attribute(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return instance.__call__(*args, **kwargs)


class RestoredResource(AutoTrackable, CapturableResource):
    """A table, or another resource, made and filled by functions of the model."""

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        # Of a table that changes: its contents are among the values of the model.
        self._table_dtypes: tuple[Any, Any] | None = None

    def keep_contents(self, key_dtype: Any, value_dtype: Any) -> None:
        """Says that it is a table whose contents are saved and restored."""
        self._table_dtypes = key_dtype, value_dtype

    def export(self) -> Any:
        """The keys and values of such a table."""
        assert self._table_dtypes is not None
        key_dtype, value_dtype = self._table_dtypes
        with colocate_with(self.resource_handle):
            return apply_op(
                "LookupTableExportV2",
                table_handle=self.resource_handle,
                Tkeys=key_dtype,
                Tvalues=value_dtype,
            )

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        if self._table_dtypes is None:
            return {}
        return {"table": functools.partial(TableSaveable, self)}


class RestoredOptimizer(AutoTrackable):
    """Of an optimizer: its hyperparameters and slots, so that they are kept."""

    _object_identifier = "optimizer"

    def __init__(self) -> None:
        self._slots: Any = self._no_dependency({})

    def add_slot(self, var: Any, slot_name: str) -> Any:
        """The variable of a slot, made when it is first asked for."""
        known: dict[Any, Any] = self._slots.setdefault(slot_name, {})
        if id(var) not in known:
            known[id(var)] = UninitializedVariable(
                trainable=False,
                name=f"{var.op.name}/{slot_name}",
                dtype=var.dtype,
                shape=var.shape,
            )
        return known[id(var)]

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable of a slot; None if there is none."""
        return self._slots.get(name, {}).get(id(var))

    def get_slot_names(self) -> list[str]:
        """The names of all slots."""
        return sorted(self._slots)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        slot_variable_position.restore(self.add_slot(variable, slot_name))


def _set_list_item(values: Any, index: str, value: Any) -> None:
    missing = int(index) + 1 - len(values)
    values.extend([None] * missing)
    values[int(index)] = value


def _register(identifier: str, kind: Any, make: Any, setter: Any = setattr) -> None:
    register_revived_type(
        identifier,
        lambda obj: isinstance(obj, kind),
        [
            VersionedTypeRegistration(
                object_factory=lambda proto: make(),
                version=1,
                min_producer_version=1,
                min_consumer_version=1,
                setter=setter,
            )
        ],
    )


_register(
    "trackable_list_wrapper", ListWrapper, lambda: ListWrapper([]), _set_list_item
)
_register(
    "trackable_dict_wrapper",
    DictWrapper,
    lambda: DictWrapper({}),
    lambda obj, name, value: obj.__setitem__(name, value),
)
# Written by TensorFlow 2 alone: nothing here is saved as such.
_register("trackable_tuple_wrapper", (), lambda: ListWrapper([]), _set_list_item)
_register("optimizer", RestoredOptimizer, RestoredOptimizer)
