"""Datasets as graphs and back, and statistics under the names of their nodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.data.distribute import remote_dataset


def _graph(dataset: Any, op: str = "DatasetToGraph", **attrs: Any) -> Any:
    graph = getattr(tf.raw_ops, op)(input_dataset=dataset._variant_tensor, **attrs)
    with tf.Session() as session:
        return tf.GraphDef.FromString(session.run(graph))


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_nodes_are_named_and_numbered_as_in_tensorflow() -> None:
    y = tf.constant(3, tf.int64)
    dataset = tf.data.Dataset.range(10).map(lambda x: x + y).batch(2)
    found = _graph(dataset)
    assert [(node.name, list(node.input)) for node in found.node] == [
        ("Const/_0", []),
        ("Const/_1", []),
        ("Const/_2", []),
        ("RangeDataset/_3", ["Const/_0", "Const/_1", "Const/_2"]),
        ("Const/_4", []),
        ("MapDataset/_5", ["RangeDataset/_3", "Const/_4"]),
        ("Const/_6", []),
        ("Const/_7", []),
        ("BatchDatasetV2/_8", ["MapDataset/_5", "Const/_6", "Const/_7"]),
        ("dataset", ["BatchDatasetV2/_8"]),
    ]
    (function,) = found.library.function
    assert found.node[5].attr["f"].func.name == function.signature.name


def _pipelines() -> dict[str, Callable[[], Any]]:
    make = tf.data.Dataset
    return {
        "map": lambda: make.range(5).map(lambda x: x * 2).batch(2),
        "tensors": lambda: make.from_tensors(([1, 2], "a")).repeat(2).prefetch(1),
        "nested": lambda: make.range(3).interleave(lambda x: make.range(x), 2),
        "zip": lambda: make.zip((make.range(3), make.range(4))),
        "fed": lambda: make.from_tensor_slices(
            tf.placeholder_with_default([1, 2], [2])
        ),
    }


@pytest.mark.parametrize("name", _pipelines())
def test_a_graph_gives_the_dataset_again(name: str) -> None:
    dataset = _pipelines()[name]()
    serialized = tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor)
    again = remote_dataset(serialized, "/cpu:0", dataset.element_spec)
    seen = []
    for source in (dataset, again):
        iterator = tf.data.make_initializable_iterator(source)
        element = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            seen.append(_drain(session, element))
    assert seen[0] == seen[1]
    assert seen[0]


def test_functions_with_state_are_refused() -> None:
    drawn = tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([]))
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="RandomUniform is stat"
    ):
        _graph(drawn)
    assert _graph(drawn, stateful_whitelist=["RandomUniform"]).node
    assert _graph(drawn, "DatasetToGraphV2").node
    with pytest.raises(tf.errors.FailedPreconditionError):
        _graph(drawn, "DatasetToGraphV2", external_state_policy=2)
    iterator = tf.data.make_initializable_iterator(drawn)
    saved = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
            session.run(saved)


def test_what_is_no_graph_of_a_dataset_is_refused() -> None:
    dataset = tf.data.make_initializable_iterator(
        remote_dataset(tf.GraphDef().SerializeToString(), "/cpu:0", tf.TensorSpec([]))
    )
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="one _Retval"),
    ):
        session.run(dataset.initializer)


def _drain(session: Any, element: Any) -> list[str]:
    """All elements until the end."""
    found = []
    while True:
        try:
            found.append(str(session.run(element)))
        except tf.errors.OutOfRangeError:
            return found


def _tags(dataset: Any, **stats: Any) -> list[str]:
    """The tags that a pipeline counts under, with numbers as N."""
    aggregator = tf.data.experimental.StatsAggregator()
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    for name, value in stats.items():
        setattr(options.experimental_stats, name, value)
    iterator = tf.data.make_initializable_iterator(dataset.with_options(options))
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        _drain(session, element)
        found = tf.Summary.FromString(session.run(summary))
    return sorted(re.sub(r"_\d+", "_N", value.tag) for value in found.value)


def test_statistics_are_tagged_with_the_names_of_nodes() -> None:
    numbers = tf.data.Dataset.range(10)
    assert _tags(numbers.filter(lambda x: x > 3)) == [
        "FilterDataset/_N::dropped_elements",
        "FilterDataset/_N::filtered_elements",
    ]
    assert _tags(numbers.map(lambda x: x + 1, num_parallel_calls=2)) == [
        "ParallelMap::__inference_Dataset_map_<lambda>_N::execution_time",
        "ParallelMapDataset/_N::thread_utilization",
    ]
    assert _tags(numbers.prefetch(2), prefix="mine", latency_all_edges=True) == [
        "mine::PrefetchDataset/_N::buffer_capacity",
        "mine::PrefetchDataset/_N::buffer_size",
        "mine::PrefetchDataset/_N::buffer_utilization",
        "mine::record_latency::PrefetchDataset/_N",
        "mine::record_latency::RangeDataset/_N",
    ]
    drawn = numbers.map(lambda x: tf.random_uniform([])).prefetch(2)
    # It cannot be in a graph.
    assert re.fullmatch(r"PrefetchDataset(_N)?::buffer_capacity", _tags(drawn)[0])
