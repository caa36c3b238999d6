"""`if`, `while` and `for` become calls of operators with their blocks as functions.

    while n > 0:        def loop_test(n, s):
        s = s + n           return n > 0
        n = n - 1       def loop_body(n, s):
                            s = s + n
                            n = n - 1
                            return (n, s)
                        (n, s) = ag__.while_stmt(loop_test, loop_body, get_state,
                                                 set_state, (n, s), ("n", "s"), ())

What a block writes and somebody reads later goes in and out of its function; a branch
gets it as a default (`def if_true(s=s)`). Attributes, elements and names declared
`global` cannot: `get_state` and `set_state` read and write them, so that a branch which
TensorFlow only traces leaves no trace in Python.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping

from tensorloom.autograph.analysis.activity import (
    Activity,
    activity,
    names_below,
    root_of,
)
from tensorloom.autograph.analysis.flow import Flow, flow_of, own_statements
from tensorloom.autograph.passes.context import Conversion, OwnCode
from tensorloom.autograph.source.loops import ForUntil
from tensorloom.autograph.source.templates import (
    all_at,
    arguments,
    assign,
    assign_all,
    call,
    function,
    name,
    runtime,
    texts,
    tuple_of,
)

_Statements = list[ast.stmt]


def convert_control_flow(node: ast.FunctionDef, conversion: Conversion) -> None:
    """Rewrites the statements of one function, whose jumps are lowered."""
    outer = activity(node.body).outer
    node.body = _ControlFlow(conversion, flow_of(node), outer).block(node.body)


class _ControlFlow(OwnCode):
    def __init__(
        self,
        conversion: Conversion,
        flow: Mapping[ast.stmt, Flow],
        outer: Mapping[str, str],
    ) -> None:
        super().__init__(conversion)
        self._flow = flow
        self._outer = outer  # names declared global or nonlocal
        self._depth = 0

    def _inner_block(self, body: _Statements) -> _Statements:
        """A block that becomes the body of a function."""
        self._depth += 1
        visited = self.block(body)
        self._depth -= 1
        return visited

    def visit_Delete(self, node: ast.Delete) -> ast.AST | _Statements:
        """In a block a name is not deleted: its function has to return something."""
        if not self._depth:
            return node
        made: _Statements = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                made.append(_undefined(target.id))
            else:
                made.append(ast.Delete([target]))
        return all_at(node, made)

    def visit_Try(self, node: ast.Try) -> _Statements:
        """In a `try` nobody knows what is assigned yet: so everything is before it."""
        return self._try(node)

    def visit_TryStar(self, node: ast.TryStar) -> _Statements:
        """The same with `except*`."""
        return self._try(node)

    def _try(self, node: ast.Try | ast.TryStar) -> _Statements:
        flow = self._flow[node]
        converted = [
            inner
            for inner in own_statements([node])
            if isinstance(inner, (ast.If, ast.While, ast.For))
        ]
        unknown = activity(converted).writes - flow.defined_in - set(self._outer)
        self.generic_visit(node)
        return [*all_at(node, map(_undefined, sorted(unknown))), node]

    # --- if ------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> _Statements:
        """An `if` statement."""
        flow = self._flow[node]
        branches = [activity(node.body), activity(node.orelse)]
        inside = activity([*node.body, *node.orelse])
        modified = inside.writes - set(self._outer)
        results = sorted(modified & flow.live_out)
        made_in = [results_of(results, a) - flow.defined_in for a in branches]
        maybe_undefined = sorted(made_in[0] ^ made_in[1])
        composites = self._composites(inside, modified, flow.defined_in)
        test = self.conversion.names.make("cond")
        before = {*flow.defined_in, *maybe_undefined}
        live = [flow.body_live_in, flow.orelse_live_in]
        functions: _Statements = []
        names: list[ast.expr] = []
        for root, block, found, read in zip(
            ("if_true", "if_false"),
            (node.body, node.orelse),
            branches,
            live,
            strict=True,
        ):
            needed = found.writes & before & modified & read
            made = self.conversion.names.make(root)
            functions.append(
                self._branch(made, block, sorted(needed), results, test, found)
            )
            names.append(name(made))
        states, state_names = self._state_functions(composites)
        value = call(
            "if_stmt",
            name(test),
            *names,
            *state_names,
            texts(results),
            texts(composites),
        )
        last: ast.stmt = ast.Expr(value)
        if len(results) == 1:
            last = assign(results[0], value)
        elif results:
            last = assign_all(results, value)
        return all_at(
            node,
            [
                *map(_undefined, maybe_undefined),
                *states,
                assign(test, node.test),
                *functions,
                last,
            ],
        )

    def _branch(
        self,
        identifier: str,
        block: _Statements,
        needed: list[str],
        results: list[str],
        test: str,
        found: Activity,
    ) -> ast.stmt:
        match results:
            case []:
                # `tf.cond` wants a value of each branch.
                value: ast.expr = call(
                    "match_staging_level", ast.Constant(1), name(test)
                )
            case [result]:
                value = name(result)
            case _:
                value = tuple_of(map(name, results))
        body = [*self._declared(found), *self._inner_block(block), ast.Return(value)]
        return function(identifier, arguments(needed, needed), body)

    # --- loops ---------------------------------------------------------------------

    def visit_While(self, node: ast.While) -> _Statements:
        """A `while` loop."""
        flow = self._flow[node]
        inside = activity(node.body)
        variables = self._loop_variables(inside.writes, flow)
        test = self.conversion.names.make("loop_test")
        test_function = function(
            test, arguments(variables), [ast.Return(self.visit(node.test))]
        )
        return self._loop(
            node,
            inside,
            variables,
            lambda body: [name(test), body],
            self._inner_block(node.body),
            [],
            [test_function],
        )

    def visit_For(self, node: ast.For) -> _Statements:
        """A `for` loop."""
        flow = self._flow[node]
        inside = activity([*node.body, node.target])
        variables = self._loop_variables(inside.writes, flow)
        element = self.conversion.names.make("iterates")
        take = ast.Assign([node.target], name(element), lineno=0)
        test: ast.expr = ast.Constant(None)
        tests: _Statements = []
        if isinstance(node, ForUntil):
            identifier = self.conversion.names.make("extra_test")
            result = ast.Return(node.extra_test)
            tests = [function(identifier, arguments(variables), [result])]
            test = name(identifier)
        return self._loop(
            node,
            inside,
            variables,
            lambda body: [node.iter, test, body],
            [take, *self._inner_block(node.body)],
            [element],
            tests,
        )

    visit_ForUntil = visit_For

    def _loop_variables(self, written: set[str], flow: Flow) -> list[str]:
        return sorted((written - set(self._outer)) & (flow.live_in | flow.live_out))

    def _loop(
        self,
        node: ast.While | ast.For,
        inside: Activity,
        variables: list[str],
        operands: Callable[[ast.expr], list[ast.expr]],
        body: _Statements,
        parameters: list[str],
        tests: _Statements,
    ) -> _Statements:
        flow = self._flow[node]
        modified = inside.writes - set(self._outer)
        composites = self._composites(inside, modified, flow.defined_in)
        states, state_names = self._state_functions(composites)
        values = tuple_of(map(name, variables))
        identifier = self.conversion.names.make("loop_body")
        body_function = function(
            identifier,
            arguments([*parameters, *variables]),
            [*self._declared(inside), *body, ast.Return(values)],
        )
        value = call(
            "for_stmt" if isinstance(node, ast.For) else "while_stmt",
            *operands(name(identifier)),
            *state_names,
            tuple_of(map(name, variables)),
            texts(variables),
            texts(composites),
        )
        undefined = [_undefined(v) for v in variables if v not in flow.defined_in]
        return all_at(
            node,
            [*undefined, *states, *tests, body_function, assign_all(variables, value)],
        )

    # --- what functions cannot return ---------------------------------------------

    def _composites(
        self, inside: Activity, modified: set[str], defined: frozenset[str]
    ) -> dict[str, ast.expr]:
        """What is reached by an object that was there before, and outer names."""
        found: dict[str, ast.expr] = {
            text: node
            for text, node in inside.composites.items()
            if root_of(node) not in modified
            and names_below(node) <= defined | (names_below(node) - inside.writes)
        }
        for outer in sorted(inside.writes & set(self._outer)):
            found[outer] = name(outer)
        return found

    def _state_functions(
        self, composites: dict[str, ast.expr]
    ) -> tuple[_Statements, list[ast.expr]]:
        if not composites:
            return [], [runtime("get_no_state"), runtime("set_no_state")]
        getter = self.conversion.names.make("get_state")
        setter = self.conversion.names.make("set_state")
        values = self.conversion.names.make("vals")
        read = tuple_of(_with_context(c, ast.Load()) for c in composites.values())
        written = tuple_of(_with_context(c, ast.Store()) for c in composites.values())
        written.ctx = ast.Store()
        declared = self._declarations(set(composites))
        set_all = ast.Assign([written], name(values), lineno=0)
        made: _Statements = [
            function(getter, arguments([]), [ast.Return(read)]),
            function(setter, arguments([values]), [*declared, set_all]),
        ]
        return made, [name(getter), name(setter)]

    def _declared(self, found: Activity) -> _Statements:
        return self._declarations(found.writes)

    def _declarations(self, written: set[str]) -> _Statements:
        """`global` and `nonlocal` statements for what a new function writes."""
        made: _Statements = []
        for identifier in sorted(written & set(self._outer)):
            kind = ast.Global if self._outer[identifier] == "global" else ast.Nonlocal
            made.append(kind([identifier]))
        return made


def results_of(results: list[str], found: Activity) -> set[str]:
    """Those that a branch writes."""
    return set(results) & found.writes


def _undefined(identifier: str) -> ast.stmt:
    return assign(identifier, call("Undefined", ast.Constant(identifier)))


def _with_context(node: ast.expr, context: ast.expr_context) -> ast.expr:
    copied = copy.deepcopy(node)
    copied.ctx = context  # type: ignore[attr-defined]
    return copied
