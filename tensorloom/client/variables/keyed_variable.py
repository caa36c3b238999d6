"""Variables whose rows belong to keys: what optimizers and savers know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.client.variables.base_resource_variable import BaseResourceVariable

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


class KeyedVariable(BaseResourceVariable):
    """A variable of rows by keys; its gradients are IndexedSlices over keys.

    There is no tensor of all rows: it is not read, converted or assigned as a whole,
    and no initializer makes it.
    """

    #: Of one row, and of the initial values of its slots.
    row_shape: TensorShape
    #: Of all the places that hold rows together; a checkpoint has them under this name.
    whole_name: str

    def start_from(self, prefix: Any, name: str) -> None:
        """From now on the initializer takes the rows of a checkpoint over.

        Args:
          prefix: of the checkpoint.
          name: the whole variable's there.
        """
        raise AssertionError("abstract")

    def make_slot(self, name: str, fill: float) -> Any:
        """A slot with a name like `name`, of which new rows hold `fill`."""
        raise AssertionError("abstract")

    def apply_rule(
        self, rule: str, slots: tuple[Any, ...], arguments: dict[str, Any]
    ) -> Any:
        """The operation that updates rows by a rule.

        Args:
          rule: its name, as in the names of ops, such as "Adam".
          slots: what `make_slot` gave.
          arguments: the rule's numbers, gradient and attrs, and `indices`, the keys.
        """
        raise AssertionError("abstract")

    def _has_no_tensor(self) -> NoReturn:
        raise TypeError(
            f"{self.name} holds rows by keys, and there is no tensor of all of them; "
            "use an embedding lookup, or its export()"
        )

    def to_proto(self, export_scope: str | None = None) -> Any:
        """None: a `VariableDef` has no place for it. MetaGraphs hold its ops alone."""
        return None

    def value(self) -> Any:
        """Raises TypeError: there is no tensor of all rows."""
        self._has_no_tensor()

    def read_value(self) -> Any:
        """Raises TypeError: there is no tensor of all rows."""
        self._has_no_tensor()

    def assign(self, value: Any, *arguments: Any, **options: Any) -> Any:
        """Raises TypeError: there is no tensor of all rows."""
        self._has_no_tensor()

    def _update(self, *arguments: Any, **options: Any) -> Any:
        self._has_no_tensor()

    def _scatter(self, kind: str, indices: Any, updates: Any, name: Any) -> Any:
        self._has_no_tensor()
