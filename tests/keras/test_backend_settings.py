"""What `tf.keras.backend` says of numbers, images and tensors."""

import tensorloom as tf


def test_settings_are_those_of_keras() -> None:
    backend = tf.keras.backend
    assert (backend.epsilon(), backend.floatx()) == (1e-7, "float32")
    assert backend.image_data_format() == "channels_last"


def test_sparse_tensors_are_told_from_others() -> None:
    with tf.Graph().as_default():
        assert tf.keras.backend.is_sparse(tf.sparse_placeholder(tf.float32))
        assert not tf.keras.backend.is_sparse(tf.placeholder(tf.float32))
    assert not tf.keras.backend.is_sparse(3)
