"""The public API beside TensorFlow 1.15's, as recorded in recorded/api_1_15.json."""

from __future__ import annotations

import pytest

from tools import api_coverage

# A constructor that only the library itself calls, and facts about a build.
_OWN = {
    "Operation.__init__",
    "COMPILER_VERSION",
    "GIT_VERSION",
    "version.COMPILER_VERSION",
    "version.GIT_VERSION",
    # Made by functions that know what it needs.
    "data.Dataset.__init__",
}
# Modules that must be there completely.
_COMPLETE = (
    "tf",
    "tf.bitwise",
    "tf.config",
    "tf.config.experimental",
    "tf.config.optimizer",
    "tf.config.threading",
    "tf.debugging",
    "tf.dtypes",
    "tf.errors",
    "tf.experimental",
    "tf.estimator",
    "tf.estimator.experimental",
    "tf.estimator.export",
    "tf.estimator.inputs",
    "tf.initializers",
    "tf.layers",
    "tf.logging",
    "tf.losses",
    "tf.manip",
    "tf.math",
    "tf.metrics",
    "tf.nn.rnn_cell",
    "tf.queue",
    "tf.user_ops",
    "tf.version",
)
# The least percentage of a module's symbols that exist; only ever raised.
_AT_LEAST = {
    "tf.compat": 90,
    "tf.graph_util": 80,
    "tf.nn": 63,
    "tf.random": 50,
    "tf.sysconfig": 100,
    "tf.test": 75,
    "tf.train": 100,
    "tf.train.experimental": 100,
}


# What is not here: it can be imported, and says so when made.
_REFUSED = (
    "tpu.",
    "contrib.tpu.",
    "contrib.cloud.",
    "contrib.eager.Iterator",
    "contrib.eager.Network",
    "contrib.eager.Saver",
    "contrib.eager.Sequential",
    "lite.",
)


@pytest.fixture(scope="module")
def coverage() -> dict[str, api_coverage.Coverage]:
    return api_coverage.measure(api_coverage.load_record())


def test_what_exists_has_compatible_signatures(
    coverage: dict[str, api_coverage.Coverage],
) -> None:
    different = {
        f"tf.{name}": problem
        for module in coverage.values()
        for name, problem in module.different.items()
        if name not in _OWN and not name.startswith(_REFUSED)
    }
    assert not different


def test_what_exists_of_contrib_has_compatible_signatures() -> None:
    measured = api_coverage.measure(
        api_coverage.load_record(api_coverage.CONTRIB_RECORD)
    )
    different = {
        name: problem
        for module in measured.values()
        for name, problem in module.different.items()
        if not name.startswith(("contrib.framework.nest.", *_REFUSED))
    }
    # Each table has one of its own, which its constructor makes.
    different.pop("contrib.lookup.LookupInterface.resource_handle", None)
    # It wants a value at once, and there is none in a graph.
    different.pop("contrib.eager.Variable.__int__", None)
    assert not different


@pytest.mark.parametrize("module", _COMPLETE)
def test_module_is_complete(
    module: str, coverage: dict[str, api_coverage.Coverage]
) -> None:
    assert not coverage[module].missing


@pytest.mark.parametrize("module", sorted(_AT_LEAST))
def test_module_does_not_shrink(
    module: str, coverage: dict[str, api_coverage.Coverage]
) -> None:
    found = coverage[module]
    total = len(found.present) + len(found.missing)
    assert 100 * len(found.present) / total >= _AT_LEAST[module], found.missing


@pytest.mark.parametrize(
    ("theirs", "ours", "fits"),
    [
        (["x", "name=None"], ["x", "name=None"], True),
        (["x", "name=None"], ["x", "name=None", "extra=1"], True),
        (["x", "name=None"], ["x", "name=None", "extra"], False),
        (["x", "name=None"], ["name=None", "x"], False),
        (["x", "name=None"], ["y", "name=None"], False),
        (["x=1"], ["x=1.0"], True),
        (["x=1"], ["x=2"], False),
        (["x", "**kwargs"], ["x", "**options"], True),
        (["x", "**kwargs"], ["x"], False),
        (["x=<Zeros>"], ["x=<Ones>"], True),
        (["x"], ["*args", "**kwargs"], True),
        (["self", "*args", "**kwargs"], ["self", "cell", "**kwargs"], True),
        (["instance", "input_shape"], ["self", "input_shape"], True),
        (["instance", "input_shape"], ["self", "shape"], False),
    ],
)
def test_rule(theirs: list[str], ours: list[str], fits: bool) -> None:
    assert (api_coverage.misfit(theirs, ours) is None) == fits
