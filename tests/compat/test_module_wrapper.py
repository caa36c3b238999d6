"""Modules in a wrapper."""

from __future__ import annotations

import math
import pickle
from types import ModuleType

import pytest

from tensorloom.compat.internals.module_wrapper import ModuleWrapper


def test_the_names_are_the_modules_own() -> None:
    module = ModuleType("wrapped", "About.")
    module.__dict__["x"] = 1
    wrapper = ModuleWrapper(module, "x", {"root": ("math", "sqrt"), "m": ("", "math")})
    assert (wrapper.x, wrapper.root, wrapper.m) == (1, math.sqrt, math)
    assert (wrapper.__name__, wrapper.__doc__) == ("wrapped", "About.")
    assert dir(wrapper) == ["m", "root"]
    wrapper.y = 2
    assert module.__dict__["y"] == 2
    module.__dict__["later"] = 3
    assert wrapper.later == 3
    with pytest.raises(AttributeError, match="nothing"):
        _ = wrapper.nothing


def test_a_wrapper_is_a_module() -> None:
    wrapper = ModuleWrapper(math, "math")
    assert pickle.loads(pickle.dumps(wrapper)) is math
    assert "sqrt" in dir(wrapper)
    assert "sqrt" in wrapper.__all__
