"""Samples of classes for losses over large vocabularies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_OUTPUTS: Final = (
    "sampled_candidates: int64",
    "true_expected_count: float",
    "sampled_expected_count: float",
)
_COUNTS: Final = ("num_true: int >= 1", "num_sampled: int >= 1", "unique: bool")
_SEEDS: Final = ("seed: int = 0", "seed2: int = 0")


def _sampler_shape(c: InferenceContext) -> list[TensorShape]:
    batch = c.with_rank(0, 2).dims_tuple
    assert batch is not None
    sampled = TensorShape.of((c.attrs["num_sampled"],))
    return [sampled, TensorShape.of((batch[0], c.attrs["num_true"])), sampled]


def _hits_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 2).dims_tuple
    assert dims is not None
    c.with_value(dims[1], c.attrs["num_true"])
    c.with_rank(1, 1)
    return [TensorShape.of((None,))] * 3


def _register(op: str, attrs: tuple[str, ...], doc: str) -> None:
    register_op(
        op,
        inputs=["true_classes: int64"],
        outputs=_OUTPUTS,
        attrs=[*_COUNTS, *attrs, *_SEEDS],
        shape_fn=_sampler_shape,
        stateful=True,
        doc=doc,
    )


_register(
    "UniformCandidateSampler", ("range_max: int >= 1",), "Equally likely classes."
)
_register(
    "LogUniformCandidateSampler",
    ("range_max: int >= 1",),
    "Classes by Zipf's law: the logarithm of class + 1 is uniform.",
)
for _op in ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
    _register(
        _op,
        ("range_max: int >= 1",),
        "Classes by how often they have been true ones so far.",
    )
_register("AllCandidateSampler", (), "The classes 0 ... num_sampled - 1.")
_register(
    "FixedUnigramCandidateSampler",
    (
        "range_max: int >= 1",
        "vocab_file: string = ''",
        "distortion: float = 1.0",
        "num_reserved_ids: int = 0",
        "num_shards: int >= 1 = 1",
        "shard: int >= 0 = 0",
        "unigrams: list(float) = []",
    ),
    "Classes by given frequencies, each raised to the power `distortion`.",
)

register_op(
    "ComputeAccidentalHits",
    inputs=["true_classes: int64", "sampled_candidates: int64"],
    outputs=["indices: int32", "ids: int64", "weights: float"],
    attrs=["num_true: int", *_SEEDS],
    shape_fn=_hits_shape,
    doc="Where a sampled class is a true one: row, place in the sample, -FLT_MAX.",
)


def _sample(
    op: str,
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None,
    name: str | None,
    **attrs: Any,
) -> Any:
    seed1, seed2 = get_seed(seed)
    return apply_op(
        op,
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        seed=seed1 or 0,
        seed2=seed2 or 0,
        name=name,
        **attrs,
    )


@export("random.uniform_candidate_sampler", "nn.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(classes [num_sampled], expected counts of the true ones, and of the sampled).

    Args:
      true_classes: int64 [batch, num_true].
      unique: draw again what has been drawn.
      range_max: classes are below it.
    """
    op = "UniformCandidateSampler"
    args = (true_classes, num_true, num_sampled, unique, seed, name)
    return _sample(op, *args, range_max=range_max)


@export("random.log_uniform_candidate_sampler", "nn.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, for classes in the order of their frequency."""
    op = "LogUniformCandidateSampler"
    args = (true_classes, num_true, num_sampled, unique, seed, name)
    return _sample(op, *args, range_max=range_max)


@export(
    "random.learned_unigram_candidate_sampler", "nn.learned_unigram_candidate_sampler"
)
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, by frequencies learned from the true classes."""
    op = "LearnedUnigramCandidateSampler"
    args = (true_classes, num_true, num_sampled, unique, seed, name)
    return _sample(op, *args, range_max=range_max)


@export("random.fixed_unigram_candidate_sampler", "nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, by frequencies from a list or a CSV file."""
    op = "FixedUnigramCandidateSampler"
    args = (true_classes, num_true, num_sampled, unique, seed, name)
    return _sample(
        op,
        *args,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
    )


@export("random.all_candidate_sampler", "nn.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Every class once, with expected counts of 1."""
    op = "AllCandidateSampler"
    return _sample(op, true_classes, num_true, num_sampled, unique, seed, name)


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(rows, places in the sample, weights -FLT_MAX) where a sampled class is true."""
    seed1, seed2 = get_seed(seed)
    return apply_op(
        "ComputeAccidentalHits",
        true_classes=true_classes,
        sampled_candidates=sampled_candidates,
        num_true=num_true,
        seed=seed1 or 0,
        seed2=seed2 or 0,
        name=name,
    )
