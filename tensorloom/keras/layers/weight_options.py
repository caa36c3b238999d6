"""Initializer, regularizer and constraint of each weight of a layer."""

from __future__ import annotations

from typing import Any

from tensorloom.keras import constraints, initializers, regularizers


def take_weight_options(
    layer: Any,
    weight: str,
    initializer: Any,
    regularizer: Any = None,
    constraint: Any = None,
) -> None:
    """Sets `kernel_initializer`, ... of a layer, from objects or their names."""
    setattr(layer, f"{weight}_initializer", initializers.get(initializer))
    setattr(layer, f"{weight}_regularizer", regularizers.get(regularizer))
    setattr(layer, f"{weight}_constraint", constraints.get(constraint))


def weight_options(layer: Any, *weights: str) -> dict[str, Any]:
    """The same for `get_config`."""
    config: dict[str, Any] = {}
    for weight in weights:
        initializer = getattr(layer, f"{weight}_initializer")
        regularizer = getattr(layer, f"{weight}_regularizer")
        constraint = getattr(layer, f"{weight}_constraint")
        config[f"{weight}_initializer"] = initializers.serialize(initializer)
        config[f"{weight}_regularizer"] = regularizers.serialize(regularizer)
        config[f"{weight}_constraint"] = constraints.serialize(constraint)
    return config


def add_weight(layer: Any, weight: str, shape: Any, **options: Any) -> Any:
    """Makes the weight of that name, with the options of the same name."""
    return layer.add_weight(
        weight,
        shape=shape,
        initializer=getattr(layer, f"{weight}_initializer"),
        regularizer=getattr(layer, f"{weight}_regularizer"),
        constraint=getattr(layer, f"{weight}_constraint"),
        trainable=True,
        dtype=options.pop("dtype", layer.dtype),
        **options,
    )
