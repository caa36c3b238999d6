"""The first feature columns of `tf.contrib.layers`: layers, sums, parsing, refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import layers, slim
from tensorloom.contrib.layers.columns.real_valued import real_valued_var_len_column

WORDS = layers.sparse_column_with_keys("word", ["a", "b", "c"])
IDS = layers.sparse_column_with_integerized_feature("id", 4)
AGE = layers.real_valued_column("age", normalizer=lambda x: x / 10.0)
PAIR = layers.real_valued_column("pair", dimension=2, dtype=tf.int64)
AGES = layers.bucketized_column(layers.real_valued_column("age"), [10.0, 20.0, 20.0])


def _features() -> dict[Any, Any]:
    return {
        "word": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "c", "b"], [3, 2]),
        "id": tf.SparseTensor(
            [[0, 0], [1, 0], [2, 0]], tf.constant([5, 1, 2], tf.int64), [3, 1]
        ),
        "score": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [2.0, 3.0, 4.0], [3, 2]),
        "age": tf.constant([[5.0], [20.0], [15.0]]),
        "pair": tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64),
    }


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def test_columns_are_side_by_side_by_their_keys() -> None:
    ones = tf.ones_initializer()
    columns = [
        AGE,
        PAIR,
        AGES,
        layers.one_hot_column(WORDS),
        layers.one_hot_column(layers.weighted_sparse_column(WORDS, "score")),
        layers.embedding_column(IDS, 2, initializer=ones),
    ]
    with tf.Graph().as_default():
        parts: dict[Any, Any] = {}
        tensors = _features()
        whole = layers.input_from_feature_columns(tensors, columns, cols_to_outs=parts)
        assert len(tensors) == 5  # nothing is added to what was given
        assert whole.get_shape().as_list()[1] == 14
        assert [v.op.name for v in tf.trainable_variables()] == [
            "input_from_feature_columns/id_embedding/weights"
        ]
        values, of_columns = _run([whole, [parts[column] for column in columns]])
    expected = [
        [[0.5], [2.0], [1.5]],
        [[1, 2], [3, 4], [5, 6]],
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[1, 0, 1], [0, 0, 0], [0, 1, 0]],
        [[2, 0, 3], [0, 0, 0], [0, 4, 0]],
        [[1, 1]] * 3,
    ]
    for actual, wanted in zip(of_columns, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-6)
    order = sorted(range(6), key=lambda k: str(columns[k].key))
    np.testing.assert_allclose(values, np.concatenate([expected[k] for k in order], 1))


def test_weighted_sums_apart_and_joint() -> None:
    crossed = layers.crossed_column([WORDS, AGES], 100, hash_key=7)
    columns = [WORDS, IDS, crossed]
    with tf.Graph().as_default(), tf.Session() as session:
        apart, variables, bias = layers.weighted_sum_from_feature_columns(
            _features(), [*columns, AGES, PAIR], 2
        )
        joint, parts, _ = layers.joint_weighted_sum_from_feature_columns(
            _features(), columns, 2
        )
        assert parts[0].get_shape().as_list() == [3 + 4 + 100, 2]
        assert variables[PAIR][0].get_shape().as_list() == [2, 2]
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        every = [v for column in variables for v in variables[column]]
        ones = [tf.assign(v, tf.ones_like(v)) for v in [*every, bias, *parts]]
        session.run(ones)
        sums, together = session.run([apart, joint])
    # Words, ids, and crosses of words and ranges.
    counts = np.array([2 + 1 + 2, 0 + 1 + 0, 1 + 1 + 1])
    np.testing.assert_allclose(together[:, 0], counts)
    # The range, the numbers of the pair, and the bias.
    np.testing.assert_allclose(sums[:, 1], counts + 1 + [3, 7, 11] + 1)


def test_shared_and_hashed_embeddings() -> None:
    first = layers.sparse_column_with_hash_bucket("word", 10)
    second = layers.sparse_column_with_hash_bucket("other", 10)
    shared = layers.shared_embedding_columns([first, second], dimension=3)
    hashed = layers.scattered_embedding_column("word", 50, 4, hash_key=9)
    assert shared[0].shared_embedding_name == "other_word_shared_embedding"
    with tf.Graph().as_default():
        tensors = _features()
        tensors["other"] = tensors["word"]
        parts: dict[Any, Any] = {}
        layers.input_from_feature_columns(
            tensors, [*shared, hashed], cols_to_outs=parts
        )
        assert len(tf.trainable_variables()) == 2
        one, other, scattered = _run([parts[each] for each in (*shared, hashed)])
    np.testing.assert_array_equal(one, other)
    assert scattered.shape == (3, 4)


def test_several_hashes_of_each_value() -> None:
    column = layers.sparse_column_with_hash_bucket(
        "word", 1000, hash_keys=[[1, 2], [3, 4]]
    )
    with tf.Graph().as_default():
        ids = layers.transform_features(_features(), [column])[column]
        assert _run(ids).dense_shape.tolist() == [3, 4]


def test_a_vocabulary_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("c\nb\n")
    column = layers.sparse_column_with_vocabulary_file("word", str(path), 1, 2)
    assert column.length == 3
    with tf.Graph().as_default():
        ids = layers.transform_features(_features(), [column])[column]
        assert _run(ids).values.tolist() == [2, 0, 1]


def test_sequences() -> None:
    lengths = real_valued_var_len_column("size", default_value=0.0)
    with tf.Graph().as_default():
        tensors = {
            "size": tf.constant([[1.0, 2.0], [3.0, 0.0]]),
            "word": tf.SparseTensor([[0, 0, 0], [1, 1, 0]], ["a", "c"], [2, 2, 1]),
        }
        columns = [lengths, layers.one_hot_column(WORDS)]
        steps = layers.sequence_input_from_feature_columns(tensors, columns)
        assert _run(steps).tolist() == [
            [[1, 0, 0, 1], [0, 0, 0, 2]],
            [[0, 0, 0, 3], [0, 0, 1, 0]],
        ]
        with pytest.raises(ValueError, match="_BucketizedColumn is not currently"):
            layers.sequence_input_from_feature_columns(tensors, [AGES])


def test_what_columns_are_parsed_from() -> None:
    columns = [AGE, layers.weighted_sparse_column(WORDS, "score")]
    assert layers.create_feature_spec_for_parsing(columns) == {
        "age": tf.FixedLenFeature([1], tf.float32),
        "word": tf.VarLenFeature(tf.string),
        "score": tf.VarLenFeature(tf.float32),
    }
    example = tf.train.Example()
    example.features.feature["age"].float_list.value.append(40.0)
    example.features.feature["word"].bytes_list.value.append(b"b")
    example.features.feature["score"].float_list.value.append(0.5)
    with tf.Graph().as_default():
        tensors = layers.parse_feature_columns_from_examples(
            [example.SerializeToString()], columns
        )
        fed = layers.make_place_holder_tensors_for_base_features(columns)
        assert fed["age"].get_shape().as_list() == [None, 1]
        assert set(fed) == {"age", "word", "score"}
        age, (ids, weights) = _run([tensors[column] for column in columns])
    assert age.tolist() == [[4.0]]
    assert (ids.values.tolist(), weights.values.tolist()) == ([1], [0.5])


def test_columns_of_tensors() -> None:
    with tf.Graph().as_default():
        found = layers.infer_real_valued_columns({"x": tf.ones([5, 2, 3])})
        assert found == [layers.real_valued_column("x", dimension=6)]
        with pytest.raises(ValueError, match="Non integer or non floating types"):
            layers.infer_real_valued_columns(tf.constant(["a"]))


def test_targets() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        logits, labels = tf.constant([[1.0], [-1.0], [3.0]]), tf.constant([1, 1, 0])
        features = {"weight": tf.constant([1.0, 1.0, 0.0])}
        regression = layers.regression_target(weight_column_name="weight")
        binary = layers.multi_class_target(2)
        svm = slim.binary_svm_target()
        fetches = [
            regression.loss(logits, labels, features),
            regression.training_loss(logits, labels, features),
            binary.logits_to_predictions(logits),
            svm.loss(logits, labels, {}),
        ]
        loss, training_loss, classes, hinge = session.run(fetches)
        measured = binary.get_eval_ops({}, logits, labels)
        assert "precision/positive_threshold_0.500000_mean" in measured
        session.run(tf.local_variables_initializer())
        updates = session.run({name: ops[1] for name, ops in measured.items()})
    assert (loss, classes.tolist()) == (2.0, [1, 0, 1])
    np.testing.assert_allclose([training_loss, hinge], [4 / 3, 2.0], rtol=1e-6)
    np.testing.assert_allclose(updates["accuracy"], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: layers.sparse_column_with_integerized_feature("a", 0),
            ValueError,
            "bucket_size must be at least 1. bucket_size: 0, column_name: a",
        ),
        (
            lambda: layers.sparse_column_with_hash_bucket("a", 9, dtype=tf.float32),
            ValueError,
            "dtype must be string or integer",
        ),
        (
            lambda: layers.real_valued_column("a", dimension=0),
            ValueError,
            "dimension must be greater than 0",
        ),
        (
            lambda: layers.real_valued_column("a", 2, [1, 2.5], tf.int32),
            TypeError,
            "default_value must be compatible with dtype",
        ),
        (
            lambda: layers.bucketized_column(WORDS, [1]),
            TypeError,
            "must be an instance of _RealValuedColumn",
        ),
        (
            lambda: layers.bucketized_column(AGE, [2, 1]),
            ValueError,
            "boundaries must be a sorted list",
        ),
        (
            lambda: layers.crossed_column([WORDS], 10),
            ValueError,
            "columns must contain at least 2 elements",
        ),
        (
            lambda: layers.crossed_column([WORDS, AGE], 10),
            TypeError,
            "is a _RealValuedColumn",
        ),
        (
            lambda: layers.shared_embedding_columns([WORDS, IDS], 2),
            ValueError,
            "not compatible",
        ),
        (
            lambda: layers.input_from_feature_columns({}, [WORDS, WORDS]),
            ValueError,
            "Duplicate feature column key found for column: word",
        ),
        (
            lambda: layers.input_from_feature_columns(_features(), [WORDS]),
            ValueError,
            "SparseColumn is not supported in DNN",
        ),
        (
            lambda: layers.joint_weighted_sum_from_feature_columns(
                _features(), [AGE], 1
            ),
            NotImplementedError,
            "Real-valued columns are not supported",
        ),
    ],
)
def test_refusals(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


def test_experimental_functions_warn(caplog: pytest.LogCaptureFixture) -> None:
    @slim.experimental
    def double(x: int) -> int:
        """Twice a number."""
        return 2 * x

    assert double(2) == 4
    assert "is experimental and may change" in caplog.text
    assert double.__doc__.startswith("Twice a number. (experimental)")
