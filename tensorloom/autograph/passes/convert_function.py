"""All passes over a function, in their order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tensorloom.autograph.analysis.flow import own_statements
from tensorloom.autograph.options import Feature
from tensorloom.autograph.passes.asserts import Asserts
from tensorloom.autograph.passes.calls import Calls
from tensorloom.autograph.passes.control_flow import convert_control_flow
from tensorloom.autograph.passes.directives import Directives
from tensorloom.autograph.passes.expressions import Expressions
from tensorloom.autograph.passes.jumps import lower_jumps
from tensorloom.autograph.passes.lists import Lists
from tensorloom.autograph.passes.unsupported import check_supported, is_generator
from tensorloom.autograph.source.templates import (
    arguments,
    at,
    call,
    name,
    runtime,
    stored,
)

if TYPE_CHECKING:
    from tensorloom.autograph.passes.context import Conversion
    from tensorloom.autograph.source.function_source import Definition


def convert_definition(
    node: Definition, identifier: str, conversion: Conversion
) -> ast.stmt:
    """A statement that defines the converted function under a name.

    Raises:
      NotImplementedError: there is what AutoGraph does not convert.
      ValueError: a directive is used wrongly.
    """
    check_supported(node)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    # The function has them already: they are not to be computed again.
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    if isinstance(node, ast.Lambda):
        made = _convert_lambda(node, conversion)
        return at(node, ast.Assign([stored(identifier)], made, lineno=0))
    node.decorator_list, node.returns = [], None
    _convert_function(node, conversion)
    node.name = identifier
    return at(node, node)


def _convert_function(node: ast.FunctionDef, conversion: Conversion) -> None:
    scope = conversion.names.make(f"{node.name}_scope")
    # Functions inside come first: what is around them then leaves them alone.
    for inner in _functions_inside(node.body):
        _convert_function(inner, conversion)
        converted = at(inner, runtime("do_not_convert_internal"))
        inner.decorator_list.append(converted)
    documented = ast.get_docstring(node, clean=False) is not None
    docstring, body = node.body[:documented], node.body[documented:]
    node.body = body
    directives = Directives(conversion)
    node.body = directives.block(node.body)
    if conversion.uses(Feature.ASSERT_STATEMENTS):
        node.body = Asserts(conversion).block(node.body)
    _mark_returns(node.body, scope)
    node.body = lower_jumps(node.body, conversion)
    if conversion.uses(Feature.LISTS):
        node.body = Lists(conversion, directives.element_types).block(node.body)
    parameters = [*node.args.posonlyargs, *node.args.args]
    first = parameters[0].arg if parameters else None
    node.body = Calls(conversion, scope, first).block(node.body)
    node.body = Expressions(conversion).block(node.body)
    convert_control_flow(node, conversion)
    place = body[0] if body else node
    around = ast.With(
        [ast.withitem(_scope_call(node.name, scope, conversion), stored(scope))],
        node.body or [ast.Pass()],
        lineno=0,
    )
    outer = [s for s in node.body if isinstance(s, (ast.Global, ast.Nonlocal))]
    around.body = [s for s in around.body if s not in outer] or [ast.Pass()]
    node.body = [*docstring, *outer, at(place, around)]


def _scope_call(function: str, scope: str, conversion: Conversion) -> ast.expr:
    names = ast.Constant(function), ast.Constant(scope)
    return call("FunctionScope", *names, conversion.options.to_ast())


def _convert_lambda(node: ast.Lambda, conversion: Conversion) -> ast.expr:
    scope = conversion.names.make("lambda_scope")
    statement: ast.stmt = at(node, ast.Expr(node.body))
    passes: list[Callable[[list[ast.stmt]], list[ast.stmt]]] = [
        Calls(conversion, scope, None).block,
        Expressions(conversion).block,
    ]
    if conversion.uses(Feature.LISTS):
        passes.insert(0, Lists(conversion, {}).block)
    for run in passes:
        (statement,) = run([statement])
    assert isinstance(statement, ast.Expr)
    body = ast.Lambda(arguments([scope]), statement.value)
    options = conversion.options.to_ast()
    node.body = call("with_function_scope", body, ast.Constant(scope), options)
    return node


def _mark_returns(body: list[ast.stmt], scope: str) -> None:
    """`return value` becomes `return scope.mark_return_value(value)`."""
    for node in own_statements(body):
        if isinstance(node, ast.Return) and node.value is not None:
            mark = ast.Attribute(name(scope), "mark_return_value", ast.Load())
            node.value = at(node.value, ast.Call(mark, [node.value], []))


def _functions_inside(body: list[ast.stmt]) -> list[ast.FunctionDef]:
    return [
        node
        for node in own_statements(body)
        if isinstance(node, ast.FunctionDef) and not is_generator(node)
    ]
