"""Layers without variables: dropout, activations, new shapes, masks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras import activations, regularizers
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.window_sizes import normalize_data_format
from tensorloom.keras.learning_phase import learning_phase
from tensorloom.keras.smart_cond import smart_cond
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.dropout import dropout

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class SameShape(Layer):
    """A layer whose outputs have the shape of its inputs."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return input_shape


@export("keras.layers.Masking")
class Masking(SameShape):
    """Masks steps of [batch, steps, ...] where all values are `mask_value`."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor:
        """Which steps are kept, bool [batch, steps]."""
        kept = math_ops.not_equal(inputs, self.mask_value)
        return math_ops.reduce_any(kept, axis=-1)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The inputs, zero in the masked steps."""
        kept = math_ops.not_equal(inputs, self.mask_value)
        mask = math_ops.reduce_any(kept, axis=-1, keepdims=True)
        outputs: Tensor = inputs * math_ops.cast(mask, inputs.dtype)
        outputs._keras_mask = array_ops.squeeze(mask, axis=-1)  # type: ignore[attr-defined]
        return outputs

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "mask_value": self.mask_value}


@export("keras.layers.Dropout")
class Dropout(SameShape):
    """Sets inputs to zero at random, in training alone.

    Args:
      rate: probability of a zero.
      noise_shape: broadcasts against the inputs (None in it: their size); elements
        that share noise fall together.
      seed: of the noise.
    """

    def __init__(
        self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        shape = array_ops.shape(inputs)
        sizes = [
            shape[i] if size is None else size
            for i, size in enumerate(self.noise_shape)
        ]
        return convert_to_tensor(sizes)

    def call(self, inputs: Any, training: Any = None) -> Tensor:  # type: ignore[override]
        """The inputs, dropped where `training` (a bool or a bool tensor) is true."""
        if training is None:
            training = learning_phase()

        def dropped() -> Tensor:
            return dropout(
                inputs,
                noise_shape=self._get_noise_shape(inputs),
                seed=self.seed,
                rate=self.rate,
            )

        return smart_cond(  # type: ignore[no-any-return]
            training, dropped, lambda: array_ops.identity(inputs)
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }


@export("keras.layers.SpatialDropout1D")
class SpatialDropout1D(Dropout):
    """Drops whole channels of [batch, steps, channels]."""

    def __init__(self, rate: Any, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Any) -> Any:
        shape = array_ops.shape(inputs)
        return (shape[0], 1, shape[2])


class _SpatialDropout(Dropout):
    """Drops whole channels of inputs with several spatial dimensions."""

    _spatial = 0

    def __init__(
        self, rate: Any, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(rate, **kwargs)
        data_format = data_format or "channels_last"
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                'data_format must be in {"channels_last", "channels_first"}, not '
                f"{data_format!r}"
            )
        self.data_format = data_format
        self.input_spec = InputSpec(ndim=self._spatial + 2)

    def _get_noise_shape(self, inputs: Any) -> Any:
        shape = array_ops.shape(inputs)
        ones = (1,) * self._spatial
        if self.data_format == "channels_first":
            return (shape[0], shape[1], *ones)
        return (shape[0], *ones, shape[self._spatial + 1])


@export("keras.layers.SpatialDropout2D")
class SpatialDropout2D(_SpatialDropout):
    """Drops whole channels of images."""

    _spatial = 2


@export("keras.layers.SpatialDropout3D")
class SpatialDropout3D(_SpatialDropout):
    """Drops whole channels of volumes."""

    _spatial = 3


@export("keras.layers.Activation")
class Activation(SameShape):
    """A function of the inputs, or its name."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The function of the inputs."""
        return self.activation(inputs)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        activation = activations.serialize(self.activation)
        return {**super().get_config(), "activation": activation}


@export("keras.layers.Reshape")
class Reshape(Layer):
    """[batch, ...] -> [batch, *target_shape]; one size of the target may be -1."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, *target_shape].

        Raises:
          ValueError: the sizes do not fit.
        """
        sizes = as_shape(input_shape).as_list()
        if None in sizes[1:]:
            target = [None if size == -1 else size for size in self.target_shape]
            return as_shape([sizes[0], *target])
        return as_shape([sizes[0], *self._completed(sizes[1:])])

    def _completed(self, sizes: list[Any]) -> list[int]:
        target = list(self.target_shape)
        total = math.prod(sizes)
        known = math.prod(size for size in target if size >= 0)
        open_sizes = [i for i, size in enumerate(target) if size < 0]
        if len(open_sizes) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        fits = total == known if not open_sizes else known and total % known == 0
        if not fits:
            raise ValueError(
                f"total size of new array must be unchanged: {sizes} cannot become "
                f"{target}"
            )
        for i in open_sizes:
            target[i] = total // known
        return target

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The inputs in their new shape."""
        shape = (array_ops.shape(inputs)[0], *self.target_shape)
        return array_ops.reshape(inputs, shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "target_shape": self.target_shape}


@export("keras.layers.Permute")
class Permute(Layer):
    """Axes in another order; `dims` counts from 1, the batch stays first.

    Raises:
      ValueError: `dims` is no permutation.
    """

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of "
                "indices in `dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes in the other order."""
        sizes = as_shape(input_shape).as_list()
        return as_shape([sizes[0], *(sizes[dim] for dim in self.dims)])

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The inputs with their axes in the other order."""
        return array_ops.transpose(inputs, perm=(0, *self.dims))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "dims": self.dims}


@export("keras.layers.Flatten")
class Flatten(Layer):
    """[batch, ...] -> [batch, product of the others].

    Args:
      data_format: "channels_last", or "channels_first" to put channels last first.
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """Each element of the batch as one vector."""
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            order = [0, *range(2, rank), 1]
            inputs = array_ops.transpose(inputs, perm=order)
        sizes = inputs.shape.as_list()
        batch = sizes[0] or array_ops.shape(inputs)[0]
        outputs = array_ops.reshape(inputs, (batch, -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, product of the others]."""
        sizes = as_shape(input_shape).as_list()
        rest = math.prod(sizes[1:]) if all(sizes[1:]) else None  # type: ignore[arg-type]
        return as_shape([sizes[0], rest])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "data_format": self.data_format}


@export("keras.layers.RepeatVector")
class RepeatVector(Layer):
    """[batch, depth] -> [batch, n, depth]."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, n, depth]."""
        batch, depth = as_shape(input_shape).as_list()
        return as_shape([batch, self.n, depth])

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """Each vector n times."""
        columns = array_ops.expand_dims(inputs, 1)
        return array_ops.tile(columns, array_ops.stack([1, self.n, 1]))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "n": self.n}


@export("keras.layers.ActivityRegularization")
class ActivityRegularization(SameShape):
    """The inputs, whose absolute values and squares become a loss."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}
