// The same steps on our server and, when PEER_PYTHON is given, on TensorFlow 1.15's.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { constant, node, shape, text, type } from './graph.js';
import { NetworkSession } from './master.js';

const servers = [['tensorloom', process.env.PYTHON ?? 'python3']];
if (process.env.PEER_PYTHON) servers.push(['tensorflow', process.env.PEER_PYTHON]);

const FLOAT = { dtype: type('float32') };
const scalar = (value) => ({ dtype: 'float32', shape: [], data: [value] });
const plain = ({ data }) => Array.from(data, (v) => (Buffer.isBuffer(v) ? v.toString() : v));

for (const [module, python] of servers) {
  describe(module, () => {
    let server;
    let target;

    before(async () => {
      const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3' };
      if (module === 'tensorflow') delete env.PYTHONPATH;
      const cwd = module === 'tensorflow' ? '/' : undefined;
      const script = fileURLToPath(new URL('./server.py', import.meta.url));
      server = spawn(python, ['-W', 'ignore', script, module], { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
      [target] = await once(createInterface({ input: server.stdout }), 'line');
    });

    after(async () => {
      const ended = once(server, 'exit');
      server.stdin.end();
      await ended;
    });

    test('feeds and fetches', async () => {
      const session = await NetworkSession.create(target, [
        node('Placeholder', 'x', [], FLOAT),
        node('Square', 'y', ['x'], { T: type('float32') }),
      ]);
      const x = { dtype: 'float32', shape: [2, 2], data: [1, 2, 3, 4] };
      const [y] = await session.run({ 'x:0': x }, ['y:0']);
      assert.deepEqual([y.dtype, y.shape, plain(y)], ['float32', [2, 2], [1, 4, 9, 16]]);
      await session.close();
    });

    test('a graph grows', async () => {
      const session = await NetworkSession.create(target, [constant('a', scalar(3))]);
      await session.extend([node('Neg', 'b', ['a'], { T: type('float32') })]);
      await session.extend([node('Neg', 'c', ['b'], { T: type('float32') })]);
      assert.deepEqual((await session.run({}, ['b:0', 'c:0'])).map(plain), [[-3], [3]]);
      await session.close();
    });

    test('variables keep their values between steps', async () => {
      const handle = { ...FLOAT, shape: shape([]), shared_name: text(`network-${module}`) };
      const session = await NetworkSession.create(target, [
        node('VarHandleOp', 'v', [], handle),
        constant('one', scalar(1)),
        node('AssignVariableOp', 'init', ['v', 'one'], FLOAT),
        node('AssignAddVariableOp', 'add', ['v', 'one'], FLOAT),
        node('ReadVariableOp', 'read', ['v'], FLOAT),
      ]);
      await session.run({}, [], ['init']);
      for (let i = 0; i < 3; i++) await session.run({}, [], ['add']);
      assert.deepEqual(plain((await session.run({}, ['read:0']))[0]), [4]);
      await session.close();
    });

    test('strings, whole numbers and truths', async () => {
      const session = await NetworkSession.create(target, [
        constant('s', { dtype: 'string', shape: [2], data: ['a', 'é'] }),
        constant('i', { dtype: 'int64', shape: [2], data: [-1, 2 ** 40] }),
        constant('b', { dtype: 'bool', shape: [2], data: [1, 0] }),
      ]);
      const found = await session.run({}, ['s:0', 'i:0', 'b:0']);
      assert.deepEqual(found.map(plain), [['a', 'é'], [-1n, 2n ** 40n], [1, 0]]);
      await session.close();
    });

    test('errors have codes', async () => {
      const session = await NetworkSession.create(target, [node('Placeholder', 'x', [], FLOAT)]);
      await assert.rejects(session.run({}, ['x:0']), { code: 'INVALID_ARGUMENT' });
      await assert.rejects(session.run({}, ['none:0']), { code: 'NOT_FOUND' });
      await session.close();
    });

    test('devices', async () => {
      const session = await NetworkSession.create(target, [constant('a', scalar(3))]);
      assert.ok((await session.listDevices()).some(({ type: kind }) => kind === 'CPU'));
      await session.close();
    });
  });
}
