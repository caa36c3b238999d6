"""A layer that is a function of the program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.function_code import described_function, function_of


@export("keras.layers.Lambda")
class Lambda(Layer):
    """The layer `function(inputs, **arguments)`.

    A variable that the function makes is a weight of the layer, and the same variable
    in each call.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Args:
        function: of the inputs; it may take `mask` and `training` too.
        output_shape: without the batch, or a function of the shape of the inputs; found
          from the function without it.
        mask: of the outputs, or a function of the inputs and their mask.
        arguments: more arguments of the function.
        """
        super().__init__(**kwargs)
        self.function = function
        self.arguments = dict(arguments or {})
        self.mask = mask
        self.supports_masking = mask is not None
        self._output_shape = output_shape
        self._made: dict[str, Any] = {}
        takes = inspect.getfullargspec(inspect.unwrap(function)).args
        self._takes = [name for name in ("mask", "training") if name in takes]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """What was given, or what the function gives for inputs of that shape."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return as_shape(self._output_shape(input_shape))
        batch = as_shape(input_shape).as_list()[0]
        given = self._output_shape
        sizes = [given] if isinstance(given, int) else list(as_shape(given).as_list())
        return TensorShape([batch, *sizes])

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:  # type: ignore[override]
        """The function of the inputs."""
        known: dict[str, Any] = {"mask": mask, "training": training}
        more = {name: known[name] for name in self._takes}
        with variable_creator_scope(self._make_variable):
            return self.function(inputs, **(self.arguments | more))

    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        name = kwargs["name"]
        if name not in self._made:
            made = self._made[name] = next_creator(**kwargs)
            own = (
                self._trainable_weights
                if made.trainable
                else self._non_trainable_weights
            )
            own.append(made)
        return self._made[name]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs that was given; None without one."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer, functions as their code."""
        config = super().get_config()
        config |= _described("function", "", self.function)
        if callable(self._output_shape):
            config |= _described("output_shape", "output_shape_", self._output_shape)
        else:
            config["output_shape"] = self._output_shape
            config["output_shape_type"] = "raw"
            config["output_shape_module"] = None
        if self.mask is not None:
            config |= _described("mask", "mask_", self.mask)
        return {**config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Lambda:
        """The reverse of `get_config`.

        What is loaded runs: the configuration must be the program's own.
        """
        options = dict(config)
        for key, prefix in (("function", ""), ("output_shape", "output_shape_"),
                            ("mask", "mask_")):  # fmt: skip
            kind = options.pop(f"{key}_type", "raw")
            module = options.pop(f"{prefix}module", None)
            if kind != "raw":
                options[key] = function_of(options[key], kind, module, custom_objects)
        return cls(**options)


def _described(key: str, prefix: str, function: Any) -> dict[str, Any]:
    code, kind, module = described_function(function)
    return {key: code, f"{key}_type": kind, f"{prefix}module": module}
