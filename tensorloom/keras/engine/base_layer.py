"""The base of layers: variables made when first called, checked inputs, losses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tensorloom.client.variables.module import Module
from tensorloom.framework.export import export
from tensorloom.framework.functions.python_conversion import tf_convert
from tensorloom.framework.graph.graph import Graph, Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras.engine.call_context import LayerCall, current_call
from tensorloom.keras.engine.connections import Connections
from tensorloom.keras.engine.inner_layers import InnerLayers
from tensorloom.keras.engine.input_spec import InputSpec, check_inputs
from tensorloom.keras.engine.layer_names import snake_case, unique_layer_name
from tensorloom.keras.engine.layer_weights import LayerWeights
from tensorloom.keras.engine.losses_and_updates import LossesAndUpdates
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.math import math_ops

_OPTIONS = frozenset(
    [
        "activity_regularizer",
        "autocast",
        "batch_input_shape",
        "batch_size",
        "input_shape",
        "weights",
    ]
)


class _CallArguments(NamedTuple):
    """What a layer's `call` takes."""

    names: tuple[str, ...]  # of the positional arguments, without `self`
    training: bool
    mask: bool
    scope: bool


@functools.lru_cache(maxsize=1024)
def call_arguments(function: Callable[..., Any]) -> _CallArguments:
    """The arguments of a `call` function, looked at once."""
    try:
        found = inspect.getfullargspec(function)
    except TypeError:
        return _CallArguments(("inputs",), False, False, False)
    names = tuple(found.args)
    if names and names[0] == "self":
        names = names[1:]
    takes_all = found.varkw is not None
    known = {*names, *found.kwonlyargs}
    return _CallArguments(
        names,
        "training" in known or takes_all,
        "mask" in known or takes_all,
        "scope" in names,
    )


