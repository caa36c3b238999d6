"""Lists, and elements of them, become operators (with `Feature.LISTS`).

l = []              l = ag__.new_list([])
l.append(x)         l = ag__.list_append(l, x)
y = l.pop()         l, l_1 = ag__.list_pop(l, None, opts=...);  y = l_1
y = a[i]            y = ag__.get_item(a, i, opts=...)
a[i] = x            a = ag__.set_item(a, i, x)
"""

from __future__ import annotations

import ast
import copy

from tensorloom.autograph.passes.context import Conversion, OwnCode
from tensorloom.autograph.passes.directives import ElementType
from tensorloom.autograph.source.templates import at, call, name, stored, tuple_of

_UNKNOWN = ElementType(ast.Constant(None), ast.Constant(None))


class Lists(OwnCode):
    """Rewrites statements; `pop` in an expression is done before its statement."""

    def __init__(
        self, conversion: Conversion, element_types: dict[str, ElementType]
    ) -> None:
        super().__init__(conversion)
        self._types = element_types
        self._pops: list[ast.stmt] = []

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, each after the `pop`s in it."""
        visited: list[ast.stmt] = []
        for statement in body:
            outer, self._pops = self._pops, []
            found = self.visit(statement)
            visited += self._pops
            visited.append(found)
            self._pops = outer
        return visited

    def visit_If(self, node: ast.If) -> ast.stmt:
        """A condition, and blocks."""
        node.test = self.visit(node.test)
        return self._blocks(node)

    def visit_While(self, node: ast.While) -> ast.stmt:
        """A condition, and blocks."""
        node.test = self.visit(node.test)
        return self._blocks(node)

    def visit_For(self, node: ast.For) -> ast.stmt:
        """What is gone through, and blocks."""
        node.iter = self.visit(node.iter)
        return self._blocks(node)

    visit_ForUntil = visit_For

    def visit_With(self, node: ast.With) -> ast.stmt:
        """A block."""
        node.body = self.block(node.body)
        return node

    def _blocks(self, node: ast.If | ast.While | ast.For) -> ast.stmt:
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        """A display of a list."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return at(node, call("new_list", node))

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """`l.append(x)` stands alone."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(
                func=ast.Attribute(attr="append", value=target), args=[value]
            ) if _can_be_assigned(target):
                return _set(node, target, call("list_append", target, value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`l.pop()` and `stack(l)`."""
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(attr="pop", value=target), args=args, keywords=[]
            ) if len(args) <= 1 and _can_be_assigned(target):
                return self._pop(node, target, args)
            case ast.Call(
                func=ast.Attribute(attr="stack"),
                args=[target],
                keywords=[] | [ast.keyword(arg="strict")],
            ):
                options = call(
                    "ListStackOpts",
                    element_dtype=self._type(target).dtype,
                    original_call=node.func,
                )
                return at(node, call("list_stack", target, opts=options))
        return node

    def _pop(self, node: ast.Call, target: ast.expr, args: list[ast.expr]) -> ast.expr:
        popped = self.conversion.names.make(
            target.id if isinstance(target, ast.Name) else "list_"
        )
        told = self._type(target)
        options = call(
            "ListPopOpts",
            element_dtype=copy.deepcopy(told.dtype),
            element_shape=copy.deepcopy(told.shape),
        )
        index = args[0] if args else ast.Constant(None)
        targets = tuple_of([_stored(target), stored(popped)])
        targets.ctx = ast.Store()
        value = call("list_pop", target, index, opts=options)
        self._pops.append(at(node, ast.Assign([targets], value, lineno=0)))
        return at(node, name(popped))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """`a[i] = x`."""
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(value=target, slice=key)] if _is_index(
                key
            ) and _can_be_assigned(target):
                return _set(node, target, call("set_item", target, key, node.value))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`a[i]`."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not _is_index(node.slice):
            return node
        dtype = copy.deepcopy(self._type(node.value).dtype)
        options = call("GetItemOpts", element_dtype=dtype)
        return at(node, call("get_item", node.value, node.slice, opts=options))

    def _type(self, target: ast.expr) -> ElementType:
        return self._types.get(ast.unparse(target), _UNKNOWN)


def _is_index(key: ast.expr) -> bool:
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    return not any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)


def _can_be_assigned(target: ast.expr) -> bool:
    return isinstance(target, (ast.Name, ast.Attribute))


def _stored(target: ast.expr) -> ast.expr:
    copied = copy.deepcopy(target)
    copied.ctx = ast.Store()  # type: ignore[attr-defined]
    return copied


def _set(place: ast.stmt, target: ast.expr, value: ast.expr) -> ast.stmt:
    return at(place, ast.Assign([_stored(target)], value, lineno=0))
