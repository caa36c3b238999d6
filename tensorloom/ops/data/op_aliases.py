"""Ops of `tf.data.experimental` under the names that they had until 1.14.

Graphs still have them, and the 1.15 client still writes some.
"""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_earlier_name
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape

_OPS = """
AssertNextDataset AutoShardDataset BytesProducedStatsDataset CSVDataset
ChooseFastestDataset DatasetCardinality DenseToSparseBatchDataset
DirectedInterleaveDataset GroupByReducerDataset GroupByWindowDataset
IgnoreErrorsDataset IteratorGetDevice LMDBDataset LatencyStatsDataset MapDataset
MaxIntraOpParallelismDataset NonSerializableDataset ParallelInterleaveDataset
ParseExampleDataset PrivateThreadPoolDataset RandomDataset RebatchDataset ScanDataset
SetStatsAggregatorDataset SleepDataset SlidingWindowDataset SqlDataset
StatsAggregatorHandle StatsAggregatorSummary TakeWhileDataset ThreadPoolDataset
ThreadPoolHandle UnbatchDataset UniqueDataset
"""
# The shape functions of these did not check their inputs then.
_UNCHECKED = {
    "DatasetToTFRecord": no_outputs,
    "MapAndBatchDataset": scalar_shape,
    "MatchingFilesDataset": scalar_shape,
}

for _op in _OPS.split():
    register_earlier_name(f"Experimental{_op}", _op)
for _op, _shape_fn in _UNCHECKED.items():
    register_earlier_name(f"Experimental{_op}", _op, shape_fn=_shape_fn)
