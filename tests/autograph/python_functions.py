"""Functions with what Python has, for conversion: they mean the same converted."""
# ruff: noqa
# mypy: ignore-errors

import contextlib
import functools

G = 1


def t_global(x):
    global G
    for i in range(3):
        G = G + x
        if G > 100:
            break
    return G


def t_nonlocal(x):
    y = 0

    def inc(k):
        nonlocal y
        for i in range(k):
            y += i
        return y

    inc(3)
    inc(4)
    return y


def t_try(x):
    r = []
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                raise KeyError(i)
            r.append(i)
        except KeyError as e:
            r.append(("k", e.args))
            if x:
                break
        else:
            r.append("else")
        finally:
            r.append("fin")
    return r


def t_tryret(x):
    try:
        if x:
            return "early"
        v = 1
    except ValueError:
        return "err"
    else:
        v = 2
    finally:
        pass
    return v


def t_with(x):
    with contextlib.suppress(ValueError):
        if x > 1:
            return "big"
        raise ValueError()
    return "small"


def t_del(x):
    y = 3
    if x > 1:
        z = y
        del y
        return z
    else:
        y = 4
    return y


def t_comp(x):
    return (
        [i * x for i in range(4) if i != 2],
        {k: v for k, v in zip("ab", (1, 2))},
        sum(i for i in range(x)),
        {q for q in (1, 1)},
    )


def t_star(*args, a=1, **kw):
    def inner(*b, c=3, **d):
        return b, c, d

    return inner(*args, c=a, **kw), inner(*args, *args), inner(**kw, z=1)


def t_walrus(x):
    if (m := x * 2) > 3 and m < 100:
        return m
    return [y := 1, y**2], m


def t_match(x):
    match x:
        case 1:
            r = "one"
        case [a, b]:
            r = a + b
        case {"k": v, **rest}:
            r = v, rest
        case _:
            r = "other"
    return r


def t_lambda(x):
    fs = [lambda y, i=i: y + i for i in range(3)]
    return [f(x) for f in fs], (lambda q: q if q > 0 else -q)(x)


class Base:
    def m(self, x):
        return x + 1


class Sub(Base):
    def __init__(self):
        self.n = 0
        self.d = {"a": 1}
        self.l = [0, 1, 2]

    def m(self, x):
        for i in range(2):
            self.n += super().m(x)
            self.d["a"] += 1
            self.l[i] = x
        return self.n, self.d, self.l

    @classmethod
    def c(cls, x):
        if x > 0:
            return cls.__name__
        return "neg"

    @staticmethod
    def s(x):
        while x > 0:
            x -= 3
        return x

    @property
    def p(self):
        return self.n


def t_class(x):
    s = Sub()
    return s.m(x), Sub.c(x), s.s(x), s.p


def t_gen(x):
    def g(n):
        for i in range(n):
            yield i

    return list(g(x)), sum(g(x))


def t_undefined(x):
    for i in range(0):
        z = 1
    if x > 100:
        w = 2
    return x


def t_unpack(x):
    a, (b, *c) = 1, (2, 3, 4)
    for k, (p, q) in enumerate([(1, 2), (3, 4)]):
        a += k * p * q
    return a, b, c


def t_elseloop(x):
    for i in range(x):
        if i == 5:
            break
    else:
        return "no break"
    return "break"


def t_whiletrue(x):
    n = 0
    while True:
        n += 1
        if n > x:
            return n


def t_recursive(n):
    if n <= 1:
        return 1
    return n * t_recursive(n - 1)


def t_eval(x):
    y = 3
    return eval("x + y"), sorted(locals())[-2:], "G" in globals()


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        r = f(*a, **k)
        if r:
            return ("deco", r)
        return r

    return w


@deco
def helper(x):
    if x:
        return x
    return 0


def t_deco(x):
    @deco
    def inner(y):
        return y * 2 if y else 0

    return helper(x), inner(x), functools.partial(helper, x)()


def t_assert(x):
    assert x > 0, "neg"
    return x


def t_fstring(x):
    return f"{x!r:>5} {helper(x)} {'a' if x else 'b'}"


def t_closure_loop(x):
    out = []
    for i in range(3):
        t = i * x
        f = lambda: t
        out.append(f())
    g = None
    for i in range(3):

        def g():
            return i + x

    return out, g()


def t_nested_ret(x):
    for i in range(5):
        for j in range(5):
            if i * j == x:
                return i, j
        else:
            continue
    return None


def t_aug(x):
    l = [1, 2, 3]
    l[0] += x
    l[1:] = [9]
    d = dict(a=1)
    d["b"] = d.get("q", x)
    return l, d


def t_posonly(a, /, b=2, *, c):
    if a > b:
        return c
    return a


def t_chain(x):
    return 0 < x < 10, 0 < x <= x < 3, not x, x and 1 or 2, None or x


def t_import(x):
    import os.path as op
    from math import sqrt

    return op.basename("a/b"), sqrt(4) if x else 0


def t_doc(x):
    """Doc."""
    return x
