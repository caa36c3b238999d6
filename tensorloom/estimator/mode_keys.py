"""`tf.estimator.ModeKeys`: what a model is made for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tensorloom.framework.export import export


@export("estimator.ModeKeys")
class ModeKeys:
    """The names of the modes that a `model_fn` is called in."""

    TRAIN: Final = "train"
    EVAL: Final = "eval"
    PREDICT: Final = "infer"


class KerasModeKeys:
    """The names of the same modes in Keras."""

    TRAIN: Final = "train"
    TEST: Final = "test"
    PREDICT: Final = "predict"


# What each mode is called, first as the key under which a map keeps it.
_NAMES: Final = (
    (KerasModeKeys.TRAIN, ModeKeys.TRAIN),
    (KerasModeKeys.TEST, ModeKeys.EVAL),
    (KerasModeKeys.PREDICT, ModeKeys.PREDICT),
)


class ModeKeyMap(Mapping[str, Any]):
    """A map from modes to values, which finds a mode by both of its names.

    Args:
      kwargs: the values by name.

    Raises:
      ValueError: there is no such mode, or it is given twice.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._values: dict[str, Any] = {}
        self._keys = list(kwargs)
        for name, value in kwargs.items():
            mode = self._mode(name)
            if mode in self._values:
                raise ValueError(
                    "Error creating ModeKeyMap. Multiple keys/values found for "
                    f"{mode} mode."
                )
            self._values[mode] = value

    @staticmethod
    def _mode(key: str) -> str:
        for names in _NAMES:
            if key in names:
                return names[0]
        raise ValueError(f"Invalid mode key: {key}.")

    def __getitem__(self, key: str) -> Any:
        return self._values[self._mode(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
