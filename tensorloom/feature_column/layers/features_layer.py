"""What the layers `DenseFeatures` and `SequenceFeatures` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_scope import PureVariableScope
from tensorloom.feature_column import checks, serialization
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.feature_column.layers.state_manager import _StateManagerImpl
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class FeaturesLayer(Layer):
    """A layer from a dict of features to the tensors of columns, side by side.

    Args:
      feature_columns: one column or several.
      expected_column_type: the class that they must be of.
      trainable, name, kwargs: see `tf.keras.layers.Layer`.

    Raises:
      ValueError: a column of another class, or columns of one name.
    """

    _feature_columns: list[Any]

    def __init__(
        self,
        feature_columns: Any,
        expected_column_type: type,
        trainable: bool,
        name: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        columns = checks.normalize_feature_columns(feature_columns, FeatureColumn)
        # Past `__setattr__`, which would wrap the list.
        self.__dict__["_feature_columns"] = columns
        self._state_manager = _StateManagerImpl(self, self.trainable)
        for column in columns:
            if not isinstance(column, expected_column_type):
                raise ValueError(
                    f"Items of feature_columns must be a {expected_column_type}. You "
                    "can wrap a categorical column with an embedding_column or "
                    f"indicator_column. Given: {column}"
                )

    @property
    def _is_feature_layer(self) -> bool:
        return True

    def build(self, input_shape: Any) -> None:
        """Makes the variables of the columns, under their names."""
        for column in self._feature_columns:
            with named_scope(self.name), named_scope(column.name):
                column.create_state(self._state_manager)
        super().build(None)

    def _target_shape(self, input_shape: Any, total_elements: int) -> Any:
        """The shape of the outputs, of `total_elements` for each example or step."""
        raise NotImplementedError(type(self).__name__)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for a shape of a feature."""
        sizes = [c.variable_shape.num_elements() for c in self._feature_columns]
        return self._target_shape(input_shape, sum(sizes))

    def _process_dense_tensor(self, column: Any, tensor: Tensor) -> Tensor:
        size = column.variable_shape.num_elements()
        shape = self._target_shape(array_ops.shape(tensor), size)
        return array_ops.reshape(tensor, shape=shape)

    def _verify_and_concat_tensors(self, tensors: list[Tensor]) -> Tensor:
        checks.check_batch_sizes(tensors, self._feature_columns)
        return array_ops.concat(tensors, -1)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        columns = serialization.serialize_feature_columns(self._feature_columns)
        return {**super().get_config(), "feature_columns": columns}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer that `get_config` described."""
        columns = serialization.deserialize_feature_columns(
            config["feature_columns"], custom_objects=custom_objects
        )
        return cls(**{**config, "feature_columns": columns})


def named_scope(name: str) -> PureVariableScope:
    """A variable scope without a name scope: layers have opened theirs."""
    return PureVariableScope(name, None, None, None, None, {})


def check_is_dict(features: Any) -> None:
    """Raises ValueError: the features are not in a dict."""
    if not isinstance(features, dict):
        raise ValueError(
            "We expected a dictionary here. Instead we got: "
            f"{type(features).__name__} {features}"
        )
