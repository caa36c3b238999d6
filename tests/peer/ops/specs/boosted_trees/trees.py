"""Boosted trees and coordinate ascent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_SUMS = Tolerance(1e-4, 1e-5, reason="sums in another order")


_F = np.float32


def _alone(op: str, make: Any, **options: Any) -> None:
    spec(op, make, **({"types": (), "gradient": False, "mutate": ()} | options))


def _floats(d: Draw, *shape: int) -> Any:
    return d.rng.standard_normal(shape).astype(_F)


def _numbers(d: Draw, limit: int, *shape: int) -> Any:
    return d.rng.integers(0, limit, shape).astype(np.int32)


def _bytes(value: bytes) -> Any:
    return np.array(value, object)


# --- sums and splits ---------------------------------------------------------


def _stats(d: Draw) -> Any:
    n = d.integer(1, 9)
    features = [_numbers(d, 4, n) for _ in range(d.integer(1, 3))]
    return call(
        _numbers(d, 3, n),
        _floats(d, n, 1),
        abs(_floats(d, n, 1)),
        features,
        max_splits=3,
        num_buckets=4,
    )


_alone("BoostedTreesMakeStatsSummary", _stats, tolerance=_SUMS)


def _aggregate(d: Draw) -> Any:
    n, logits = d.integer(1, 9), d.integer(1, 2)
    return call(
        _numbers(d, 3, n),
        _floats(d, n, logits),
        abs(_floats(d, n, d.choice([logits, logits * logits]))),
        _numbers(d, 6, n, d.integer(1, 2)) - 1,
        max_splits=3,
        num_buckets=5,
    )


_alone("BoostedTreesAggregateStats", _aggregate, tolerance=_SUMS)


def _sparse_aggregate(d: Draw) -> Any:
    n = d.integer(2, 6)
    places = np.argwhere(d.rng.random((n, 2)) < 0.6).astype(np.int32)
    return call(
        _numbers(d, 3, n),
        _floats(d, n, 1),
        abs(_floats(d, n, 1)),
        places,
        _numbers(d, 4, len(places)),
        np.array([n, 2], np.int32),
        max_splits=3,
        num_buckets=4,
    )


_alone("BoostedTreesSparseAggregateStats", _sparse_aggregate, tolerance=_SUMS)


def _penalties(d: Draw) -> list[Any]:
    numbers = (d.choice([0.0, 0.1]), d.choice([0.0, 0.5]), d.choice([0.0, 0.3]), 0.1)
    return [_F(number) for number in numbers]


def _summary(d: Draw, *shape: int, logits: int = 1) -> Any:
    stats = _floats(d, *shape)
    stats[..., logits:] = abs(stats[..., logits:]) + _F(0.1)
    return stats


def _gains(d: Draw) -> Any:
    summaries = [_summary(d, 3, 5, 2) for _ in range(d.integer(1, 3))]
    span = np.array([0, 3], np.int32)
    return call(span, summaries, *_penalties(d), max_splits=3)


_alone("BoostedTreesCalculateBestGainsPerFeature", _gains, tolerance=_SUMS)


def _split(d: Draw) -> Any:
    logits = d.integer(1, 2)
    stats = _summary(d, 3, 2, 5, 2 * logits, logits=logits)
    penalties = _penalties(d)
    if logits > 1:
        penalties[0] = _F(0)
    kind = d.choice(["inequality", "equality"])
    span = np.array([0, 3], np.int32)
    return call(span, stats, *penalties, logits_dimension=logits, split_type=kind)


_alone("BoostedTreesCalculateBestFeatureSplit", _split, tolerance=_SUMS)


def _sparse_split(d: Draw) -> Any:
    stats = _summary(d, 3, 1, 4, 2)
    places = np.argwhere(np.ones_like(stats)).astype(np.int32)
    shape = np.array(stats.shape, np.int32)
    span = np.array([0, 3], np.int32)
    return call(
        span, places, stats.reshape(-1), shape, *_penalties(d), logits_dimension=1
    )


_alone("BoostedTreesSparseCalculateBestFeatureSplit", _sparse_split, tolerance=_SUMS)


# --- quantiles ---------------------------------------------------------------


def _bucketize(d: Draw) -> Any:
    limits = np.sort(_floats(d, d.integer(1, 5)))
    return call([_floats(d, 6), _floats(d, 6)], [limits, limits])


_alone("BoostedTreesBucketize", _bucketize)


def _summaries(d: Draw) -> Any:
    n = d.integer(1, 40)
    values = [np.round(_floats(d, n), 1) for _ in range(2)]
    return call(values, abs(_floats(d, n)), _F(d.choice([0.1, 0.3])))


_alone("BoostedTreesMakeQuantileSummaries", _summaries)


def _streams(d: Draw) -> Program:
    p = Program(differentiate=False)
    handle = p.op("BoostedTreesQuantileStreamResourceHandleOp", shared_name="")
    p.run(p.op("IsBoostedTreesQuantileStreamResourceInitialized", handle))
    create = "BoostedTreesCreateQuantileStreamResource"
    p.run(p.op(create, handle, _F(0.02), np.int64(2)))
    p.run(p.op("IsBoostedTreesQuantileStreamResourceInitialized", handle))
    for _ in range(3):
        values = [np.round(_floats(d, 30), 1) for _ in range(2)]
        made = p.op(
            "BoostedTreesMakeQuantileSummaries", values, abs(_floats(d, 30)), _F(0.02)
        )
        add = "BoostedTreesQuantileStreamResourceAddSummaries"
        p.run(p.op(add, handle, [made[0], made[1]]))
    if d.op == "BoostedTreesFlushQuantileSummaries":
        p.run(p.op(d.op, handle, num_features=2))
        p.run(p.op("DestroyResourceOp", handle))
        return p
    if d.op.endswith("Deserialize"):
        # Of unknown shape: TensorFlow's shape function takes boundaries for scalars.
        limits = [
            p.op("PlaceholderWithDefault", _floats(d, n), shape=None) for n in (3, 2)
        ]
        p.run(p.op(d.op, handle, limits))
    else:
        flush = "BoostedTreesQuantileStreamResourceFlush"
        count = np.int64(d.integer(2, 8))
        p.run(p.op(flush, handle, count, generate_quantiles=d.maybe()))
    get = "BoostedTreesQuantileStreamResourceGetBucketBoundaries"
    p.run(p.op(get, handle, num_features=2))
    p.run(p.op("DestroyResourceOp", handle))
    return p


_alone(
    "BoostedTreesQuantileStreamResourceHandleOp"
    " IsBoostedTreesQuantileStreamResourceInitialized"
    " BoostedTreesCreateQuantileStreamResource"
    " BoostedTreesQuantileStreamResourceAddSummaries"
    " BoostedTreesQuantileStreamResourceFlush"
    " BoostedTreesQuantileStreamResourceGetBucketBoundaries"
    " BoostedTreesQuantileStreamResourceDeserialize"
    " BoostedTreesFlushQuantileSummaries",
    _streams,
    tolerance=_SUMS,
)


# --- ensembles ---------------------------------------------------------------


def _ensemble(p: Program) -> Node:
    handle = p.op("BoostedTreesEnsembleResourceHandleOp", shared_name="")
    p.run(p.op("IsBoostedTreesEnsembleInitialized", handle))
    create = "BoostedTreesCreateEnsemble"
    p.run(p.op(create, handle, np.int64(0), _bytes(b"")))
    p.run(p.op("IsBoostedTreesEnsembleInitialized", handle))
    return handle


def _layer(d: Draw, p: Program, handle: Node, nodes: list[int], depth: int) -> None:
    count = len(nodes)
    node_ids = [np.array(nodes, np.int32)] * 2
    gains = [_floats(d, count) for _ in range(2)]
    limits = [_numbers(d, 3, count) for _ in range(2)]
    sides = [[_floats(d, count, 1) for _ in range(2)] for _ in range(2)]
    ids = np.array([0, 1], np.int32)
    if d.op.endswith("V2"):
        kinds = [
            np.array(
                [
                    d.choice([b"INEQUALITY_DEFAULT_LEFT", b"EQUALITY_DEFAULT_RIGHT"])
                    for _ in range(count)
                ],
                object,
            )
            for _ in range(2)
        ]
        dimensions = [np.zeros(count, np.int32)] * 2
        made = p.op(
            d.op,
            handle,
            ids,
            dimensions,
            node_ids,
            gains,
            limits,
            *sides,
            kinds,
            np.int32(depth),
            _F(0.5),
            np.int32(d.pruning),
        )
    else:
        made = p.op(
            "BoostedTreesUpdateEnsemble",
            handle,
            ids,
            node_ids,
            gains,
            limits,
            *sides,
            np.int32(depth),
            _F(0.5),
            pruning_mode=d.pruning,
        )
    p.run(made)


def _grown(d: Draw) -> Program:
    p = Program(differentiate=False)
    handle = _ensemble(p)
    d.pruning = d.choice([0, 2])  # type: ignore[attr-defined]
    centered = d.maybe(0.7) or d.op == "BoostedTreesCenterBias"
    if centered:
        for _ in range(2):
            bias = [_floats(d, 1, 1), abs(_floats(d, 1, 1))]
            p.run(p.op("BoostedTreesCenterBias", handle, *bias, _F(0), _F(0.1)))
    features = [_numbers(d, 3, 6), _numbers(d, 3, 6)]
    tree_ids, node_ids = np.zeros(6, np.int32), np.full(6, -1, np.int32)
    attrs = {"logits_dimension": 1}
    first = p.op(
        "BoostedTreesTrainingPredict", handle, tree_ids, node_ids, features, **attrs
    )
    p.run(first)
    for nodes in ([0], [1, 2], [0]):
        _layer(d, p, handle, nodes, 2)
        p.run(p.op("BoostedTreesGetEnsembleStates", handle))
        p.run(
            p.op(
                "BoostedTreesTrainingPredict",
                handle,
                tree_ids,
                np.zeros(6, np.int32),
                features,
                **attrs,
            )
        )
    p.run(p.op("BoostedTreesPredict", handle, features, **attrs))
    if centered:  # TensorFlow reads the logits of a root that never was a leaf
        p.run(p.op("BoostedTreesExampleDebugOutputs", handle, features, **attrs))
    made = p.op("BoostedTreesSerializeEnsemble", handle)
    p.run(made)
    if d.op == "BoostedTreesDeserializeEnsemble":
        p.run(p.op(d.op, handle, np.int64(7), _bytes(b"")))
        p.run(p.op("BoostedTreesGetEnsembleStates", handle))
    p.run(p.op("DestroyResourceOp", handle))
    return p


_alone(
    "BoostedTreesEnsembleResourceHandleOp IsBoostedTreesEnsembleInitialized"
    " BoostedTreesCreateEnsemble BoostedTreesUpdateEnsemble"
    " BoostedTreesUpdateEnsembleV2 BoostedTreesCenterBias"
    " BoostedTreesGetEnsembleStates BoostedTreesTrainingPredict"
    " BoostedTreesPredict BoostedTreesExampleDebugOutputs"
    " BoostedTreesSerializeEnsemble BoostedTreesDeserializeEnsemble",
    _grown,
    tolerance=_SUMS,
)
