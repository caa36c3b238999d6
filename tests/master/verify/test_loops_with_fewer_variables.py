"""The verifier knows the variables of a loop when some of them are dropped."""

from __future__ import annotations

from typing import Any

import tensorloom as tf


def test_variables_that_a_loop_holds_are_known_at_other_places() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        held = [
            tf.get_variable(f"held_{i}", initializer=float(i + 1)) for i in range(9)
        ]

        def body(i: Any, dropped: Any, array: Any, kept: Any) -> Any:
            dropped += held[0] + held[1]
            array = array.write(i, held[2] * 1.0)
            return i + 1, dropped, array, kept + tf.add_n([v * 1.0 for v in held[3:]])

        array = tf.TensorArray(tf.float32, 2)
        _, _, array, kept = tf.while_loop(
            lambda i, *_: i < 2, body, (0, 0.0, array, 0.0)
        )
        session.run(tf.global_variables_initializer())
        # `dropped` is not needed: the first two variables leave the loop with it.
        values, total = session.run([array.stack(), kept])
        assert values.tolist() == [3.0, 3.0]
        assert total == 2 * sum(range(4, 10))
