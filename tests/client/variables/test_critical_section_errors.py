"""A step that fails in a critical section leaves it, though its error is kept."""

from __future__ import annotations

import pytest

import tensorloom as tf


@pytest.mark.timeout(20)
@pytest.mark.parametrize("failing", [[0], [1], [0, 1]], ids=str)
def test_the_next_step_enters(failing: list[int]) -> None:
    section = tf.CriticalSection(name="section")
    broken = tf.placeholder(tf.bool, [2])
    results = []
    for number in range(2):

        def checked(number: int = number) -> tf.Tensor:
            check = tf.Assert(tf.logical_not(broken[number]), ["broken"])
            with tf.control_dependencies([check]):
                return tf.constant(number)

        results.append(section.execute(checked, exclusive_resource_access=False))
    flags = [number in failing for number in range(2)]
    kept = []
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="broken") as info:
                session.run(results, {broken: flags})
            kept.append(info.value)
        assert session.run(results, {broken: [False, False]}) == [0, 1]
