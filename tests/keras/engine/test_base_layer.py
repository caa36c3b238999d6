"""The base of layers: building, inner layers, losses, updates, masks, training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

L = tf.keras.layers


class Scale(L.Layer):
    """Multiplies by a variable."""

    def build(self, input_shape: Any) -> None:
        self.factor = self.add_weight("factor", input_shape[-1:], initializer="ones")
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        return inputs * self.factor


class Pair(L.Layer):
    """Two layers, one of them in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Scale()
        self.others = [Scale(name="other")]

    def call(self, inputs: Any) -> Any:
        return self.others[0](self.first(inputs))


def test_the_learning_phase_switches_dropout() -> None:
    y = L.Dropout(0.999, seed=1)(tf.ones([64]))
    phase = tf.keras.backend.learning_phase()
    assert phase.op.name == "keras_learning_phase"
    with tf.Session() as session:
        assert session.run(y).sum() == 64
        assert session.run(y, {phase: True}).sum() != 64
    with tf.Graph().as_default():
        tf.keras.backend.set_learning_phase(0)
        x = tf.ones([3])
        assert L.Dropout(0.5)(x).op.type == "Identity"
    with pytest.raises(ValueError, match="to be 0 or 1"):
        tf.keras.backend.set_learning_phase(2)


def test_layers_inside_a_layer_are_found() -> None:
    pair = Pair()
    pair(tf.ones([2, 3]))
    names = [weight.name for weight in pair.weights]
    assert names == ["pair/scale/factor:0", "pair/other/factor:0"]
    assert pair.count_params() == 6
    assert len(pair.submodules) == 2
    pair.trainable = False
    assert not pair.first.trainable
    assert len(pair.non_trainable_weights) == 2


def test_an_attribute_that_is_replaced_is_forgotten() -> None:
    pair = Pair()
    pair(tf.ones([2, 3]))
    pair.first = None
    assert [weight.name for weight in pair.weights] == ["pair/other/factor:0"]
    pair.extra = tf.Variable(1.0, name="extra")
    assert pair.extra in pair.trainable_weights
    del pair.extra
    assert len(pair.weights) == 1


def test_names_count_from_zero_in_keras() -> None:
    assert [Scale().name for _ in range(3)] == ["scale", "scale_1", "scale_2"]
    assert Scale(name="mine").name == "mine"


def test_values_go_in_and_out() -> None:
    layer = L.Dense(2, kernel_initializer="ones")
    layer(tf.ones([1, 3]))
    kernel, bias = layer.get_weights()
    np.testing.assert_array_equal(kernel, np.ones([3, 2]))
    layer.set_weights([kernel * 2, bias + 1])
    np.testing.assert_array_equal(layer.get_weights()[1], [1.0, 1.0])
    with pytest.raises(ValueError, match="expecting 2 weights"):
        layer.set_weights([kernel])
    with pytest.raises(ValueError, match="not compatible with provided"):
        layer.set_weights([kernel, kernel])


def test_initial_weights_are_set_when_built() -> None:
    layer = L.Dense(1, use_bias=False, weights=[np.array([[2.0], [3.0]])])
    layer(tf.ones([1, 2]))
    np.testing.assert_array_equal(layer.get_weights()[0], [[2.0], [3.0]])


class Asks(L.Layer):
    """Gives back what it was told of training."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        self.told = training
        return inputs


class Around(L.Layer):
    """Calls another layer without a word about training."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Asks()

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self.inner(inputs)


@pytest.mark.parametrize("value", [True, False])
def test_inner_layers_hear_whether_to_train(value: bool) -> None:
    outer = Around()
    outer(tf.ones([1]), training=value)
    assert outer.inner.told is value
    outer(tf.ones([1]), value)
    assert outer.inner.told is value
    outer(tf.ones([1]))
    assert outer.inner.told is None


def test_masks_go_along() -> None:
    x = tf.constant([[[1.0], [0.0]]])
    masked = L.Masking()(x)
    kept = L.Activation("linear")(masked)
    assert kept._keras_mask is masked._keras_mask
    with pytest.raises(TypeError, match="does not support masking"):
        L.Layer().compute_mask(x, masked._keras_mask)
    pooled = L.GlobalAveragePooling1D()(masked + 0.0)
    with tf.Session() as session:
        assert session.run(masked._keras_mask).tolist() == [[True, False]]
        assert session.run(pooled).shape == (1, 1)