@export("keras.layers.Layer")
class Layer(InnerLayers, Connections, LossesAndUpdates, LayerWeights, Module):
    """Base of layers. Subclasses make variables in `build` and compute in `call`.

    Args:
      trainable: whether its variables are.
      name: of its name scope; made of the class name when None.
      dtype: of its variables; that of its first input when None.
      dynamic: whether it can only run eagerly.
      input_shape, batch_input_shape, batch_size: of the inputs, for models.
      weights: initial values of the variables.
      activity_regularizer: tensor -> loss of the outputs.
      autocast: whether inputs of other floating dtypes are cast to the layer's.

    Raises:
      TypeError: an unknown option.
    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        ["_tracked", "_awaited", "_losses", "_callable_losses", "_updates", "_metrics"]
    )
    supports_masking: bool
    stateful: bool
    _activity_regularizer: Any
    _autocast: bool
    _batch_input_shape: Any
    _dtype: str | None
    _dynamic: bool
    _initial_weights: Any
    _input_spec: Any
    _trainable: bool

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if kwargs and not kwargs.keys() <= _OPTIONS:
            unknown = next(key for key in kwargs if key not in _OPTIONS)
            raise TypeError("Keyword argument not understood:", unknown)
        state = self.__dict__  # past `__setattr__`, which tracks what it is given
        state.setdefault("_trainable_weights", [])
        state.setdefault("_non_trainable_weights", [])
        state.setdefault("_layers", [])
        state.update(
            _trainable=trainable,
            stateful=False,
            built=False,
            _input_spec=None,
            supports_masking=False,
            _activity_regularizer=kwargs.get("activity_regularizer"),
            _updates=[],
            _callable_losses=[],
            _losses=[],
            _metrics=[],
            _dtype=None if dtype is None else dtypes.as_dtype(dtype).name,
            _autocast=kwargs.get("autocast", False),
            _dynamic=dynamic,
            _initial_weights=kwargs.get("weights"),
        )
        self._init_set_name(name)
        shape = _batch_input_shape(kwargs)
        if shape is not None:
            state["_batch_input_shape"] = shape

    def _init_set_name(self, name: Any) -> None:
        base = snake_case(type(self).__name__)
        self._name = name if name else unique_layer_name(base, zero_based=True)

    # --- what it is -----------------------------------------------------------------

    @property
    def name(self) -> str:  # type: ignore[override]
        """The layer's name, unique in its graph unless it was given."""
        return self._name

    @property
    def dtype(self) -> str | None:  # type: ignore[override]
        """Name of the dtype of its variables, None as long as it is open."""
        return self._dtype

    @property
    def dynamic(self) -> bool:
        """Whether it can only run eagerly."""
        return self._dynamic

    @property
    def name_scope(self) -> Any:
        """A context manager for the name scope of its operations."""
        return name_scope(self._name_scope())

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._nested_layers():
            layer.trainable = value

    def _nested_layers(self) -> list[Any]:
        from tensorloom.keras.engine.inner_layers import flat_layers

        return list(flat_layers(self.__dict__.get("_layers") or ()))

    @property
    def activity_regularizer(self) -> Any:
        """tensor -> loss of the outputs, or None."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, value: Any) -> None:
        self._activity_regularizer = value

    @property
    def input_spec(self) -> Any:
        """What the inputs must be: an InputSpec, a list of them, or None."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        if value is not None and not isinstance(value, InputSpec):
            for spec in nest.flatten(value):
                if spec is not None and not isinstance(spec, InputSpec):
                    raise TypeError(
                        "Layer input_spec must be an instance of InputSpec. Got: "
                        f"{spec}"
                    )
        self.__dict__["_input_spec"] = value

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer.

        Raises:
          NotImplementedError: the constructor has more arguments, and `get_config`
            was not overridden.
        """
        config = self._base_config()
        arguments = inspect.getfullargspec(type(self).__init__).args
        extra = [a for a in arguments if a not in config and a != "dynamic"]
        if len(extra) > 1 and type(self).get_config is Layer.get_config:
            raise NotImplementedError(
                f"Layers with arguments in `__init__` must override `get_config`; "
                f"{type(self).__name__} has {', '.join(extra[1:])}."
            )
        return config

    def _base_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self.dynamic:
            config["dynamic"] = True
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer that `get_config` described."""
        return cls(**config)

    def _name_scope(self) -> str:
        return self.name

    # --- calling --------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables. Called once, before the first `call`."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        return inputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self.__call__(inputs, *args, **kwargs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: that of the inputs.

        Raises:
          TypeError: there is a mask, and the layer knows none.
        """
        if self.supports_masking:
            return mask
        if any(part is not None for part in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an "
                f"input_mask: {mask}"
            )
        return None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Static shape of the outputs for shapes of the inputs; builds the layer."""
        shapes = _shapes(input_shape)
        dtype = self.dtype or dtypes.float32
        with Graph().as_default():
            inputs = nest.map_structure(lambda shape: placeholder(dtype, shape), shapes)
            outputs = self(inputs)
        return nest.map_structure(lambda tensor: tensor.shape, outputs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if need be and computes its outputs.

        Args:
          inputs: tensors, or a structure of them; numbers and arrays are converted.
          args, kwargs: go to `call`.

        Raises:
          ValueError: the inputs do not fit, or `call` returns None.
        """
        if not isinstance(inputs, Tensor):
            inputs = nest.map_structure(_as_tensor, inputs)
        accepted = call_arguments(getattr(self.call, "__func__", self.call))
        training = None
        if accepted.training or "training" in kwargs:
            training = _passed("training", accepted, args, kwargs)
            if training is None:
                outer = current_call()
                training = None if outer is None else outer.training
                if training is not None and accepted.training:
                    kwargs["training"] = _as_bool(training)
            elif not accepted.training:
                kwargs.pop("training")
        masks = self._masks_of(inputs, accepted, args, kwargs)
        with LayerCall(self, inputs, training), name_scope(self._name_scope()):
            check_inputs(self._input_spec, inputs, self._name)
            if not self.built:
                self._maybe_build(inputs)
            cast = self._cast_inputs(inputs) if self._autocast else inputs
            # Layers of the program may have `if` and loops over tensors.
            is_ours = type(self).__module__.startswith("tensorloom.")
            call = self.call if is_ours else tf_convert(self.call)
            outputs = call(cast, *args, **kwargs)
            if outputs is None:
                raise ValueError(
                    "A layer's `call` method should return a Tensor or a list of "
                    f"Tensors, not None (layer: {self.name})."
                )
            if self._activity_regularizer is not None:
                self._regularize_activity(inputs, outputs)
            self._set_masks(inputs, outputs, masks)
        return outputs

    def _maybe_build(self, inputs: Any) -> None:
        leaves = [inputs] if isinstance(inputs, Tensor) else nest.flatten(inputs)
        if self._dtype is None and leaves:
            kind = getattr(leaves[0], "dtype", None)
            if kind is not None:
                self.__dict__["_dtype"] = dtypes.as_dtype(kind).base_dtype.name
        shapes = None
        if all(hasattr(leaf, "shape") for leaf in leaves):
            shapes = nest.map_structure(lambda leaf: leaf.shape, inputs)
        self.build(shapes)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self.__dict__["_initial_weights"] = None

    def _cast_inputs(self, inputs: Any) -> Any:
        if self._dtype is None or not dtypes.as_dtype(self._dtype).is_floating:
            return inputs

        def cast(value: Any) -> Any:
            kind = getattr(value, "dtype", None)
            if kind is None or not dtypes.as_dtype(kind).is_floating:
                return value
            if dtypes.as_dtype(kind).base_dtype.name == self._dtype:
                return value
            return math_ops.cast(value, self._dtype)

        return nest.map_structure(cast, inputs)

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                batch = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    # --- masks ----------------------------------------------------------------------

    def _masks_of(
        self,
        inputs: Any,
        accepted: _CallArguments,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """The masks of the inputs; `call` gets them if it takes some."""
        if accepted.mask:
            given = _passed("mask", accepted, args, kwargs)
            if given is not None or "mask" in kwargs:
                return given
        masks = nest.map_structure(lambda t: getattr(t, "_keras_mask", None), inputs)
        if all(mask is None for mask in nest.flatten(masks)):
            return None
        if accepted.mask:
            kwargs["mask"] = masks
        return masks

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        """Puts the masks on the outputs; a layer that knows no masks has none."""
        own = type(self).compute_mask is not Layer.compute_mask
        if not (own or (self.supports_masking and masks is not None)):
            return
        leaves = nest.flatten(outputs)
        if getattr(self, "_compute_output_and_mask_jointly", False):
            return
        computed = self.compute_mask(inputs, masks)
        if computed is None:
            return
        for output, mask in zip(leaves, nest.flatten(computed), strict=False):
            output._keras_mask = mask


def _batch_input_shape(options: dict[str, Any]) -> tuple[Any, ...] | None:
    if "batch_input_shape" in options:
        return tuple(options["batch_input_shape"])
    if "input_shape" in options:
        return (options.get("batch_size"), *options["input_shape"])
    return None


def _shapes(given: Any) -> Any:
    """A structure of TensorShapes; lists and tuples of sizes are shapes."""
    if isinstance(given, dict):
        return {key: _shapes(value) for key, value in given.items()}
    if isinstance(given, (list, tuple)) and any(
        isinstance(part, (list, tuple, dict)) or hasattr(part, "as_list")
        for part in given
    ):
        return [_shapes(part) for part in given]
    return as_shape(given)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (np.ndarray, float, int)):
        return convert_to_tensor(value)
    return value


def _as_bool(training: Any) -> Any:
    if isinstance(training, Tensor):
        return math_ops.cast(training, dtypes.bool)
    return bool(training)


def _passed(
    name: str,
    accepted: _CallArguments,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The value that the caller gave to an argument of `call`; None if none."""
    if name in kwargs:
        return kwargs[name]
    if args and name in accepted.names:
        position = accepted.names.index(name) - 1
        if position < len(args):
            return args[position]
    return None
