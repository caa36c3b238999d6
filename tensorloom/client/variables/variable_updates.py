"""What every variable can do to its state: `tf.Variable.assign` and its like.

`RefVariable` and `ResourceVariable` implement it; declared here, the methods are found
on `tf.Variable` itself, where programs look them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tensorloom.framework.types.indexed_slices import IndexedSlices


def _abstract(variable: Any, method: str) -> NoReturn:
    raise AssertionError(f"{type(variable).__name__} does not define {method}")


class VariableUpdates:
    """The methods that a kind of variable defines in its own way."""

    def set_shape(self, shape: Any) -> None:
        """Refines the static shape; reference variables have it."""
        _abstract(self, "set_shape")

    def eval(self, session: Any = None) -> Any:
        """The value in a session, or in the default session."""
        _abstract(self, "eval")

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A `VariableDef`; None when the variable is outside the scope."""
        _abstract(self, "to_proto")

    def count_up_to(self, limit: int) -> Any:
        """The value, incrementing it up to `limit`."""
        _abstract(self, "count_up_to")

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assigns a new value."""
        _abstract(self, "assign")

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the value."""
        _abstract(self, "assign_add")

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the value."""
        _abstract(self, "assign_sub")

    def scatter_add(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Adds IndexedSlices."""
        _abstract(self, "scatter_add")

    def scatter_sub(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Subtracts IndexedSlices."""
        _abstract(self, "scatter_sub")

    def scatter_mul(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Multiplies by IndexedSlices."""
        _abstract(self, "scatter_mul")

    def scatter_div(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Divides by IndexedSlices."""
        _abstract(self, "scatter_div")

    def scatter_min(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Takes the minimum with IndexedSlices."""
        _abstract(self, "scatter_min")

    def scatter_max(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Takes the maximum with IndexedSlices."""
        _abstract(self, "scatter_max")

    def scatter_update(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        """Assigns IndexedSlices."""
        _abstract(self, "scatter_update")

    def batch_scatter_update(
        self,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: Any = None,
    ) -> Any:
        """Assigns slices batch-wise, see `tf.batch_scatter_update`."""
        _abstract(self, "batch_scatter_update")

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Adds slices at index vectors."""
        _abstract(self, "scatter_nd_add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Subtracts slices at index vectors."""
        _abstract(self, "scatter_nd_sub")

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Assigns slices at index vectors."""
        _abstract(self, "scatter_nd_update")
