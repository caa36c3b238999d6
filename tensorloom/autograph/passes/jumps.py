"""`break`, `continue` and early `return` become flags.

    while test:             break_ = False
        if done:            while not break_ and test:
            break               if done:
        work()                      break_ = True
                                else:
                                    work()

What follows a jump stands in the other branch of its `if`; where there is none, behind
an `if` on the flag. A `return` in a loop leaves it as `break` does.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorloom.autograph.analysis.activity import reads
from tensorloom.autograph.analysis.flow import blocks_of
from tensorloom.autograph.source.loops import ForUntil
from tensorloom.autograph.source.templates import (
    all_at,
    assign,
    at,
    both,
    call,
    name,
    negated,
)

if TYPE_CHECKING:
    from tensorloom.autograph.passes.context import Conversion

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_JUMPS: dict[type[ast.stmt], str] = {
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Return: "return",
}


def lower_jumps(body: list[ast.stmt], conversion: Conversion) -> list[ast.stmt]:
    """The statements of a function without jumps but for a last `return`."""
    lowering = _Lowering(conversion, keeps_returns=_returns_last(body))
    lowered = lowering.block(body, None)
    if lowering.keeps_returns:
        return lowered
    start = assign(lowering.value, call("UndefinedReturnValue"))
    end = ast.Return(call("retval", name(lowering.value)))
    flag = assign(lowering.flag, ast.Constant(False))
    first, last = body[0], body[-1]
    whole = [at(first, start), *lowered, at(last, end)]
    if lowering.flag in reads(lowered):
        return [at(first, flag), *whole]
    return _without(whole, lowering.flag)


@dataclass(frozen=True)
class _Loop:
    stop: str  # set by `break`; "" if nothing breaks
    skip: str  # set by `continue`; "" if nothing continues

    @property
    def guard(self) -> str:
        """The flag that is set when the rest of the body is not to run."""
        return self.skip or self.stop


class _Lowering:
    def __init__(self, conversion: Conversion, keeps_returns: bool) -> None:
        self._names = conversion.names
        self.keeps_returns = keeps_returns
        self.flag, self.value = "", ""
        if not keeps_returns:
            self.flag = self._names.make("do_return")
            self.value = self._names.make("retval_")

    def block(self, body: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """The statements without jumps."""
        lowered: list[ast.stmt] = []
        for index, node in enumerate(body):
            rest = body[index + 1 :]
            kinds = _kinds([node])
            if isinstance(node, tuple(_JUMPS)):
                return lowered + all_at(node, self._jump(node, loop))
            if isinstance(node, (ast.While, ast.For)):
                statements, after = self._loop(node, loop)
                lowered += statements
                rest = [*after, *rest]
                if loop is not None or "return" not in kinds:
                    return lowered + self.block(rest, loop)
            else:
                if rest and isinstance(node, ast.If):
                    rest = _into_branch(node, rest)
                self._inside(node, loop)
                lowered.append(node)
            if kinds or not rest:
                return [*lowered, *([self._guarded(rest, loop)] if rest else [])]
        return lowered

    def _guarded(self, rest: list[ast.stmt], loop: _Loop | None) -> ast.stmt:
        flag = self.flag if loop is None else loop.guard
        guard = ast.If(negated(name(flag)), [], [])
        guard = at(rest[0], guard)
        guard.body = self.block(rest, loop)
        return guard

    def _inside(self, node: ast.stmt, loop: _Loop | None) -> None:
        """Lowers the blocks of a statement that is no loop."""
        if isinstance(node, _NESTED):
            return
        if isinstance(node, (ast.Try, ast.TryStar)) and (
            node.orelse and _kinds(node.body)
        ):
            flag = self.flag if loop is None else loop.guard
            guard = ast.If(negated(name(flag)), node.orelse, [])
            node.orelse = [at(node.orelse[0], guard)]
        for block in blocks_of(node):
            block[:] = self.block(list(block), loop) or [at(node, ast.Pass())]

    def _jump(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        true = ast.Constant(True)
        if isinstance(node, ast.Return):
            if self.keeps_returns:
                return [node]
            value = node.value or ast.Constant(None)
            made = [assign(self.flag, true), assign(self.value, value)]
            return made + (self._break(loop) if loop is not None else [])
        assert loop is not None, "'break' and 'continue' stand in loops"
        if isinstance(node, ast.Break):
            return self._break(loop)
        return [assign(loop.skip, true)]

    def _break(self, loop: _Loop) -> list[ast.stmt]:
        flags = [flag for flag in (loop.stop, loop.skip) if flag]
        return [assign(flag, ast.Constant(True)) for flag in flags]

    # --- loops ---------------------------------------------------------------------

    def _loop(
        self, node: ast.While | ast.For, outer: _Loop | None
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """A loop without jumps, and what is to run after it: its `else` and so on."""
        kinds = _kinds(node.body)
        stops = not kinds.isdisjoint(("break", "return"))
        loop = _Loop(
            stop=self._names.make("break_") if stops else "",
            skip=self._names.make("continue_") if "continue" in kinds else "",
        )
        after = list(node.orelse)
        if after and loop.stop:
            after = [at(node, ast.If(negated(name(loop.stop)), after, []))]
        if "return" in kinds and outer is not None:
            leave = ast.If(name(self.flag), [at(node, ast.Break())], [])
            after.append(at(node, leave))
        return self._without_jumps(node, loop), after

    def _without_jumps(self, node: ast.While | ast.For, loop: _Loop) -> list[ast.stmt]:
        node.orelse = []
        first = node.body[0]
        node.body = self.block(node.body, loop)
        false = ast.Constant(False)
        if loop.skip:
            node.body.insert(0, at(first, assign(loop.skip, false)))
        if not loop.stop:
            return [node]
        goes_on = negated(name(loop.stop))
        if isinstance(node, ast.While):
            node.test = both(goes_on, node.test)
        else:
            until = ForUntil(node.target, node.iter, node.body, [])
            until.extra_test = goes_on
            node = ast.copy_location(until, node)
        return all_at(node, [assign(loop.stop, false), node])


def _into_branch(node: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
    """Moves what follows an `if` into the branch that goes on; gives what is left."""
    if _leaves(node.body):
        node.orelse = [*node.orelse, *rest]
    elif _leaves(node.orelse):
        node.body = [*node.body, *rest]
    else:
        return rest
    return []


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block always ends in a jump."""
    match body[-1] if body else None:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.If(body=then, orelse=orelse):
            return _leaves(then) and _leaves(orelse)
        case ast.With(body=inner):
            return _leaves(inner)
    return False


def _kinds(body: list[ast.stmt]) -> set[str]:
    """The jumps out of a block."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, _NESTED):
            continue
        if kind := _JUMPS.get(type(node)):
            found.add(kind)
        elif isinstance(node, (ast.While, ast.For)):
            found |= _kinds(node.body) & {"return"} | _kinds(node.orelse)
        else:
            found |= {kind for block in blocks_of(node) for kind in _kinds(block)}
    return found


def _returns_last(body: list[ast.stmt]) -> bool:
    """Whether the only `return` is the last statement, possibly in `with` blocks."""
    if not body:
        return True
    *before, last = body
    if _kinds(before):
        return False
    if isinstance(last, ast.With):
        return _returns_last(last.body)
    return isinstance(last, ast.Return) or not _kinds([last])


def _without(body: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """The statements without those that set a flag which nobody reads."""
    kept = []
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == flag:
                continue
        if not isinstance(node, _NESTED):
            for block in blocks_of(node):
                block[:] = _without(block, flag) or [at(node, ast.Pass())]
        kept.append(node)
    return kept
