# program: autograph: converted functions give the values of Python's
# compare: error values
import importlib.util, os, tempfile
SOURCE = '''
import tensorflow.compat.v1 as tf

def absolute(x):
    if x > 0:
        return x
    return -x

def one_branch(x):
    y = 1
    if x > 0:
        y = x
    return y

def three_ways(x):
    if x > 10:
        r = 1
    elif x > 0:
        r = 2
    else:
        r = 3
    return r

def expression(x):
    return x * 2 if x > 0 and not x > 20 else x - 1

def collatz(x):
    steps = 0
    while x > 1:
        if x % 2 > 0:
            x = 3 * x + 1
        else:
            x = x // 2
        steps += 1
    return steps

def with_break(x):
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

def python_loop(x):
    for i in range(4):
        if i == 2:
            continue
        x = x + i
    return x

def over_range(x):
    s = 0
    for i in tf.range(x):
        if i > 5:
            break
        s += i
    return s

def over_rows(x):
    s = 0
    for v in tf.range(x) * 2 + 1:
        s += v * v
    return s

def helper(x):
    if x > 3:
        x = x - 3
    return x

def calls(x):
    return helper(helper(x)) + abs(x) + len(tf.zeros([3, x]))

class Counter(object):
    def __init__(self):
        self.count = 0
    def add(self, x):
        if x > 2:
            self.count = self.count + x
        return self.count

def attributes(x):
    counter = Counter()
    counter.add(x)
    return counter.add(x + 1)

def dataset_loop(x):
    total = tf.constant(0, tf.int64)
    for value in tf.data.Dataset.range(tf.to_int64(x)):
        total += value * value
    until = tf.constant(0, tf.int64)
    for value in tf.data.Dataset.range(tf.to_int64(x)):
        if until > 5:
            break
        until += value
    return total, until

FUNCTIONS = [absolute, one_branch, three_ways, expression, collatz, with_break, python_loop, over_range,
             over_rows, calls, attributes, dataset_loop]
'''
path = os.path.join(tempfile.mkdtemp(), "converted_functions.py")
with open(path, "w") as file:
    file.write(SOURCE.replace("import tensorflow.compat.v1 as tf", ""))
spec = importlib.util.spec_from_file_location("converted_functions", path)
module = importlib.util.module_from_spec(spec)
module.tf = tf
spec.loader.exec_module(module)
result = []
for function in module.FUNCTIONS:
    for converted in (tf.autograph.to_graph(function), tf.function(function)):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.int32, [])
            made = converted(x)
            with tf.Session() as sess:
                result.append([sess.run(made, {x: value}) for value in (1, 3, 4, 12, 27)])
# program: autograph: what cannot be converted, or not built
# compare: error values
import importlib.util, os, tempfile
SOURCE = '''
def undefined_in_loop(x):
    for i in tf.range(3):
        z = x + i
    return z

def undefined_in_branch(x):
    if x > 0:
        y = x
    return y

def no_return_in_branch(x):
    if x > 0:
        return x

def return_in_loop(x):
    while x > 0:
        if x > 1:
            return x
        x = x - 1
    return x

def other_dtype_in_branch(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y

def other_dtype(x):
    y = 1
    while x > 0:
        y = tf.constant(2.0)
        x = x - 1
    return y

def other_structure(x):
    y = (1, 2)
    while x > 0:
        y = (1, (2, 3))
        x = x - 1
    return y

def other_shape(x):
    y = tf.zeros([2])
    for _ in tf.range(x):
        y = tf.zeros([3])
    return y

def missing_key(x):
    found = {}
    return found["key"] + x

class OwnError(Exception):
    def __init__(self, one, two):
        super(OwnError, self).__init__(one, two)

def own_error(x):
    raise OwnError(1, 2)

def python_if_in_generator(x):
    def numbers(n):
        for i in range(n):
            yield i
    return sum(numbers(3)) + x

def undefined_name(x):
    return nothing_of_the_kind(x)

FUNCTIONS = [undefined_in_loop, undefined_in_branch, no_return_in_branch, return_in_loop, other_dtype_in_branch,
             other_dtype, other_structure, other_shape, missing_key, own_error, undefined_name]
'''
path = os.path.join(tempfile.mkdtemp(), "refused_functions.py")
with open(path, "w") as file:
    file.write(SOURCE)
spec = importlib.util.spec_from_file_location("refused_functions", path)
module = importlib.util.module_from_spec(spec)
module.tf = tf
spec.loader.exec_module(module)
result = []
for function in module.FUNCTIONS:
    with tf.Graph().as_default():
        x = tf.constant(3)
        try:
            tf.function(function)(x)
            told = None
        except Exception as caught:
            message = str(caught)
            first = message.strip().split("\n")[0]
            # The last lines are what was raised; between them and the program's line stand TensorFlow's own.
            program = [line.strip() for line in message.split("\n") if "refused_functions.py" in line]
            told = [type(caught).__name__, first, [line.rpartition("refused_functions.py")[2] for line in program][:1]]
    result.append(told)
