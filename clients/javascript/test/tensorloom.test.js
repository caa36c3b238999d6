import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph, Scope, Session, Tensor } from '../lib/index.js';
import * as ops from '../lib/ops.js';

test('tensors keep their values', async () => {
  const values = [
    [1.5, 'float32'], [[[1, 2], [3, 4]], 'int32'], [true, 'bool'], ['text', 'string'],
    [['', 'a', 'é'], 'string'], [-3n, 'int64'], [[255], 'uint8'],
  ];
  for (const [value, dtype] of values) {
    const s = new Scope();
    const output = s.constant(value, dtype);
    const [found] = await new Session(s.graph).run([], [output]);
    assert.equal(found.dtype, dtype);
    assert.deepEqual(found.value(), value);
  }
});

test('a tensor has as many elements as its shape', () => {
  assert.throws(() => new Tensor('float32', [2], [1, 2, 3]), RangeError);
});

test('names are unique, in scopes as well', () => {
  const s = new Scope();
  const names = [s, s, s.subScope('layer'), s.subScope('layer')].map((scope) => scope.constant(1).op.name);
  assert.deepEqual(names, ['Const', 'Const_1', 'layer/Const', 'layer_1/Const']);
});

test('errors have codes', () => {
  const s = new Scope();
  const text = s.constant('a');
  assert.throws(() => ops.MatMul(s, text, text), { code: 'INVALID_ARGUMENT' });
  assert.throws(() => ops.NoOp(s, { none: 1 }), TypeError);
  assert.throws(() => s.graph.addOperation({ type: 'NoOp', attrs: { a: ['kind', 1] } }), TypeError);
});

test('lists of outputs', async () => {
  const s = new Scope();
  const parts = ops.Split(s, s.constant(0, 'int32'), s.constant([1, 2, 3, 4]), { num_split: 2 });
  const [sum] = await new Session(s.graph).run([], [ops.AddN(s, parts)]);
  assert.deepEqual(sum.value(), [4, 6]);
});

test('gradients, and steps at the same time', async () => {
  const s = new Scope();
  const x = ops.Placeholder(s, { dtype: 'float32' });
  const [slope] = s.gradients([ops.Square(s, x)], [x]);
  const session = new Session(s.graph);
  const steps = Array.from({ length: 20 }, (_, i) => session.run([[x, i]], [slope]));
  const found = (await Promise.all(steps)).map(([tensor]) => tensor.value());
  assert.deepEqual(found, Array.from({ length: 20 }, (_, i) => 2 * i));
  session.close();
  await assert.rejects(session.run([[x, 1]], [slope]));
});

test('a list of functions', async () => {
  const s = new Scope();
  for (const type of ['Neg', 'Square']) {
    const body = new Scope();
    const x = ops.Placeholder(body, { dtype: 'float32' });
    const y = body.add(type, [x], {}).output(0);
    s.graph.copyFunction(body.graph.toFunction({ name: `f${type}`, inputs: [x], outputs: [y] }));
  }
  const session = new Session(s.graph);
  for (const [index, expected] of [[0, -3], [1, 9]]) {
    const [y] = ops.Case(s, s.constant(index, 'int32'), [s.constant(3)], {
      Tout: ['float32'], branches: ['fNeg', 'fSquare'],
    });
    assert.equal((await session.run([], [y]))[0].value(), expected);
  }
});

test('a loop', async () => {
  const graph = new Graph();
  const part = (type, value) => (inner, [i]) => {
    const s = new Scope(inner);
    return s.add(type, [i, s.constant(value, 'int32')], {}).output(0);
  };
  const start = new Scope(graph).constant(0, 'int32');
  const [end] = graph.while('loop', [start], part('Less', 7), (g, v) => [part('Add', 2)(g, v)]);
  const [found] = await new Session(graph).run([], [end]);
  assert.equal(found.value(), 8);
});
