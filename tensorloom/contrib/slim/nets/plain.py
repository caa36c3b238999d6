"""Networks in one line of layers, with convolutions as fully connected layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tensorloom.client.program.arg_scope import Scope, arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.collections import convert_collection_to_dict
from tensorloom.contrib.layers.convolutions import conv2d
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.pooling import max_pool2d
from tensorloom.contrib.layers.regularizers import l2_regularizer
from tensorloom.contrib.layers.shaping import dropout
from tensorloom.framework.export import export
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.state.initializers import Constant, TruncatedNormal, Zeros


def padded_convolutions(weight_decay: float, biases_initializer: Any) -> Scope:
    """Padded convolutions, activated by relu, with weight decay."""
    with (
        arg_scope(
            [conv2d, fully_connected],
            activation_fn=relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=biases_initializer,
        ),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        return scope


def unpadded_pools(weight_decay: float, biases_initializer: Any) -> Scope:
    """`padded_convolutions`, with pools that are not padded."""
    with (
        arg_scope(padded_convolutions(weight_decay, biases_initializer)),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):
        return scope


def truncated_normal(stddev: float) -> TruncatedNormal:
    """The initializer around zero."""
    return TruncatedNormal(0.0, stddev)


for _name in ("alexnet", "overfeat"):
    export(f"contrib.slim.nets.{_name}.trunc_normal")(truncated_normal)

# How the last three layers begin in networks that do not leave it to the scope.
SMALL_WEIGHTS: Final = {
    "weights_initializer": truncated_normal(0.005),
    "biases_initializer": Constant(0.1),
}
NO_BIASES: Final = {"biases_initializer": Zeros()}


@dataclass(frozen=True)
class PlainNetwork:
    """A network's layers."""

    # The default scope.
    name: str
    # From images to features `[batch, height, width, channels]`.
    features: Callable[[Any], Any]
    # Height and width of the features, all of which a logit sees.
    window: int
    # The depths of fc6 and fc7.
    depths: tuple[int, int] = (4096, 4096)
    # Arguments of fc6, fc7 and fc8, and further ones of fc8.
    connected: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    # The layers whose results are end points.
    collected: tuple[Any, ...] = (conv2d, fully_connected, max_pool2d)
    # Whether the collection of end points is called after the variable scope, and so
    # is the same for each copy of the network.
    is_shared: bool = False

    def build(
        self,
        inputs: Any,
        num_classes: int,
        is_training: Any,
        dropout_keep_prob: float,
        spatial_squeeze: bool,
        scope: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """The logits, and results of layers by name."""
        with variable_scope(scope, self.name, [inputs]) as sc:
            prefix = sc.name if self.is_shared else sc.original_name_scope
            collection = f"{prefix}_end_points"
            with arg_scope(list(self.collected), outputs_collections=[collection]):
                net = self.features(inputs)
                with arg_scope([conv2d], **self.connected):
                    net = self._classify(
                        net, num_classes, is_training, dropout_keep_prob
                    )
            end_points = convert_collection_to_dict(collection)
            if spatial_squeeze:
                net = squeeze(net, [1, 2], name="fc8/squeezed")
                end_points[f"{sc.name}/fc8"] = net
            return net, end_points

    def _classify(
        self, net: Any, num_classes: int, is_training: Any, keep_prob: float
    ) -> Any:
        window = [self.window, self.window]
        net = conv2d(net, self.depths[0], window, padding="VALID", scope="fc6")
        net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
        net = conv2d(net, self.depths[1], [1, 1], scope="fc7")
        net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
        return conv2d(
            net,
            num_classes,
            [1, 1],
            activation_fn=None,
            normalizer_fn=None,
            scope="fc8",
            **self.last,
        )