def test_losses_and_updates_by_what_they_depend_on() -> None:
    class Noted(L.Layer):
        def build(self, input_shape: Any) -> None:
            self.count = self.add_weight("count", (), initializer="zeros")

        def call(self, inputs: Any) -> Any:
            self.add_update(tf.assign_add(self.count, tf.reduce_sum(inputs)))
            self.add_update(lambda: tf.assign_add(self.count, 1.0))
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            self.add_loss(lambda: tf.reduce_sum(self.count))
            return inputs

    x, other = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    layer = Noted()
    layer(x)
    assert len(layer.updates) == 2
    assert len(layer.get_updates_for(x)) == len(layer.get_updates_for(None)) == 1
    assert len(layer.losses) == 2
    assert len(layer.get_losses_for(x)) == len(layer.get_losses_for(None)) == 1
    assert layer.get_losses_for(other) == []
    layer.trainable = False
    assert layer.updates == []


@pytest.mark.parametrize(
    ("spec", "value", "message"),
    [
        ({"ndim": 2}, [2], "expected ndim=2, found ndim=1"),
        ({"min_ndim": 2}, [2], "expected min_ndim=2, found ndim=1"),
        ({"max_ndim": 1}, [2, 3], "expected max_ndim=1, found ndim=2"),
        ({"axes": {-1: 4}}, [2, 3], "expected axis -1 of input shape to have value 4"),
        ({"shape": (None, 4)}, [2, 3], "expected shape=(None, 4), found shape=[2, 3]"),
        ({"dtype": "int32"}, [2], "expected dtype=int32"),
        ({"ndim": 1}, None, "its rank is undefined"),
    ],
)
def test_inputs_that_do_not_fit(spec: Any, value: Any, message: str) -> None:
    layer = L.Layer(name="mine")
    layer.input_spec = L.InputSpec(**spec)
    with pytest.raises(ValueError) as caught:
        layer(tf.placeholder(tf.float32, value))
    assert "layer mine" in str(caught.value)
    assert message in str(caught.value)


class Nothing(L.Layer):
    """Forgets its outputs."""

    def call(self, inputs: Any) -> Any:
        return None


class Options(L.Layer):
    """Has arguments that its configuration does not have."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()


def test_misuse() -> None:
    with pytest.raises(TypeError, match="not understood"):
        L.Layer(unknown=1)
    with pytest.raises(ValueError, match="should return a Tensor"):
        Nothing()(tf.ones([1]))
    with pytest.raises(NotImplementedError, match="must override `get_config`"):
        Options(1, 2).get_config()
    layer = L.Layer()
    with pytest.raises(TypeError, match="must be an instance of InputSpec"):
        layer.input_spec = "none"


def test_configurations_make_equal_layers() -> None:
    made = [
        L.Dense(3, "relu", kernel_regularizer="l2", kernel_constraint="max_norm"),
        L.Conv2D(3, (1, 2), padding="same", bias_initializer="he_normal"),
        L.SeparableConv1D(2, 3, depth_multiplier=2),
        L.DepthwiseConv2D(2),
        L.Conv3DTranspose(2, 2),
        L.BatchNormalization(renorm=True, virtual_batch_size=2),
        L.LayerNormalization(axis=[1]),
        L.MaxPooling2D(3, padding="same"),
        L.Dropout(0.3, seed=2),
        L.Reshape([2, -1]),
        L.Permute([2, 1]),
    ]
    for layer in made:
        config = layer.get_config()
        assert type(layer).from_config(config).get_config() == config


def test_output_shapes_without_calls() -> None:
    table = [
        (L.Conv2D(3, 2), [None, 5, 5, 2], [None, 4, 4, 3]),
        (L.Conv2DTranspose(3, 2, 2), [None, 5, 5, 2], [None, 10, 10, 3]),
        (L.Conv1D(3, 2, padding="causal"), [None, 5, 2], [None, 5, 3]),
        (L.DepthwiseConv2D(2, depth_multiplier=2), [1, 5, 5, 2], [1, 4, 4, 4]),
        (L.MaxPooling1D(2), [None, 5, 2], [None, 2, 2]),
        (L.GlobalMaxPooling2D(), [None, 5, 5, 2], [None, 2]),
        (L.Flatten(), [None, 5, 2], [None, 10]),
        (L.Reshape([5, -1]), [None, 10], [None, 5, 2]),
        (L.RepeatVector(3), [None, 4], [None, 3, 4]),
        (Scale(), [2, 4], [2, 4]),
    ]
    for layer, shape, expected in table:
        assert layer.compute_output_shape(shape).as_list() == expected, layer.name
