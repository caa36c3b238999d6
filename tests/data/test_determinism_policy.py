"""The attr `deterministic` of newer datasets names a policy."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

R = tf.raw_ops
_ONE: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}


def _mapped(source: Any, **attrs: Any) -> Any:
    @tf.function
    def add_one(x: Any) -> Any:
        return (x + 1,)

    function = add_one.get_concrete_function(tf.TensorSpec([], tf.int64))
    return R.ParallelMapDatasetV2(
        input_dataset=source,
        other_arguments=[],
        num_parallel_calls=2,
        f=function,
        **_ONE,
        **attrs,
    )


def _legacy_interleaved(source: Any, **attrs: Any) -> Any:
    @tf.function
    def up_to(x: Any) -> Any:
        return tf.data.Dataset.range(x)._variant_tensor

    return R.LegacyParallelInterleaveDatasetV2(
        input_dataset=source,
        other_arguments=[],
        cycle_length=1,
        block_length=1,
        buffer_output_elements=1,
        prefetch_input_elements=1,
        f=up_to.get_concrete_function(tf.TensorSpec([], tf.int64)),
        **_ONE,
        **attrs,
    )


@pytest.mark.parametrize(
    ("make", "first"), [(_mapped, 1), (_legacy_interleaved, 0)], ids=["map", "legacy"]
)
@pytest.mark.parametrize("policy", ["true", "false", "default", "", "x", "True"])
def test_policies(make: Any, first: int, policy: str) -> None:
    source = tf.data.Dataset.range(4)._variant_tensor
    dataset = make(source, deterministic=policy)
    iterator = R.Iterator(shared_name="", container="", **_ONE)
    start = R.MakeIterator(dataset=dataset, iterator=iterator)
    with tf.Session() as session:
        if policy not in ("true", "false", "default"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Determinism"):
                session.run(start)
            return
        session.run(start)
        assert session.run(R.IteratorGetNext(iterator=iterator, **_ONE)) == [first]
