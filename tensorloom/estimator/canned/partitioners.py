"""How variables of ready-made models are cut among parameter servers."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)

# Large tables of features, in bytes a part.
_INPUT_SLICE: Final = 64 << 20


def layer_partitioner(config: Any) -> Any:
    """Of weights of layers: parts of 256 kB at least."""
    return min_max_variable_partitioner(max_partitions=_servers(config))


def input_partitioner(config: Any) -> Any:
    """Of tables of features: parts of 64 MB at least."""
    return min_max_variable_partitioner(
        max_partitions=_servers(config), min_slice_size=_INPUT_SLICE
    )


def _servers(config: Any) -> int:
    return config.num_ps_replicas if config else 0


def check_features(features: Any) -> None:
    """Raises ValueError unless features are a dict."""
    if not isinstance(features, dict):
        raise ValueError(
            "features should be a dictionary of `Tensor`s. Given type: "
            f"{type(features)}"
        )
