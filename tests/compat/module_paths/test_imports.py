"""Module paths of TensorFlow as programs import them."""

from __future__ import annotations

import functools
import importlib
import inspect
from types import ModuleType

import pytest

import tensorloom as tf
from tensorloom.compat.module_paths import finder, op_functions
from tensorloom.ops.control_flow import classic


def path(name: str) -> ModuleType:
    return importlib.import_module(f"tensorloom.python.{name}")


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        ("framework.ops", "Tensor", tf.Tensor),
        ("framework.dtypes", "float32", tf.float32),
        ("framework.tensor_util", "constant_value", tf.get_static_value),
        ("ops.array_ops", "concat", tf.concat),
        ("ops.variables", "VariableV1", tf.Variable),
        ("ops.standard_ops", "matmul", tf.matmul),
        ("ops.control_flow_ops", "switch", classic.switch),
        ("platform.gfile", "FastGFile", tf.gfile.FastGFile),
        ("training.saver", "Saver", tf.train.Saver),
    ],
)
def test_names_are_the_public_objects(module: str, name: str, value: object) -> None:
    assert getattr(path(module), name) is value


def test_modules_are_one() -> None:
    from tensorloom.python.framework import ops  # type: ignore[import-not-found]

    assert ops is path("framework.ops") is tf.python.framework.ops


def test_messages_are_the_modules() -> None:
    graph_pb2 = importlib.import_module("tensorloom.core.framework.graph_pb2")
    assert graph_pb2.GraphDef is tf.GraphDef


def test_star_gives_what_is_there() -> None:
    namespace: dict[str, object] = {}
    exec("from tensorloom.python.ops.array_ops import *", namespace)
    assert namespace["reshape"] is tf.reshape
    assert "strided_slice_grad" in namespace
    assert not [name for name in namespace if name.startswith("_tl")]


def test_what_is_missing_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"'concatt' in tensorflow\.python\.ops"):
        _ = path("ops.array_ops").concatt
    with pytest.raises(ImportError, match="nearest: concat"):
        exec("from tensorloom.python.ops.array_ops import concatt")
    with pytest.raises(ModuleNotFoundError, match="nearest: array_ops"):
        path("ops.array_opps")
    assert not hasattr(path("ops.array_ops"), "__wrapped__")


def test_the_finder_is_installed_once() -> None:
    import sys

    before = list(sys.meta_path)
    finder.install()
    assert sys.meta_path == before


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("Conv2DBackpropInput", "conv2d_backprop_input"),
        ("IRFFT2D", "irfft2d"),
        ("BatchMatMulV2", "batch_mat_mul_v2"),
        ("CTCLoss", "ctc_loss"),
        ("LRNGrad", "lrn_grad"),
        ("ResourceApplyAdaMax", "resource_apply_ada_max"),
    ],
)
def test_names_of_functions(op: str, function: str) -> None:
    assert op_functions.function_name(op) == function


def test_functions_of_ops() -> None:
    gen_nn_ops = path("ops.gen_nn_ops")
    assert str(inspect.signature(gen_nn_ops.max_pool)) == (
        "(input, ksize, strides, padding, data_format='NHWC', name=None, *, "
        "explicit_paddings=[])"
    )
    with tf.Graph().as_default():
        grad = gen_nn_ops.relu_grad([1.0, 2.0], [0.0, 3.0], "g")
        assert (grad.op.type, grad.op.name) == ("ReluGrad", "g")
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            gen_nn_ops.relu_grad([1.0])
    assert path("ops.gen_math_ops")._abs is op_functions.op_function("Abs")
    assert not hasattr(path("ops.gen_math_ops"), "abs")


def test_contrib_says_what_it_has() -> None:
    with pytest.raises(AttributeError, match=r"tensorloom\.contrib.*'absent'"):
        _ = tf.contrib.absent
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorloom.contrib.absent")


@pytest.mark.parametrize(
    ("written", "public"),
    [
        ("contrib.layers.python.layers.layers.conv2d", "contrib.layers.conv2d"),
        ("contrib.tensor_forest.python.tensor_forest.ForestHParams", ""),
        ("contrib.boosted_trees.proto.learner_pb2.LearnerConfig", ""),
        ("contrib.seq2seq.python.ops.decoder.Decoder", "contrib.seq2seq.Decoder"),
    ],
)
def test_paths_below_public_names_need_no_import(written: str, public: str) -> None:
    def named(name: str) -> object:
        return functools.reduce(getattr, name.split("."), tf)

    assert named(written) is (named(public) if public else named(written))
    with pytest.raises(AttributeError, match="'absent'"):
        named("contrib.layers.absent")
