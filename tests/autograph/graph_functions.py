"""Functions of numbers that mean the same of tensors, once converted."""
# ruff: noqa
# mypy: ignore-errors

import tensorloom as tf


def absolute(x):
    if x > 0:
        return x
    return -x


def three_ways(x):
    if x > 10:
        r = 1
    elif x > 0:
        r = 2
    else:
        r = 3
    return r


def nested_conditions(x):
    if x > 0:
        if x > 5:
            return x * 2
        return x
    if x < -5:
        return -x
    return x - 1


def one_branch(x):
    y = 1
    if x > 0:
        y = x
    return y


def conditional_expression(x):
    return x * 2 if x > 0 else x - 1


def logic(x):
    a = x > 0 and x < 10
    b = x < -5 or not x < 100
    return 1 if a or b else 0


def collatz(x):
    steps = 0
    while x > 1:
        if x % 2 > 0:
            x = 3 * x + 1
        else:
            x = x // 2
        steps += 1
    return steps


def while_break(x):
    s = 0
    i = 0
    while i < x:
        i += 1
        if i % 3 < 1:
            continue
        if s > 20:
            break
        s += i
    return s, i


def while_else(x):
    r = 0
    while x > 0:
        x -= 3
        if x < -1:
            break
    else:
        r = 100
    return r + x


def nested_loops(x):
    total = 0
    i = 0
    while i < x:
        j = 0
        while True if x is None else j < x:
            j += 1
            if j > i:
                break
            total += j
        i += 1
    return total


def python_loop(x):
    for i in range(4):
        if i == 2:
            continue
        x = x + i
    return x


def zipped(x):
    for i, (a, b) in enumerate(zip([1, 2], [3, 4])):
        if x > i:
            x += a * b
    return x


def over_range(x):
    s = 0
    for i in range(x):
        if i > 5:
            break
        s += i
    return s


def helper(x):
    if x > 3:
        return x - 3
    return x


def calls(x):
    return helper(helper(x)) + (lambda y: y if y > 0 else 0)(x)


class Counter:
    def __init__(self):
        self.count = 0
        self.seen = {"last": 0}

    def add(self, x):
        if x > 2:
            self.count = self.count + x
            self.seen["last"] = x
        while self.count > 50:
            self.count = self.count - 7
        return self.count

    def __call__(self, x):
        return -x if x > 0 else x


def attributes(x):
    counter = Counter()
    counter.add(x)
    counter.add(x + 1)
    return counter.count, counter.seen["last"], counter(x)


def inner_functions(x):
    scale = 2

    def scaled(v, by=scale):
        if v > 4:
            return v
        return v * by

    return scaled(x) + scaled(x, by=3)


def undefined_unless_needed(x):
    if x > 0:
        temporary = x * 2
        x = temporary + 1
    return x
