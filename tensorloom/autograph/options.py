"""What a conversion does: `Feature` and `ConversionOptions`."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable
from typing import Any, Final

from tensorloom.autograph.source.templates import call, runtime, tuple_of
from tensorloom.framework.export import export


@export("autograph.experimental.Feature")
class Feature(enum.Enum):
    """Optional parts of the conversion.

    Attributes:
      ALL: all of them.
      AUTO_CONTROL_DEPS: operations with effects run in the order of the code.
      ASSERT_STATEMENTS: `assert` of a tensor becomes `tf.Assert`.
      BUILTIN_FUNCTIONS: `print` of tensors prints when the graph runs.
      EQUALITY_OPERATORS: `==` and `!=` of tensors compare their values.
      LISTS: lists that start empty become tensor lists.
      NAME_SCOPES: each converted function has a name scope of its name.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every member."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Every member but some, and `ALL`."""
        left_out = {exclude} if isinstance(exclude, Feature) else set(exclude)
        return tuple(f for f in cls if f not in left_out and f is not cls.ALL)


class ConversionOptions:
    """How a function is converted; cannot be changed.

    Attributes:
      recursive: whether the functions that it calls are converted.
      user_requested: whether the user asked for it: then functions of libraries, too,
        are converted. Functions that are called from it are not asked for.
      internal_convert_user_code: False converts calls of builtin functions only.
      optional_features: a set of `Feature`.
    """

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Any = Feature.ALL,
    ) -> None:
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        if optional_features is None:
            optional_features = ()
        elif isinstance(optional_features, Feature):
            optional_features = (optional_features,)
        self.optional_features: frozenset[Feature] = frozenset(optional_features)

    def as_tuple(self) -> tuple[bool, bool, bool, frozenset[Feature]]:
        """All attributes."""
        return (
            self.recursive,
            self.user_requested,
            self.internal_convert_user_code,
            self.optional_features,
        )

    def __hash__(self) -> int:
        return hash(self.as_tuple())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()
        )

    def __str__(self) -> str:
        return f"ConversionOptions{self.as_tuple()}"

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is on."""
        return not self.optional_features.isdisjoint((Feature.ALL, feature))

    def call_options(self) -> ConversionOptions:
        """The options for what a function converted with these calls."""
        return ConversionOptions(
            recursive=self.recursive,
            user_requested=False,
            internal_convert_user_code=self.recursive,
            optional_features=self.optional_features,
        )

    def to_ast(self) -> ast.expr:
        """The expression that makes these options in converted code."""
        if self == STANDARD_OPTIONS:
            return runtime("STD")
        features = sorted(self.optional_features, key=lambda f: f.name)
        return call(
            "ConversionOptions",
            recursive=ast.Constant(self.recursive),
            user_requested=ast.Constant(self.user_requested),
            optional_features=tuple_of(
                ast.Attribute(runtime("Feature"), f.name, ast.Load()) for f in features
            ),
            internal_convert_user_code=ast.Constant(self.internal_convert_user_code),
        )


STANDARD_OPTIONS: Final = ConversionOptions(recursive=True, optional_features=None)
