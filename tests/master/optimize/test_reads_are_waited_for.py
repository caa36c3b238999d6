"""A read that an operand brings is waited for, though this step writes nothing."""

from __future__ import annotations

import tensorloom as tf


def test_a_queue_gets_its_element_after_the_read() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0, use_resource=False)
        queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])
        read = tf.identity(v * 0.5)
        with tf.control_dependencies([read]):
            value = tf.identity(v + 0.0)  # the zero alone has the control input
        enqueue = queue.enqueue([value])
        session.run(tf.global_variables_initializer())
        # The verifier of passes is on in tests: it says whether the order was lost.
        session.run(enqueue)
        assert session.run([read, value, queue.size()]) == [1.0, 2.0, 1]


def test_a_read_that_is_only_waited_for_stays_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[[1.0, 2.0]], use_resource=False)
        other = tf.get_variable("other", initializer=0.0, use_resource=True)
        read = tf.transpose(tf.transpose(v))
        with tf.control_dependencies([read]):
            write = other.assign_add(1.0)
        session.run(tf.global_variables_initializer())
        session.run(write.op)
        assert session.run([read, other])[1] == 1.0


def test_a_read_that_others_need_stays_before_a_write() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=4.0, use_resource=False)
        other = tf.get_variable("other", initializer=3.0, use_resource=True)
        read = tf.identity(tf.negative(v))
        write = other.assign(tf.negative(tf.negative(read)))
        session.run(tf.global_variables_initializer())
        assert session.run([read, write.op])[0] == -4.0
        assert session.run(other) == -4.0
