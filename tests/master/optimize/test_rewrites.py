"""Each pass as a table of graphs before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

import tensorloom as tf  # registers the ops
from tensorloom.cluster import local
from tensorloom.master.optimize import PIPELINE, OptimizeTarget, Pass
from tests.master.graph_text import check, parse, render

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import GraphIR

_ = tf
PASSES: dict[str, Pass] = dict(PIPELINE)


@dataclass(frozen=True)
class Case:
    """A graph, and the same after a pass."""

    run: str
    title: str
    before: str
    after: str
    preserve: frozenset[str] = field(default_factory=frozenset)


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


CASES = [
    Case(
        "constant_folding",
        "a constant expression",
        """
        x = _Arg<float32[]>
        a = Const<2.0>
        b = Neg(a)
        c = Add(x, b)
        r = _Retval(c)
        """,
        """
        x = _Arg<float32[]>
        a = Const<2.0>
        b = Const<-2.0>
        c = Add(x, b)
        r = _Retval(c)
        """,
    ),
    Case(
        "constant_folding",
        "a known shape, and what is computed from it",
        """
        x = _Arg<float32[2,3]>
        s = Shape(x)
        n = Size(x)
        k = Rank(x)
        p = Mul(s, s)
        r = _Retval(p)
        """,
        """
        x = _Arg<float32[2,3]>
        s = Const<[2, 3]>
        n = Const<6>
        k = Const<2>
        p = Const<[4, 9]>
        r = _Retval(p)
        """,
    ),
    Case(
        "constant_folding",
        "a shape waits for what has it",
        """
        x = _Arg<float32[2]>
        y = Neg(x)
        s = Shape(y)
        r = _Retval(s)
        """,
        """
        x = _Arg<float32[2]>
        y = Neg(x)
        s = Const<[2]>(^y)
        r = _Retval(s)
        """,
    ),
    Case(
        "constant_folding",
        "an unknown shape stays",
        """
        x = _Arg<float32[?,3]>
        s = Shape(x)
        k = Rank(x)
        r = _Retval(s)
        """,
        """
        x = _Arg<float32[?,3]>
        s = Shape(x)
        k = Const<2>
        r = _Retval(s)
        """,
    ),
    Case(
        "constant_folding",
        "axes of a broadcast gradient, batch unknown",
        """
        x = _Arg<float32[?,3]>
        b = _Arg<float32[3]>
        sx = Shape(x)
        sb = Shape(b)
        g = BroadcastGradientArgs(sx, sb)
        y = Sum(x, g:1)
        r = _Retval(y)
        """,
        """
        x = _Arg<float32[?,3]>
        b = _Arg<float32[3]>
        sx = Shape(x)
        sb = Const<[3]>
        g/folded_0 = Const<[]>(^sx)
        g/folded_1 = Const<[0]>(^sx)
        y = Sum(x, g/folded_1)
        r = _Retval(y)
        """,
    ),
    Case(
        "constant_folding",
        "axes of a product of one batch, and of two",
        """
        x = _Arg<float32[?,3]>
        z = _Arg<float32[?,3]>
        y = Tanh(x)
        sx = Shape(x)
        sy = Shape(y)
        sz = Shape(z)
        g = BroadcastGradientArgs(sx, sy)
        h = BroadcastGradientArgs(sx, sz)
        q = _Retval(g:1)
        r = _Retval(h:1)
        """,
        """
        x = _Arg<float32[?,3]>
        z = _Arg<float32[?,3]>
        y = Tanh(x)
        sx = Shape(x)
        sy = Shape(y)
        sz = Shape(z)
        g/folded_0 = Const<[]>(^sx, ^sy)
        g/folded_1 = Const<[]>(^sx, ^sy)
        h = BroadcastGradientArgs(sx, sz)
        q = _Retval(g/folded_1)
        r = _Retval(h:1)
        """,
    ),
    Case(
        "constant_folding",
        "an expansion stays",
        """
        d = Const<[1000, 1000]>
        z = Const<0.0>
        f = Fill(d, z)
        r = _Retval(f)
        """,
        """
        d = Const<[1000, 1000]>
        z = Const<0.0>
        f = Fill(d, z)
        r = _Retval(f)
        """,
    ),
    Case(
        "constant_folding",
        "an error stays, for the step to tell",
        """
        a = Const<1>
        z = Const<0>
        q = FloorDiv(a, z)
        r = _Retval(q)
        """,
        """
        a = Const<1>
        z = Const<0>
        q = FloorDiv(a, z)
        r = _Retval(q)
        """,
    ),
    Case(
        "constant_folding",
        "random numbers are no constants",
        """
        s = Const<[2]>
        u = RandomUniform(s) {dtype='float32'}
        r = _Retval(u)
        """,
        """
        s = Const<[2]>
        u = RandomUniform(s)
        r = _Retval(u)
        """,
    ),
    Case(
        "arithmetic",
        "neutral elements",
        """
        x = _Arg<float32[2]>
        one = Const<1.0>
        zero = Const<0.0>
        a = Mul(x, one)
        b = Mul(one, a)
        c = AddV2(b, zero)
        d = Sub(c, zero)
        e = RealDiv(d, one)
        f = Exp(e)
        r = _Retval(f)
        """,
        """
        x = _Arg<float32[2]>
        one = Const<1.0>
        zero = Const<0.0>
        f = Exp(x)
        r = _Retval(f)
        """,
    ),
    Case(
        "arithmetic",
        "a neutral element that broadcasts is not neutral",
        """
        x = _Arg<float32[]>
        ones = Const<[1.0, 1.0]>
        a = Mul(x, ones)
        r = _Retval(a)
        """,
        """
        x = _Arg<float32[]>
        ones = Const<[1.0, 1.0]>
        a = Mul(x, ones)
        r = _Retval(a)
        """,
    ),
    Case(
        "arithmetic",
        "inverse pairs",
        """
        x = _Arg<float32[2,3]>
        p = Const<[1, 0]>
        a = Neg(x)
        b = Neg(a)
        c = Transpose(b, p)
        d = Transpose(c, p)
        r = _Retval(d)
        """,
        """
        x = _Arg<float32[2,3]>
        p = Const<[1, 0]>
        a = Neg(x)
        c = Transpose(x, p)
        r = _Retval(x)
        """,
    ),
    Case(
        "arithmetic",
        "reshapes",
        """
        x = _Arg<float32[2,3]>
        s = Const<[6]>
        t = Const<[3, 2]>
        u = Const<[2, 3]>
        a = Reshape(x, s)
        b = Reshape(a, t)
        c = Reshape(x, u)
        d = Reshape(b, u)
        q = _Retval(b)
        r = _Retval(c)
        v = _Retval(d)
        """,
        """
        x = _Arg<float32[2,3]>
        s = Const<[6]>
        t = Const<[3, 2]>
        u = Const<[2, 3]>
        a = Reshape(x, s)
        b = Reshape(x, t)
        q = _Retval(b)
        r = _Retval(x)
        v = _Retval(x)
        """,
    ),
    Case(
        "arithmetic",
        "a reshape to the shape of something of the same batch",
        """
        x = _Arg<float32[?,4]>
        z = _Arg<float32[?,3]>
        w = _Arg<float32[4,3]>
        y = MatMul(x, w)
        a = Relu(y)
        s = Shape(a)
        b = Reshape(y, s)
        c = Reshape(z, s)
        q = _Retval(b)
        r = _Retval(c)
        """,
        """
        x = _Arg<float32[?,4]>
        z = _Arg<float32[?,3]>
        w = _Arg<float32[4,3]>
        y = MatMul(x, w)
        a = Relu(y)
        s = Shape(a)
        c = Reshape(z, s)
        q = _Retval(y)
        r = _Retval(c)
        """,
    ),
    Case(
        "arithmetic",
        "reductions over nothing, identities, casts to the same dtype",
        """
        x = _Arg<float32[2]>
        none = Const<[]>
        axes = Cast(none) {DstT='int32'}
        a = Identity(x)
        b = StopGradient(a)
        c = Cast(b) {DstT='float32'}
        d = AddN(c)
        r = _Retval(d)
        """,
        """
        x = _Arg<float32[2]>
        none = Const<[]>
        axes = Cast(none)
        r = _Retval(x)
        """,
    ),
    Case(
        "arithmetic",
        "fetched and copied values stay; so does what waits",
        """
        x = _Arg<float32[2]>
        y = Identity(x)
        c = Identity(x) @/device:CPU:1
        n = NoOp
        w = Identity(x, ^n)
        q = _Retval(y)
        r = _Retval(c)
        s = _Retval(w)
        """,
        """
        x = _Arg<float32[2]>
        y = Identity(x)
        c = Identity(x) @/device:CPU:1
        n = NoOp
        w = Identity(x, ^n)
        q = _Retval(y)
        r = _Retval(c)
        s = _Retval(w)
        """,
        frozenset(["y"]),
    ),
    Case(
        "arithmetic",
        "who waits for a removed node waits for what it took",
        """
        x = _Arg<float32[2]>
        y = Exp(x)
        z = Identity(y)
        n = NoOp(^z)
        r = _Retval(z)
        """,
        """
        x = _Arg<float32[2]>
        y = Exp(x)
        n = NoOp(^y)
        r = _Retval(y)
        """,
    ),
    Case(
        "common_subexpression",
        "equal nodes, swapped where that is the same",
        """
        x = _Arg<float32[2]>
        c1 = Const<2.0>
        c2 = Const<2.0>
        a = Mul(x, c1)
        b = Mul(c2, x)
        c = Sub(x, c1)
        d = Sub(c1, x)
        e = Add(a, b)
        r = _Retval(e)
        """,
        """
        x = _Arg<float32[2]>
        c1 = Const<2.0>
        a = Mul(x, c1)
        c = Sub(x, c1)
        d = Sub(c1, x)
        e = Add(a, a)
        r = _Retval(e)
        """,
    ),
    Case(
        "common_subexpression",
        "what differs in attrs, device or waits stays; so does what has state",
        """
        x = _Arg<float32[2,2]>
        s = Const<[2]>
        n = NoOp
        a = MatMul(x, x)
        b = MatMul(x, x) {transpose_a=True}
        c = MatMul(x, x) @/device:CPU:1
        d = MatMul(x, x, ^n)
        u = RandomUniform(s) {dtype='float32'}
        v = RandomUniform(s) {dtype='float32'}
        """,
        """
        x = _Arg<float32[2,2]>
        s = Const<[2]>
        n = NoOp
        a = MatMul(x, x)
        b = MatMul(x, x)
        c = MatMul(x, x) @/device:CPU:1
        d = MatMul(x, x, ^n)
        u = RandomUniform(s)
        v = RandomUniform(s)
        """,
    ),
    Case(
        "common_subexpression",
        "a fetched duplicate stays",
        """
        x = _Arg<float32[]>
        a = Exp(x)
        b = Exp(x)
        q = _Retval(a)
        r = _Retval(b)
        """,
        """
        x = _Arg<float32[]>
        a = Exp(x)
        b = Exp(x)
        q = _Retval(a)
        r = _Retval(b)
        """,
        frozenset(["a", "b"]),
    ),
    Case(
        "common_subexpression",
        "constants by their bits",
        """
        a = Const<0.0>
        b = Const<-0.0>
        c = Const<0>
        d = Const<0>
        e = Add(a, b)
        f = Add(c, d)
        """,
        """
        a = Const<0.0>
        b = Const<-0.0>
        c = Const<0>
        e = Add(a, b)
        f = Add(c, c)
        """,
    ),
    Case(
        "dependency",
        "a pure node that is only waited for",
        """
        x = _Arg<float32[2]>
        s = Const<[2]>
        u = RandomUniform(s) {dtype='float32'}
        a = Add(x, u)
        b = Exp(a)
        g = NoOp(^b)
        c = Neg(x, ^g)
        r = _Retval(c)
        """,
        """
        x = _Arg<float32[2]>
        s = Const<[2]>
        u = RandomUniform(s)
        a = NoOp(^u)
        b = NoOp(^u)
        g = NoOp(^u)
        c = Neg(x, ^u)
        r = _Retval(c)
        """,
    ),
    Case(
        "dependency",
        "a wait for an input, or for what is always there",
        """
        x = _Arg<float32[2]>
        k = Const<1.0>
        a = Exp(x, ^k)
        b = Neg(a, ^a, ^k, ^x)
        r = _Retval(b)
        """,
        """
        x = _Arg<float32[2]>
        k = NoOp
        a = Exp(x)
        b = Neg(a)
        r = _Retval(b)
        """,
    ),
    Case(
        "dependency",
        "an identity that waits",
        """
        x = _Arg<float32[2]>
        s = Const<[2]>
        u = RandomUniform(s) {dtype='float32'}
        y = Identity(x, ^u)
        z = Exp(y)
        n = NoOp(^y)
        v = StopGradient(y, ^z)
        w = Neg(v, ^n)
        r = _Retval(w)
        """,
        """
        x = _Arg<float32[2]>
        s = Const<[2]>
        u = RandomUniform(s)
        z = NoOp(^u)
        n = NoOp(^u)
        w = Neg(x, ^u)
        r = _Retval(w)
        """,
    ),
    Case(
        "dead_nodes",
        "what nobody needs",
        """
        x = _Arg<float32[2]>
        a = Exp(x)
        b = Neg(a)
        c = Neg(a)
        t = NoOp(^c)
        r = _Retval(b)
        """,
        """
        x = _Arg<float32[2]>
        a = Exp(x)
        b = Neg(a)
        r = _Retval(b)
        """,
    ),
    Case(
        "dead_nodes",
        "a target is needed",
        """
        x = _Arg<float32[2]>
        c = Neg(x)
        t = NoOp(^c)
        """,
        """
        x = _Arg<float32[2]>
        c = Neg(x)
        t = NoOp(^c)
        """,
        frozenset(["t"]),
    ),
    Case(
        "fuse_matmul_bias",
        "product, bias, activation",
        """
        x = _Arg<float32[?,4]>
        w = _Arg<float32[4,3]>
        b = _Arg<float32[3]>
        m = MatMul(x, w)
        a = BiasAdd(m, b)
        y = Relu(a)
        r = _Retval(y)
        """,
        """
        x = _Arg<float32[?,4]>
        w = _Arg<float32[4,3]>
        b = _Arg<float32[3]>
        y = _FusedMatMul(x, w, b)
        r = _Retval(y)
        """,
    ),
    Case(
        "fuse_matmul_bias",
        "the sum with a vector; the sum itself is read elsewhere",
        """
        x = _Arg<float32[?,4]>
        w = _Arg<float32[4,3]>
        b = _Arg<float32[3]>
        m = MatMul(x, w)
        a = AddV2(m, b)
        y = Relu(a)
        z = Exp(a)
        """,
        """
        x = _Arg<float32[?,4]>
        w = _Arg<float32[4,3]>
        b = _Arg<float32[3]>
        a = _FusedMatMul(x, w, b)
        y = Relu(a)
        z = Exp(a)
        """,
    ),
    Case(
        "fuse_matmul_bias",
        "a product that is read, waited for or fetched stays",
        """
        x = _Arg<float32[4,4]>
        b = _Arg<float32[4]>
        m = MatMul(x, x)
        n = MatMul(x, m)
        o = MatMul(x, n)
        a = BiasAdd(m, b)
        c = BiasAdd(n, b)
        d = BiasAdd(o, b)
        e = Neg(m)
        t = NoOp(^n)
        """,
        """
        x = _Arg<float32[4,4]>
        b = _Arg<float32[4]>
        m = MatMul(x, x)
        n = MatMul(x, m)
        o = MatMul(x, n)
        a = BiasAdd(m, b)
        c = BiasAdd(n, b)
        d = BiasAdd(o, b)
        e = Neg(m)
        t = NoOp(^n)
        """,
        frozenset(["o"]),
    ),
    Case(
        "fuse_matmul_bias",
        "a convolution",
        """
        x = _Arg<float32[?,8,8,1]>
        w = _Arg<float32[3,3,1,2]>
        b = _Arg<float32[2]>
        m = Conv2D(x, w) {strides=[1, 1, 1, 1]; padding=b'SAME'}
        a = BiasAdd(m, b)
        y = Relu(a)
        r = _Retval(y)
        """,
        """
        x = _Arg<float32[?,8,8,1]>
        w = _Arg<float32[3,3,1,2]>
        b = _Arg<float32[2]>
        y = _FusedConv2D(x, w, b)
        r = _Retval(y)
        """,
    ),
    Case(
        "fuse_split_lookup",
        "words that are only looked up; their places are read elsewhere",
        """
        x = _Arg<string[?]>
        d = Const<b' '>
        n = Const<-1>
        t = HashTableV2 {key_dtype='string'; value_dtype='int32'}
        s = StringSplit(x, d)
        i = Identity(s)
        c = NoOp(^s)
        f = LookupTableFindV2(t, s:1, n)
        r = _Retval(f)
        q = _Retval(i)
        """,
        """
        x = _Arg<string[?]>
        d = Const<b' '>
        n = Const<-1>
        t = HashTableV2
        f = _SplitAndFind(t, x, d, n)
        i = Identity(f:1)
        c = NoOp(^f)
        r = _Retval(f)
        q = _Retval(i)
        """,
        frozenset(["c"]),
    ),
    Case(
        "fuse_split_lookup",
        "words that are read elsewhere too, or a table that comes later",
        """
        x = _Arg<string[?]>
        d = Const<b' '>
        n = Const<-1>
        t = HashTableV2 {key_dtype='string'; value_dtype='int32'}
        s = StringSplit(x, d)
        i = Identity(s:1)
        f = LookupTableFindV2(t, s:1, n)
        z = StringSplit(x, d)
        u = HashTableV2 {key_dtype='string'; value_dtype='int32'}
        g = LookupTableFindV2(u, z:1, n)
        """,
        """
        x = _Arg<string[?]>
        d = Const<b' '>
        n = Const<-1>
        t = HashTableV2
        s = StringSplit(x, d)
        i = Identity(s:1)
        f = LookupTableFindV2(t, s:1, n)
        z = StringSplit(x, d)
        u = HashTableV2
        g = LookupTableFindV2(u, z:1, n)
        """,
    ),
    Case(
        "fuse_optimizer_updates",
        "two variables; who waits for one waits for all",
        """
        lr = Const<0.5>
        g1 = _Arg<float32[2]>
        g2 = _Arg<float32[3]>
        v1 = VariableV2 {dtype='float32'}
        v2 = VariableV2 {dtype='float32'}
        u1 = ApplyGradientDescent(v1, lr, g1)
        t1 = NoOp(^u1)
        h2 = Neg(g2)
        u2 = ApplyGradientDescent(v2, lr, h2)
        t = NoOp(^u1, ^u2)
        """,
        """
        lr = Const<0.5>
        g1 = _Arg<float32[2]>
        g2 = _Arg<float32[3]>
        v1 = VariableV2
        v2 = VariableV2
        h2 = Neg(g2)
        u2 = _FusedApplyGradientDescent(v1, v2, lr, g1, h2)
        t1 = NoOp(^u2)
        t = NoOp(^u2)
        """,
        frozenset(["t"]),
    ),
    Case(
        "fuse_optimizer_updates",
        "updates in a row, or with other rates, stay",
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2 {dtype='float32'}
        v2 = VariableV2 {dtype='float32'}
        v3 = VariableV2 {dtype='float32'}
        u1 = ApplyGradientDescent(v1, lr, g)
        n = NoOp(^u1)
        u2 = ApplyGradientDescent(v2, lr, g, ^n)
        u3 = ApplyGradientDescent(v3, lr2, g)
        """,
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2
        v2 = VariableV2
        v3 = VariableV2
        u1 = ApplyGradientDescent(v1, lr, g)
        n = NoOp(^u1)
        u2 = ApplyGradientDescent(v2, lr, g, ^n)
        u3 = ApplyGradientDescent(v3, lr2, g)
        """,
    ),
    Case(
        "fuse_optimizer_updates",
        "a second group waits for the first",
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2 {dtype='float32'}
        v2 = VariableV2 {dtype='float32'}
        v3 = VariableV2 {dtype='float32'}
        v4 = VariableV2 {dtype='float32'}
        u1 = ApplyGradientDescent(v1, lr, g)
        u2 = ApplyGradientDescent(v2, lr, g)
        t1 = NoOp(^u1, ^u2)
        u3 = ApplyGradientDescent(v3, lr2, g, ^u1)
        u4 = ApplyGradientDescent(v4, lr2, g, ^t1)
        t = NoOp(^u3, ^u4)
        """,
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2
        v2 = VariableV2
        v3 = VariableV2
        v4 = VariableV2
        u2 = _FusedApplyGradientDescent(v1, v2, lr, g, g)
        t1 = NoOp(^u2)
        u4 = _FusedApplyGradientDescent(v3, v4, lr2, g, g, ^u2, ^t1)
        t = NoOp(^u4)
        """,
        frozenset(["t"]),
    ),
    Case(
        "fuse_optimizer_updates",
        "a group that would make a circle with another stays",
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2 {dtype='float32'}
        v2 = VariableV2 {dtype='float32'}
        v3 = VariableV2 {dtype='float32'}
        v4 = VariableV2 {dtype='float32'}
        u1 = ApplyGradientDescent(v1, lr, g)
        u3 = ApplyGradientDescent(v3, lr2, g)
        u2 = ApplyGradientDescent(v2, lr, g, ^u3)
        u4 = ApplyGradientDescent(v4, lr2, g, ^u1)
        t = NoOp(^u2, ^u4)
        """,
        """
        lr = Const<0.5>
        lr2 = Const<0.25>
        g = _Arg<float32[2]>
        v1 = VariableV2
        v2 = VariableV2
        v3 = VariableV2
        v4 = VariableV2
        u3 = ApplyGradientDescent(v3, lr2, g)
        u2 = _FusedApplyGradientDescent(v1, v2, lr, g, g, ^u3)
        u4 = ApplyGradientDescent(v4, lr2, g, ^u2)
        t = NoOp(^u2, ^u4)
        """,
        frozenset(["t"]),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.run}: {c.title}")
def test_before_and_after(case: Case) -> None:
    graph = parse(case.before)
    text = render(graph)
    target = OptimizeTarget(case.preserve, evaluate=local.evaluate)
    result = PASSES[case.run](graph, target)
    assert render(result) == lines(case.after)
    assert render(graph) == text, "the argument has changed"
    check(result)


def test_passes_do_nothing_twice() -> None:
    for case in CASES:
        target = OptimizeTarget(case.preserve, evaluate=local.evaluate)
        once: GraphIR = PASSES[case.run](parse(case.before), target)
        assert render(PASSES[case.run](once, target)) == render(once), case.title
