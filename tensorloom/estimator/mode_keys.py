"""`tf.estimator.ModeKeys`: what a model is made for."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.export import export


@export("estimator.ModeKeys")
class ModeKeys:
    """The names of the modes that a `model_fn` is called in."""

    TRAIN: Final = "train"
    EVAL: Final = "eval"
    PREDICT: Final = "infer"
