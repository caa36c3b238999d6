"""Objects that SavedModels keep besides variables: resources such as tables, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime.scopes import device, init_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.trackable import Trackable

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


class CapturableResource(Trackable):
    """A resource that functions capture: its handle, and how it is made and filled."""

    _resource_device = ""
    _resource_handle: Any = None

    @property
    def resource_handle(self) -> Any:
        """The tensor that functions capture; made when it is first asked for."""
        if self._resource_handle is None:
            with init_scope(), device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _create_resource(self) -> Any:
        """Makes the resource in the default graph; gives its handle."""
        raise NotImplementedError(
            f"{type(self).__name__}._create_resource() not implemented."
        )

    def _initialize(self) -> Any:
        """Fills the resource; the operation that does."""
        return None


class TrackableAsset(Trackable):
    """A file that a SavedModel takes along, such as a vocabulary.

    Args:
      path: of the file, a string or a constant tensor.
    """

    def __init__(self, path: Any) -> None:
        with init_scope(), device("CPU"):
            self._path: Tensor = convert_to_tensor(
                path, dtype=dtypes.string, name="asset_path"
            )

    @property
    def asset_path(self) -> Tensor:
        """The path, as a tensor. In a loaded model it is that of the model's copy."""
        return self._path
