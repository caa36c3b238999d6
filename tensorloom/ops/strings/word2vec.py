"""Word pairs of a text and training with them: the word2vec ops of old graphs."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, unknown_shapes

_MOVED = (19, "word2vec moved into tensorflow_models/tutorials")

register_op(
    "Skipgram",
    outputs=[
        "vocab_word: string",
        "vocab_freq: int32",
        "words_per_epoch: int64",
        "current_epoch: int32",
        "total_words_processed: int64",
        "examples: int32",
        "labels: int32",
    ],
    attrs=[
        "filename: string",
        "batch_size: int",
        "window_size: int = 5",
        "min_count: int = 5",
        "subsample: float = 0.001",
    ],
    shape_fn=unknown_shapes,
    stateful=True,
    deprecated=_MOVED,
    doc="Pairs of words that stand near each other in a text file.",
)

register_op(
    "NegTrain",
    inputs=[
        "w_in: Ref(float)",
        "w_out: Ref(float)",
        "examples: int32",
        "labels: int32",
        "lr: float",
    ],
    attrs=["vocab_count: list(int)", "num_negative_samples: int"],
    shape_fn=no_outputs,
    stateful=True,
    deprecated=_MOVED,
    doc="Trains vectors of words with pairs of words and negative samples.",
)
